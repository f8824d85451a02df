// Package moments is the method of sums: the coordinator learns from sums of
// products of random features over all parties' rows, of which it sees the sums
// only. See protocol/secagg.
package moments

import (
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/model"
)

// Protocol learns from sums of products.
func Protocol() *method.Protocol { return itself }

var itself = method.New(method.Binding[party, server, known]{
	Name: "moments", Keys: func() job.Settings { return new(Keys) },
	Traits: job.Traits{
		Grid:        job.ByItself,                // a cell is chosen by the sums of all training rows
		Comparisons: []job.Comparison{job.Curve}, // other numbers of directions
		Labels:      checkLabels,
	},
	Steps: steps, NewParty: newParty, NewServer: newServer,
	Public: (*party).known, PublicServer: (*server).known,
	Facts: method.NoFacts[party], Minimums: method.NoMinimums, Result: (*server).result, Ended: method.IgnoresEnds[server],
	Model:   &method.ModelOf[server]{Write: (*server).writeModel},
	Outcome: (*server).outcome,
	Questions: &method.QuestionsOf[party, server]{
		Keep: (*party).keep, OpenParty: openParty, Left: model.IsRandom,
	},
	Prepares: &method.PreparesOf[party, server]{
		Made:    func(p *party) *prepare.Preparation { return p.Split.Prepared },
		Heard:   func(s *server) (*learner.Prepared, error) { return s.Witness.Prepared() },
		Remarks: func(p *party) []string { return p.Party.Remarks() },
	},
	Present: present,
})
