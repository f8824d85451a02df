// Package fdskl is the method FDSKL: holders of other columns of the same people
// add up phases of random features, and those with the labels learn from the sums.
// See protocol/fdskl.
package fdskl

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
)

// Protocol is FDSKL.
func Protocol() *method.Protocol { return itself }

var itself = method.New(method.Binding[party, server, columns.Declared]{
	Name: "fdskl", Keys: func() job.Settings { return new(Keys) },
	// Results are compared with the kernel that the random features stand for.
	Traits: job.Traits{Cuts: job.Columns, Comparisons: []job.Comparison{job.ExactKernel}},
	Steps:  steps, NewParty: newParty, NewServer: newServer,
	Public:       func(p *party) columns.Declared { return p.Declared },
	PublicServer: func(s *server) columns.Declared { return s.Declared },
	Facts:        method.NoFacts[party], Minimums: method.NoMinimums, Result: (*server).result, Ended: method.IgnoresEnds[server],
	Model:   &method.ModelOf[server]{Write: (*server).writeModel},
	Outcome: func(*server) *method.Outcome { return &method.Outcome{} }, // decisions stay with the label holder
	Hands:   &method.HandsOf[party]{Order: func(p *party) []string { return p.Aligned() }, Judged: (*party).decided},
	Prepares: &method.PreparesOf[party, server]{
		Heard: func(s *server) (*learner.Prepared, error) { return s.Server.Prepared() },
	},
	Questions: &method.QuestionsOf[party, server]{
		Keep: (*party).keep, KeepServer: (*server).keep, OpenParty: openParty, OpenServer: openServer, Left: left,
	},
	NoFile: columns.Undownloadable,
})
