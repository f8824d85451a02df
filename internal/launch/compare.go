package launch

import (
	"errors"
	"maps"
	"slices"

	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/internal/stage"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// Compare adds the comparisons that a job asks for to its result.
func Compare(j *job.Job, shares []Share, o *stage.Outcome, r *stage.Result) error {
	splits := make([]stage.Split, len(shares))
	for i, s := range shares {
		var err error
		if splits[i], err = stage.SplitTable(j, s.Table); err != nil {
			return err
		}
	}
	if j.Compares(job.Pooled) {
		if err := comparePooled(j, splits, o, r); err != nil {
			return err
		}
	}
	if j.Compares(job.Alone) {
		return compareAlone(j, shares, splits, r)
	}
	return nil
}

// comparePooled fits the job's learner on all rows in one place: what privacy
// cost.
func comparePooled(j *job.Job, splits []stage.Split, o *stage.Outcome, r *stage.Result) error {
	pooled, err := fit(j, splits, splits)
	if err != nil {
		return err
	}
	if r.Pooled, err = pooled.Measure(); err != nil {
		return err
	}
	if !slices.Equal(pooled.Classifier.Classes, o.Classes) {
		return errors.New("launch: the pooled classifier has other classes than the job's")
	}
	difference, err := evaluate.Difference(pooled.Decisions, o.Decisions)
	if err != nil {
		return err
	}
	exact := slices.Equal(pooled.Predicted, o.Predicted)
	r.Difference, r.Exact = &difference, &exact
	return nil
}

// compareAlone fits the job's learner on each party's rows and decides the
// held-out rows of all: what joining gained.
func compareAlone(j *job.Job, shares []Share, splits []stage.Split, r *stage.Result) error {
	r.Alone = nil
	for i, s := range shares {
		own := splits[i : i+1]
		alone := stage.Alone{Party: s.Party, Rows: trainingRows(own)}
		f, err := fit(onlyWeightsOf(j, own[0]), own, splits)
		switch {
		case errors.Is(err, evaluate.ErrOneClass):
			alone.Metrics, err = evaluate.Constant(onlyClass(own[0]), truth(splits)).Measure()
		case err == nil:
			alone.Metrics, err = f.Measure()
		}
		if err != nil {
			return err
		}
		r.Alone = append(r.Alone, alone)
	}
	return nil
}

// onlyWeightsOf leaves out the weights of classes that a party does not have.
func onlyWeightsOf(j *job.Job, s stage.Split) *job.Job {
	alone := *j
	alone.Learner.ClassWeight = maps.Clone(j.Learner.ClassWeight)
	_, labels := gather([]stage.Split{s}, false)
	maps.DeleteFunc(alone.Learner.ClassWeight, func(class string, _ float64) bool { return !slices.Contains(labels, class) })
	return &alone
}

// fit trains on the training rows of some parties and decides the held-out
// rows of others.
func fit(j *job.Job, train, test []stage.Split) (*evaluate.Fitted, error) {
	p, err := prepare(j, train, test)
	if err != nil {
		return nil, err
	}
	return p.fit(j)
}

// prepared is a learning problem on raw rows.
type prepared struct {
	rows    linalg.Matrix[float64] // training rows, then held-out rows; scaled
	labels  []string
	test    []bool
	scaling stage.Scaling // empty: none
}

// prepare gathers rows and scales them as the training parties would among
// themselves.
func prepare(j *job.Job, train, test []stage.Split) (*prepared, error) {
	rows, labels := gather(train, false)
	held, truth := gather(test, true)
	p := &prepared{rows: stack(rows, held), labels: slices.Concat(labels, truth)}
	p.test = make([]bool, len(p.labels))
	for i := len(labels); i < len(p.test); i++ {
		p.test[i] = true
	}
	if j.Data.Scale == job.None {
		return p, nil
	}
	var err error
	if p.scaling, err = stage.ScaleOf(j, rows); err != nil {
		return nil, err
	}
	p.scaling.Apply(p.rows)
	return p, nil
}

func (p *prepared) fit(j *job.Job) (*evaluate.Fitted, error) {
	learner, err := stage.Learner(j)
	if err != nil {
		return nil, err
	}
	f, err := evaluate.Fit(evaluate.Task{Gram: kernel.LinearGram(p.rows), Labels: p.labels, Test: p.test}, learner, nil)
	if errors.Is(err, evaluate.ErrOneClass) {
		return nil, session.BadInput(err)
	}
	return f, err
}

// gather copies the training or the held-out rows of several parties, in their
// order.
func gather(splits []stage.Split, held bool) (linalg.Matrix[float64], []string) {
	var labels []string
	for _, s := range splits {
		for i, label := range s.Set.Labels {
			if s.Test[i] == held {
				labels = append(labels, label)
			}
		}
	}
	m := linalg.New[float64](len(labels), splits[0].Set.X.Cols())
	next := 0
	for _, s := range splits {
		for i := range s.Set.Labels {
			if s.Test[i] == held {
				s.Set.X.Row(i, m.Row(next))
				next++
			}
		}
	}
	return m, labels
}

func stack(a, b linalg.Matrix[float64]) linalg.Matrix[float64] {
	m := linalg.New[float64](a.Rows+b.Rows, a.Cols)
	copy(m.Data, a.Data)
	copy(m.Data[len(a.Data):], b.Data)
	return m
}

func trainingRows(splits []stage.Split) int {
	_, labels := gather(splits, false)
	return len(labels)
}

func truth(splits []stage.Split) []string {
	_, labels := gather(splits, true)
	return labels
}

// onlyClass is the one label that a party's training rows have.
func onlyClass(s stage.Split) string {
	_, labels := gather([]stage.Split{s}, false)
	return labels[0]
}
