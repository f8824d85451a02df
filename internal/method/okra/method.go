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

var itself = Bind(Variant{Name: "okra", Keys: func() job.Settings { return new(Keys) }, Labels: true, Left: left})

// Variant is what another protocol on the same machines says of itself.
type Variant struct {
	Name   string
	Keys   func() job.Settings // which are [Settings] of this package, too
	Labels bool                // labels travel with the rows
	// Left reports whether a keepsake without a protocol's name is this one's; nil where no earlier
	// program wrote any.
	Left func([]byte) bool
}

// Bind binds a variant of OKRA to the learners.
func Bind(v Variant) *method.Protocol {
	if v.Left == nil {
		v.Left = func([]byte) bool { return false }
	}
	return method.New(method.Binding[party, server, rows.Total]{
		Name: v.Name, Keys: v.Keys,
		Traits: job.Traits{Grouped: true, Undeployable: undeployable}, // parties put their own groups into folds
		Steps:  steps, NewServer: newServer,
		NewParty: func(c method.Case, self string, t method.Table) (*party, error) {
			return newParty(c, self, t, v.Labels)
		},
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
			Keep: (*party).keep, KeepServer: (*server).keep, OpenParty: openParty, OpenServer: openServer, Left: v.Left,
		},
		Prepares: &method.PreparesOf[party, server]{
			Made:    func(p *party) *prepare.Preparation { return p.Split.Prepared },
			Heard:   func(s *server) (*learner.Prepared, error) { return s.Witness.Prepared() },
			Remarks: func(p *party) []string { return p.Party.Remarks() },
		},
		Present: present,
	})
}
