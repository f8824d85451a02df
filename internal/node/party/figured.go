package party

import "github.com/mercer-fl/mercer/internal/learner"

// figured is a method's party over whose own held-out rows the coordinator can make figures.
type figured interface {
	// OwnFigures returns the reason why the rows are too few for that; nil if they are enough.
	OwnFigures() error
}

// word is the party's word about figures over its own held-out rows, by the policy of their
// table.
func (p *Party) word(w *work) learner.Word {
	own, is := w.state.(figured)
	if !is {
		return learner.Denied
	}
	policy, err := p.Policy(w.table())
	switch {
	case err != nil || !policy.OwnFigures:
		return learner.Denied
	case own.OwnFigures() != nil:
		return learner.TooFew
	}
	return learner.Allowed
}
