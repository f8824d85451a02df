// Package gram is the method for holders of other columns of the same people: the
// coordinator learns from the sum of their Gram matrices, of which it sees the sum
// only. See protocol/psi and protocol/gram.
package gram

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
)

// Protocol is the sum of Gram matrices.
func Protocol() *method.Protocol { return itself }

var itself = method.New(method.Binding[party, server, columns.Declared]{
	Name: "gram", Keys: func() job.Settings { return new(Keys) }, Traits: job.Traits{Cuts: job.Columns},
	Steps: steps, NewParty: newParty, NewServer: newServer,
	Public:       func(p *party) columns.Declared { return p.Declared },
	PublicServer: func(s *server) columns.Declared { return s.Declared },
	Facts:        (*party).told, Minimums: method.NoMinimums, Result: (*server).result, Ended: (*server).ended,
	Model:   &method.ModelOf[server]{Write: (*server).writeModel},
	Outcome: func(s *server) *method.Outcome { return s.Learner.Outcome() },
	Hands:   &method.HandsOf[party]{Order: func(p *party) []string { return p.Aligned() }},
	Prepares: &method.PreparesOf[party, server]{
		Heard: func(s *server) (*learner.Prepared, error) { return s.Server.Prepared() },
	},
	Questions: &method.QuestionsOf[party, server]{
		Keep: (*party).keep, KeepServer: (*server).keep, OpenParty: openParty, OpenServer: openServer, Left: left,
	},
	NoFile: columns.Undownloadable,
})
