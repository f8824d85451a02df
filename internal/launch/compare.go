package launch

import (
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/internal/job"
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
		f, err := fit(j, own, splits)
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

// fit trains on the training rows of some parties, scaled as they would scale
// them, and decides the held-out rows of others.
func fit(j *job.Job, train, test []stage.Split) (*evaluate.Fitted, error) {
	learner, err := stage.Learner(j)
	if err != nil {
		return nil, err
	}
	rows, labels := gather(train, false)
	held, truth := gather(test, true)
	all := stack(rows, held)
	if err := stage.ScaleTogether(j, rows, all); err != nil {
		return nil, err
	}
	mask := make([]bool, all.Rows)
	for i := rows.Rows; i < all.Rows; i++ {
		mask[i] = true
	}
	return evaluate.Fit(evaluate.Task{Gram: kernel.LinearGram(all), Labels: slices.Concat(labels, truth), Test: mask}, learner, nil)
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
