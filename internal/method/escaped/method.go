// Package escaped is the method ESCAPED: every two parties compute masked products of their rows,
// and the coordinator puts them together into the Gram matrix of all rows. It is here to be
// compared with: parties can read each other's rows. See protocol/escaped.
package escaped

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/escaped"
)

// Method is ESCAPED.
type Method struct{ method.RowFloors }

// Name returns the word in job files.
func (Method) Name() string { return "escaped" }

// New returns keys to read into.
func (Method) New() section.Values { return new(Keys) }

// Undownloadable implements [method.Undownloadable].
func (Method) Undownloadable(*job.Job) string {
	return "has no file: it is over products of rows (protocol escaped), and new rows have none"
}

// Keys are the settings of a job.
type Keys struct{ job.Moded }

// Section declares the keys.
func (k *Keys) Section() *section.Section {
	return &section.Section{
		Doc:    "Every two parties compute masked products of their rows. For comparison only: a party can read the rows of the parties before it.",
		Fields: []section.Field{k.ModeKey()},
	}
}

// Limits implements [job.Limited]: a policy bounds nothing of it.
func (*Keys) Limits() map[string]int { return nil }

// Check asks for mode paper, for closed predictions and for a learner on the Gram matrix.
func (k *Keys) Check(j *job.Job, in *section.Place) error {
	switch {
	case k.Mode != job.Paper:
		return in.Refuse("protocol", "protocol escaped lets a party read the rows of the parties before it, and there is no hardened version; use okra, or add mode: paper to compare with it")
	case j.Prediction == job.Open:
		return in.Refuse("prediction", "a model of escaped is over products of rows, which new rows have not; remove prediction: open")
	}
	return learner.OnMatrix(j, in)
}

// Plan implements [method.Federated]: the parties agree on columns and a scaling and meet in pairs;
// the coordinator chooses by folds if the job has any, learns, and evaluates.
func (Method) Plan(c method.Case) ([]method.Step, error) {
	plan, err := rows.OldSteps(c)
	if err != nil {
		return nil, err
	}
	plan = append(plan, method.Step{Name: "protocol", Session: &method.Session{
		Protocol: escaped.Name, Version: escaped.Version, Members: c.Everybody(), Purpose: "train", Discloses: escaped.RowsKinds(),
		Patient: []protocol.Timer{escaped.TimerGrant, escaped.TimerPartner, escaped.TimerProducts, escaped.TimerReceipt},
	}})
	if c.Job.Data.Folds > 0 {
		plan = append(plan, method.Step{Name: "tune"})
	}
	return append(plan, method.Step{Name: "learn"}, method.Step{Name: "evaluate"}), nil
}
