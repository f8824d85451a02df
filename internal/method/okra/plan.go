package okra

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// Plan implements [method.Federated]: the parties agree on columns and a scaling and
// send encoded rows; the coordinator chooses by folds if the job has any, learns, and
// evaluates.
func (Method) Plan(c method.Case) ([]method.Step, error) {
	changes := changesOf(c.Job)
	switch {
	case changes != nil:
		return changes.plan(c)
	case continuing(c.Job) != nil:
		return goOn(c)
	}
	plan, err := upload(c)
	plan = append(plan, rows.FoldSteps(c)...)
	if c.Job.Data.Folds > 0 {
		plan = append(plan, method.Step{Name: "tune"})
	}
	return append(plan, method.Step{Name: "learn"}, method.Step{Name: "evaluate"}), err
}

// upload has all parties of a case send all their rows.
func upload(c method.Case) ([]method.Step, error) { return uploadBy(rows.Steps, c) }

// uploadBy is upload after other steps, which bring columns and rows into one form.
func uploadBy(before func(method.Case) ([]method.Step, error), c method.Case) ([]method.Step, error) {
	plan, err := before(c)
	if err != nil {
		return nil, err
	}
	s, err := rowsSession(c)
	return append(plan, method.Step{Name: "protocol", Session: s}), err
}

// rowsSession is a session in which encoded rows travel.
func rowsSession(c method.Case) (*method.Session, error) {
	params, err := paramsOf(c.Job)
	return &method.Session{
		Protocol: okra.Name, Version: okra.Version, Params: params.Encode(), Members: c.Everybody(), Purpose: "train",
		Patient: []protocol.Timer{okra.TimerReceipt},
	}, err
}

// Settings are the keys of a job that runs on these machines: of this method, or of another
// with its own encoder.
type Settings interface {
	section.Values
	Spec() okra.Spec
}

// paramsOf returns the protocol's parameters of a job.
func paramsOf(j *job.Job) (okra.Params, error) {
	return okra.NewParams(job.As[Settings](j.Protocol).Spec())
}

// unknown is a step that the method does not have.
func unknown(step string) error { return fmt.Errorf("okra: no step %s", step) }
