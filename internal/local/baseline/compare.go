package baseline

import (
	"context"
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
)

// Compare adds the requested comparisons to a job's result. If list defines a comparison for the
// job's method, Compare runs that one instead. If ctx ends, a running training soon stops with an
// error that wraps ctx's error.
func Compare(ctx context.Context, list []local.LocalSupport, j *job.Job, shares []partition.Share, o *method.Outcome, r *method.Result) error {
	j, shares = withoutWithdrawn(j, shares)
	compare := local.Of(list, j).Compare
	if (j.Data.Partition.By == job.Columns || compare == nil) && len(j.Compare) == 0 {
		return nil
	}
	own, err := ownRows(j, shares, o, r)
	if err != nil {
		return err
	}
	if compare != nil {
		c := local.Comparison{Job: j, Splits: own, Outcome: o, Result: r}
		if j.Data.Partition.By != job.Columns {
			c.Pooled = func() ([]method.Split, error) { return partition.PooledSplits(j, shares) }
		}
		return compare(ctx, c)
	}
	if j.Compares(job.Pooled) {
		prepared, err := comparePooled(ctx, j, own, o, r)
		if err != nil {
			return err
		}
		if err := withholdNothing(ctx, j, shares, prepared, r); err != nil {
			return err
		}
	}
	if j.Compares(job.Alone) {
		return compareAlone(ctx, j, own, r)
	}
	return nil
}

// withdrawer is implemented by the settings of a protocol whose parties can withdraw before the
// training.
type withdrawer interface{ Leaving() []string }

// withoutWithdrawn returns the job and the shares without the parties that withdraw.
func withoutWithdrawn(j *job.Job, shares []partition.Share) (*job.Job, []partition.Share) {
	l, some := j.Protocol.Values.(withdrawer)
	if !some || len(l.Leaving()) == 0 {
		return j, shares
	}
	left := *j
	left.Data.Sources, left.Data.Partition.Parties = nil, nil
	var stay []partition.Share
	for _, s := range shares {
		if !slices.Contains(l.Leaving(), s.Party) {
			stay = append(stay, s)
			left.Data.Partition.Parties = append(left.Data.Partition.Parties, s.Party)
		}
	}
	return &left, stay
}

// ownRows returns the training and held-out rows of each party. If the parties hold columns, these
// are the aligned rows, in the job's order.
func ownRows(j *job.Job, shares []partition.Share, o *method.Outcome, r *method.Result) ([]method.Split, error) {
	if j.Data.Partition.By == job.Columns {
		return partition.InOrder(j, shares, o.Rows, r.Training)
	}
	return partition.Splits(j, shares)
}

// comparePooled trains on the rows of all parties in one place, to show the cost of privacy. With a
// parameter grid it also cross-validates every cell, but it trains with the cell that the job
// chose. It returns the rows as the parties prepared them.
func comparePooled(ctx context.Context, j *job.Job, splits []method.Split, o *method.Outcome, r *method.Result) (*pool.Rows, error) {
	if j.Data.Partition.By == job.Columns {
		all, err := pool.Beside(splits)
		if err != nil {
			return nil, err
		}
		splits = []method.Split{all}
	}
	p, err := pool.Prepare(j, splits, splits)
	if err != nil {
		return nil, err
	}
	task, err := p.Input(j)
	if err != nil {
		return nil, err
	}
	choice, err := learner.ChooseCell(ctx, j, task, pool.ChosenCell(r))
	if err != nil {
		return nil, err
	}
	for i, c := range choice.Grid {
		r.Grid[i].PooledMean, r.Grid[i].PooledCorrect = &c.Mean, &c.Correct
	}
	pooled, err := choice.Fit(ctx, task, nil)
	if err != nil {
		return nil, err
	}
	if r.Pooled, err = pooled.Measure(); err != nil {
		return nil, err
	}
	if !slices.Equal(pooled.Head.Classes, o.Classes) {
		return nil, errors.New("baseline: the classes of the pooled classifier differ from the job's")
	}
	difference, err := learner.Difference(pooled.Decisions, o.Decisions)
	if err != nil {
		return nil, err
	}
	r.Difference = &difference
	if pooled.Eigenvalues != nil {
		likeness := learner.LikenessOf(o.Decisions, pooled.Decisions)
		r.Components = &likeness
	}
	if pooled.Discrete() {
		exact := slices.Equal(pooled.Predicted, o.Predicted)
		r.Exact = &exact
	}
	return p, nil
}

// withholdNothing replaces the pooled metrics by those that an owner of all rows would get. The
// owner prepares the tables without the parties' limits: no word is too rare, and medians are
// exact. Difference and Exact still compare decisions about equally prepared rows.
func withholdNothing(ctx context.Context, j *job.Job, shares []partition.Share, prepared *pool.Rows, r *method.Result) error {
	if j.Data.Partition.By == job.Columns {
		return nil // parties that hold columns already prepare them exactly
	}
	splits, err := partition.PooledSplits(j, shares)
	if err != nil {
		return err
	}
	p, err := pool.PrepareExactly(j, splits, splits)
	if err != nil {
		return err
	}
	if p.Same(prepared) {
		return nil
	}
	cell := j.At(pool.ChosenCell(r))
	task, err := p.Input(cell)
	if err != nil {
		return err
	}
	choice, err := learner.ChooseCell(ctx, cell, task, 0)
	if err != nil {
		return err
	}
	pooled, err := choice.Fit(ctx, task, nil)
	if err != nil {
		return err
	}
	r.Pooled, err = pooled.Measure()
	return err
}

// compareAlone trains each party on its own rows and predicts the held-out rows of all parties, to
// show the gain of joining. It uses the grid cell that the job chose. A party that holds columns
// predicts with its own columns only.
func compareAlone(ctx context.Context, j *job.Job, splits []method.Split, r *method.Result) error {
	cell := j.At(pool.ChosenCell(r))
	cell.Data.Folds = 0
	r.Alone = nil
	for i, name := range j.Parties() {
		if name == j.Data.Test.Party {
			continue // this party has only test rows
		}
		party, among := i, splits
		if j.Data.Partition.By == job.Columns {
			party, among = 0, splits[i:i+1]
		}
		one := method.Alone{Party: name, Rows: pool.Count(splits[i:i+1], false)}
		var err error
		if one.Metrics, err = trainAloneInTurn(ctx, j, cell, party, among); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			one.Failure = err.Error() // for example, the party has too few rows for the job's parameters
		}
		r.Alone = append(r.Alone, one)
	}
	return nil
}

// trainAloneInTurn trains on the rows of one party only, and returns the metrics. If the job
// cross-validates and holds out no rows, it returns their means over the folds.
func trainAloneInTurn(ctx context.Context, j, cell *job.Job, party int, splits []method.Split) (learner.Metrics, error) {
	if splits[party].Set.Labels == nil && j.Data.Label != job.NoLabel {
		return nil, pool.ErrNoLabels
	}
	if j.Data.LeavesOneOut() && pool.Count(splits, true) == 0 {
		return trainAloneEach(ctx, cell, party, splits)
	}
	divided, err := heldOutInTurn(j, splits)
	if err != nil {
		return nil, err
	}
	var all []learner.Metrics
	for _, splits := range divided {
		m, err := trainAlone(ctx, cell, splits[party], splits)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return learner.Mean(all), nil
}

// trainAloneEach trains on one party's rows, and measures on the rows of all parties. Each of the
// party's own rows is decided by the learner fitted without it.
func trainAloneEach(ctx context.Context, j *job.Job, party int, splits []method.Split) (learner.Metrics, error) {
	own := splits[party]
	rows := slices.Clone(splits)
	for i, s := range rows {
		rows[i].Test = slices.Repeat([]bool{i != party}, len(s.Test))
	}
	if classes, _ := dataset.Classes(own.Set.Labels); j.Task().Classes && len(classes) == 1 {
		f, err := learner.Constant(j, classes[0], slices.Concat(pool.Labels(rows, false), pool.Labels(rows, true)))
		if err != nil {
			return nil, err
		}
		return f.Measure()
	}
	p, err := pool.Prepare(j, rows[party:party+1], rows)
	if err != nil {
		return nil, err
	}
	alone := onlyWeightsOf(j, own)
	task, err := p.Input(alone)
	if err != nil {
		return nil, err
	}
	choice, err := learner.Choose(ctx, alone, task, nil) // gamma as a number
	if err != nil {
		return nil, err
	}
	f, err := learner.FitEach(ctx, choice.Job, task)
	if err != nil {
		return nil, err
	}
	return f.Measure()
}

// heldOutInTurn returns one list of splits for each fold of the job. In each list, the rows of that
// fold are held out. A job without folds, or with held-out rows, has a single list.
func heldOutInTurn(j *job.Job, splits []method.Split) ([][]method.Split, error) {
	if j.Data.Folds == 0 || pool.Count(splits, true) > 0 {
		return [][]method.Split{splits}, nil
	}
	labels := pool.Labels(splits, false)
	folds, err := learner.FoldsOf(j).Divide(labels, pool.Groups(j, splits, false))
	if err != nil {
		return nil, fault.BadInput(err)
	}
	divided := make([][]method.Split, len(folds))
	for f, rows := range folds {
		held := make([]bool, len(labels))
		for _, r := range rows {
			held[r] = true
		}
		for _, s := range splits {
			n := len(s.Test)
			divided[f] = append(divided[f], method.Split{Set: s.Set, Test: held[:n]})
			held = held[n:]
		}
	}
	return divided, nil
}

// trainAlone trains on one party's training rows and returns the metrics on the held-out rows of
// all parties.
func trainAlone(ctx context.Context, j *job.Job, own method.Split, splits []method.Split) (learner.Metrics, error) {
	if pool.Count([]method.Split{own}, false) == 0 { // the fold leaves the party no training rows
		return learner.Metrics{}, nil
	}
	classes, _ := dataset.Classes(pool.Labels([]method.Split{own}, false))
	if j.Task().Classes && len(classes) == 1 {
		f, err := learner.Constant(j, classes[0], pool.Labels(splits, true))
		if err != nil {
			return nil, err
		}
		return f.Measure()
	}
	f, err := pool.Fit(ctx, onlyWeightsOf(j, own), []method.Split{own}, splits)
	if err != nil {
		return nil, err
	}
	return f.Measure()
}

// onlyWeightsOf returns the job without weights for classes that the split does not contain.
func onlyWeightsOf(j *job.Job, s method.Split) *job.Job {
	alone := *j
	alone.Learner = learner.Only(j.Learner, pool.Labels([]method.Split{s}, false))
	return &alone
}
