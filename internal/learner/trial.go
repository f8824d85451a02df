package learner

import (
	"errors"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/learn/tune"
)

// ErrNoScore is r2 of numbers that are all the same.
var ErrNoScore = errors.New("the numbers of a fold are all the same, so that r2 has no value; use fewer folds")

// learner returns what tries the methods on folds of the given rows, until it is
// interrupted.
func (t Problem) learner(methods []Solver, rows []int, score string, interrupt func() error) tune.Learner {
	params := make([]svm.Params, len(methods))
	for i, m := range methods {
		svc, ok := m.(SVC)
		if !ok {
			return trials{t, methods, score, interrupt}
		}
		params[i] = svc.Params
		params[i].Interrupt = interrupt
	}
	classes, codes := dataset.Classes(pick(t.Labels, rows))
	svc := tune.SVC{Codes: make([]int, len(t.Labels)), Classes: classes, Params: params}
	for i, r := range rows {
		svc.Codes[r] = codes[i]
	}
	return svc
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
