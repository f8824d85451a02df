package party

import "github.com/mercer-fl/mercer/internal/learner"

// word is the party's word about figures over its own held-out rows, by the policy of their
// table.
func (p *Party) word(w *work) learner.Word {
	own := w.holder()
	if own.OwnFigures == nil {
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
