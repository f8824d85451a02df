package learner

import (
	"errors"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/tune"
)

// ErrNoScore is r2 of numbers that are all the same.
var ErrNoScore = errors.New("the numbers of a fold are all the same, so that r2 has no value; use fewer folds")

// learner returns what tries the methods on folds of the given rows, until it is
// interrupted.
func (t Problem) learner(methods []Solver, rows []int, score string, interrupt func() error) tune.Learner {
	if s, can := methods[0].(joint); can {
		if all := s.together(t, methods, rows, interrupt); all != nil {
			return all
		}
	}
	return trials{t, methods, score, interrupt}
}

// joint is a learner whose cells are tried together: each starts from what was found for
// another. Nil: the methods are not all of that learner.
type joint interface {
	together(t Problem, methods []Solver, rows []int, interrupt func() error) tune.Learner
}

// trials tries any methods, each from nothing.
type trials struct {
	task      Problem
	methods   []Solver
	score     string // the metric
	interrupt func() error
}

func (l trials) Settings() int { return len(l.methods) }

// Try implements tune.Learner.
func (l trials) Try(k kernel.Source, f tune.Fold, tried func() error) ([]tune.Trial, error) {
	var list []tune.Trial
	for _, m := range l.methods {
		fitted, err := l.task.fit(k, f.Train, f.Test, m, nil, l.interrupt)
		if err != nil {
			return nil, err
		}
		one, err := fitted.trial(l.score)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
		if err := tried(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// trial scores what f decided.
func (f *Fitted) trial(score string) (tune.Trial, error) {
	m, err := f.measure()
	if err != nil {
		return tune.Trial{}, err
	}
	value, has := m[score]
	if !has {
		return tune.Trial{}, ErrNoScore
	}
	t := tune.Trial{Score: value, Outputs: f.Decisions}
	if !f.Discrete() {
		return t, nil
	}
	for i, class := range f.Predicted {
		if class == f.Truth[i] {
			t.Correct++
		}
	}
	return t, nil
}
