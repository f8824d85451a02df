// Package secureboost is the method SecureBoost, to compare FDSKL with: holders of other
// columns of the same people grow boosted trees. The holder of the labels decides by sums
// over the bins of the others' columns. See protocol/secureboost.
package secureboost

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol/secureboost"
)

// Protocol is SecureBoost.
func Protocol() *method.Protocol { return itself }

var itself = method.New(method.Binding[party, server, columns.Declared]{
	Name: "secureboost", Keys: func() job.Settings { return new(Keys) },
	Traits: job.Traits{Cuts: job.Columns, Undeployable: undeployable},
	Steps:  steps, NewParty: newParty, NewServer: newServer,
	Public:       func(p *party) columns.Declared { return p.Declared },
	PublicServer: func(s *server) columns.Declared { return s.Declared },
	Facts:        method.NoFacts[party], Minimums: method.NoMinimums, Result: (*server).result, Ended: method.IgnoresEnds[server],
	Model:   &method.ModelOf[server]{Write: (*server).writeModel},
	Outcome: func(s *server) *method.Outcome { return s.Told.Outcome() },
	Hands:   &method.HandsOf[party]{Order: func(p *party) []string { return p.Aligned() }, Judged: (*party).judged},
	Prepares: &method.PreparesOf[party, server]{
		Heard: func(s *server) (*learner.Prepared, error) { return s.Server.Prepared() },
	},
	NoFile: columns.Undownloadable,
})

// undeployable refuses jobs that show labels to all parties.
func undeployable(j *job.Job) string {
	if keysOf(j).HE == secureboost.None {
		return "protocol secureboost with he: none shows the labels to every party, and runs in simulate only; write he: paillier"
	}
	return ""
}
