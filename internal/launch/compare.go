package launch

import (
	"context"
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/local"
	"github.com/mercer-fl/mercer/internal/local/baseline"
	"github.com/mercer-fl/mercer/internal/method"
)

// Compare adds the comparisons that a job asks for to its result: those of its method, if
// the list has any. A training that is under way when ctx ends soon does, too, with an
// error that wraps that of ctx.
func Compare(ctx context.Context, list []local.Own, j *job.Job, shares []Share, o *method.Outcome, r *method.Result) error {
	own, compared := local.Of(list, j).(local.Compared)
	if j.Data.Partition.By == job.Columns {
		return compareColumns(ctx, own, j, shares, o, r)
	}
	splits, err := splits(j, shares)
	if err != nil {
		return err
	}
	if compared {
		return own.Compare(ctx, local.Comparison{Job: j, Splits: splits, Outcome: o, Result: r})
	}
	if j.Compares(job.Pooled) {
		if err := comparePooled(ctx, j, splits, o, r); err != nil {
			return err
		}
	}
	if j.Compares(job.Alone) {
		return compareAlone(ctx, j, shares, splits, r)
	}
	return nil
}

// comparePooled does the job on all rows in one place: what privacy cost. With
// a grid, all of it is cross-validated again, and the cell that the job chose is
// compared.
func comparePooled(ctx context.Context, j *job.Job, splits []method.Split, o *method.Outcome, r *method.Result) error {
	p, err := baseline.Prepare(j, splits, splits)
	if err != nil {
		return err
	}
	task := p.Problem()
	choice, err := learner.ChooseCell(ctx, j, task, best(r))
	if err != nil {
		return err
	}
	for i, c := range choice.Grid {
		r.Grid[i].PooledMean, r.Grid[i].PooledCorrect = &c.Mean, &c.Correct
	}
	pooled, err := choice.Fit(ctx, task, nil)
	if err != nil {
		return err
	}
	if r.Pooled, err = pooled.Measure(); err != nil {
		return err
	}
	if !slices.Equal(pooled.Head.Classes, o.Classes) {
		return errors.New("launch: the pooled classifier has other classes than the job's")
	}
	difference, err := learner.Difference(pooled.Decisions, o.Decisions)
	if err != nil {
		return err
	}
	r.Difference = &difference
	if pooled.Discrete() {
		exact := slices.Equal(pooled.Predicted, o.Predicted)
		r.Exact = &exact
	}
	return nil
}

// best returns the cell that a job chose.
func best(r *method.Result) int {
	return max(0, slices.IndexFunc(r.Grid, func(c learner.Cell) bool { return c.Best }))
}

// compareAlone trains each party by itself, with the cell that all chose
// together, and decides the held-out rows of all: what joining gained.
func compareAlone(ctx context.Context, j *job.Job, shares []Share, splits []method.Split, r *method.Result) error {
	divided, err := heldOutInTurn(j, splits)
	if err != nil {
		return err
	}
	cell := j.At(best(r))
	cell.Data.Folds = 0
	r.Alone = nil
	for i, s := range shares {
		one := method.Alone{Party: s.Party, Rows: baseline.Count(splits[i:i+1], false)}
		if one.Metrics, err = aloneInTurn(ctx, cell, i, divided); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			one.Failure = err.Error() // these rows are too few, say, for the job's parameters
		}
		r.Alone = append(r.Alone, one)
	}
	return nil
}

// aloneInTurn is the mean of what the party's rows alone reach.
func aloneInTurn(ctx context.Context, cell *job.Job, party int, divided [][]method.Split) (learner.Metrics, error) {
	var all []learner.Metrics
	for _, splits := range divided {
		m, err := alone(ctx, cell, splits[party], splits)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return learner.Mean(all), nil
}

// heldOutInTurn returns the splits, or those of each fold where the job holds
// rows out in turn only. The folds are those of the job.
func heldOutInTurn(j *job.Job, splits []method.Split) ([][]method.Split, error) {
	if j.Data.Folds == 0 || baseline.Count(splits, true) > 0 {
		return [][]method.Split{splits}, nil
	}
	labels := baseline.Labels(splits, false)
	folds, err := learner.FoldsOf(j).Divide(labels)
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

// alone is what the training rows of one party make of the held-out rows of
// all.
func alone(ctx context.Context, j *job.Job, own method.Split, splits []method.Split) (learner.Metrics, error) {
	if baseline.Count([]method.Split{own}, false) == 0 { // all are held out in this turn
		return learner.Metrics{}, nil
	}
	classes, _ := dataset.Classes(baseline.Labels([]method.Split{own}, false))
	if j.Task().Classes && len(classes) == 1 {
		f, err := learner.Constant(j, classes[0], baseline.Labels(splits, true))
		if err != nil {
			return nil, err
		}
		return f.Measure()
	}
	f, err := baseline.Fit(ctx, onlyWeightsOf(j, own), []method.Split{own}, splits)
	if err != nil {
		return nil, err
	}
	return f.Measure()
}

// onlyWeightsOf leaves out the weights of classes that a party does not have.
func onlyWeightsOf(j *job.Job, s method.Split) *job.Job {
	alone := *j
	if w, is := j.Learner.Values.(learner.Weighted); is {
		alone.Learner.Values = w.Only(baseline.Labels([]method.Split{s}, false))
	}
	return &alone
}
