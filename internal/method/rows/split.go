package rows

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// Split checks a table against a job and selects the held-out rows. If the job holds out a fraction,
// t.Key selects the rows, unless t.Held lists them. The launching process also calls Split, so that its
// comparisons use the same rows. party is needed if the job holds out all rows of one party.
func Split(j *job.Job, party string, t method.Table) (method.Split, error) {
	set := t.Set
	if t.HeldOut != nil {
		var err error
		held, err := t.HeldOut.Arrange("the training table", t.Set.X.Cols(), t.Set.Columns)
		if err != nil {
			return method.Split{}, err
		}
		if set, err = dataset.Append(t.Set, held); err != nil {
			return method.Split{}, err
		}
		if t.Set.Lines != nil && held.Lines != nil {
			set.Lines = slices.Concat(t.Set.Lines, held.Lines) // every row is in one of the two files, as the split says
		}
	}
	if set.X.Rows() == 0 {
		return method.Split{}, fmt.Errorf("%s has no rows", set.Name)
	}
	set, err := labelled(j, set)
	if err != nil {
		return method.Split{}, err
	}
	if j.Data.Weight == "" && set.Weights != nil {
		unweighted := *set
		unweighted.Weights, set = nil, &unweighted
	}
	if err := set.Validate(); err != nil {
		return method.Split{}, err
	}
	if err := method.CheckNames(set); err != nil {
		return method.Split{}, err
	}
	test, err := heldOut(j, party, t)
	if err != nil {
		return method.Split{}, err
	}
	s := method.Split{Set: set, Test: make([]bool, set.X.Rows())}
	s.Frame, _ = set.X.(*prepare.Frame)
	for _, i := range test {
		s.Test[i] = true
	}
	return s, checkWeights(j, s)
}

// checkWeights refuses a table without the job's weights, and a table whose training rows all have a
// weight of 0 or less.
func checkWeights(j *job.Job, s method.Split) error {
	training := s.Rows(false)
	switch name := dataset.Quote(j.Data.Weight); {
	case j.Data.Weight == "":
		return nil
	case s.Set.Weights == nil:
		return dataset.NoColumn(j.Data.Weight, "%s has no column %s to take the weights from", s.Set.Name, name)
	case len(training) > 0 && !slices.ContainsFunc(training, func(i int) bool { return s.Set.Weights[i] > 0 }):
		return fmt.Errorf("%s column %s holds the weight %g, and no other of the %d training rows has a weight above 0; correct the weights, or leave the table out",
			s.Set.Place(training[0]), name, s.Set.Weights[training[0]], len(training))
	}
	return nil
}

// labelled checks the labels against the needs of the job's learner or, if the protocol has a check of its own,
// by that check. It removes labels that the job does not need.
func labelled(j *job.Job, set *dataset.Set) (*dataset.Set, error) {
	set, err := method.TakeLabels(j, set)
	if err != nil || set.Labels == nil {
		return set, err
	}
	if check := j.Traits().Labels; check != nil {
		return set, check(j, set)
	}
	return set, method.CheckLabels(j, set)
}

// heldOut returns the indices of the held-out rows, in ascending order.
func heldOut(j *job.Job, party string, t method.Table) ([]int, error) {
	n := t.Set.X.Rows()
	switch {
	case j.Data.Test == job.Test{} || j.Data.Test.None: // the job has only cross-validation folds, or holds out nothing
		return nil, nil
	case t.HeldOut != nil:
		rows := make([]int, t.HeldOut.X.Rows())
		for i := range rows {
			rows[i] = n + i
		}
		return rows, nil
	case j.Data.Test.Party == party:
		return linalg.Range(0, n), nil
	case j.Data.Test.Party != "":
		return nil, nil
	case j.Data.Test.Column != "":
		return later(j, t.Set)
	case j.Data.Test.Every > 0:
		_, test, err := dataset.Every(n, j.Data.Test.Every)
		return test, err
	case t.Held != nil:
		return t.Held, nil
	}
	_, test, err := t.Key.Split(t.Set, j.Data.Test.Fraction)
	return test, err
}

// later returns the indices of the rows that the job holds out because their value in a column is at or
// after the bound that the job states.
func later(j *job.Job, set *dataset.Set) ([]int, error) {
	name := j.Data.Test.Column
	if set.Cut == nil {
		return nil, dataset.NoColumn(name, "%s has no column %s to hold later rows out by", set.Name, dataset.Quote(name))
	}
	bound, err := dataset.ParseBound(j.Data.Test.From)
	if err != nil {
		return nil, err
	}
	rows, err := bound.From(set.Cut)
	if err != nil {
		return nil, fmt.Errorf("%s: column %s: %w", set.Name, dataset.Quote(name), err)
	}
	return rows, nil
}
