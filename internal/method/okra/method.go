// Package okra is the method OKRA: every party sends its rows to the coordinator,
// encoded by an isometry that the parties share, and the coordinator learns from
// their exact Gram matrix. See protocol/okra.
package okra

import (
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
)

// Protocol is OKRA.
func Protocol() *method.Protocol { return itself }

var itself = method.New(Binding())

type binding = method.Binding[party, server, rows.Total]

// Binding is OKRA for variants of it, which change its fields.
func Binding() binding {
	return binding{
		Name: "okra", Keys: func() job.Settings { return new(Keys) },
		Traits: job.Traits{Grouped: true, Undeployable: undeployable}, // parties put their own groups into folds
		Steps:  steps, NewParty: newParty, NewServer: newServer,
		Public: (*party).public, PublicServer: (*server).public, Facts: (*party).facts, Minimums: method.NoMinimums, Result: (*server).result, Ended: (*server).ended,
		Model:      &method.ModelOf[server]{Write: (*server).writeModel, Private: true}, // it holds encoded rows
		Outcome:    (*server).outcome,
		OwnFigures: (*party).ownFigures,
		Later: &method.LaterOf[party, server]{
			Continues: earlier,
			Lasts:     (*party).lasts, Write: (*party).writeRest, Resume: (*party).resumeFrom,
			LastsServer: (*server).lasts, WriteServer: (*server).writeRest, ResumeServer: (*server).resumeFrom,
		},
		Questions: &method.QuestionsOf[party, server]{
			Keep: (*party).keep, KeepServer: (*server).keep, OpenParty: openParty, OpenServer: openServer, Left: left,
		},
		Prepares: &method.PreparesOf[party, server]{
			Made:    func(p *party) *prepare.Preparation { return p.Split.Prepared },
			Heard:   func(s *server) (*learner.Prepared, error) { return s.Witness.Prepared() },
			Remarks: func(p *party) []string { return p.Party.Remarks() },
		},
		Present: present,
	}
}
