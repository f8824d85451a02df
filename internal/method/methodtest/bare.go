package methodtest

import (
	"errors"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// None is the state of a binding that has none.
type None struct{}

// Bare is a binding that states every duty and does nothing: tests set what they are about.
func Bare(name string) method.Binding[None, None, None] {
	return method.Binding[None, None, None]{
		Name: name, Keys: func() job.Settings { return nil },
		Steps:     func(method.Case) ([]method.StepOf[None, None, None], error) { return nil, nil },
		NewParty:  func(method.Case, string, method.Table) (*None, error) { return new(None), nil },
		NewServer: func(method.Case) (*None, error) { return new(None), nil },
		Public:    func(*None) None { return None{} }, PublicServer: func(*None) None { return None{} },
		Facts: method.NoFacts[None], Minimums: func(method.Floors, *job.Job) error { return nil },
		Result: func(*None) (*method.Result, error) {
			return nil, errors.New("methodtest: a bare binding has no result")
		},
		Ended: method.IgnoresEnds[None],
	}
}
