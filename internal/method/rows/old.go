package rows

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/method"
)

// OldSteps describes the steps to a binding of the old kind.
func OldSteps(c method.Case) ([]method.Step, error) {
	steps, err := Steps(c)
	var plan []method.Step
	for _, s := range steps {
		plan = append(plan, method.Step{Name: s.Name, Session: s.Session})
	}
	return plan, err
}

// Machine builds the machine of a step by its name, for a binding of the old kind.
func (p *Party) Machine(step string, setup method.Setup) (*method.Run, error) {
	steps, err := Steps(p.Case)
	if err != nil {
		return nil, err
	}
	for _, s := range steps {
		if s.Name == step {
			return s.Party(p, setup)
		}
	}
	return nil, fmt.Errorf("rows: no session %s", step)
}

// Hears reports whether a step is the coordinator's, for a binding of the old kind.
func (*Witness) Hears(step string) bool { return step == "prepared" }

// Hear returns the machine of that step.
func (w *Witness) Hear(setup method.Setup) (*method.Run, error) { return w.hear(setup) }
