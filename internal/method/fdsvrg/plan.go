package fdsvrg

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol/broadcast"
	"github.com/mercer-fl/mercer/protocol/fdsvrg"
)

// Plan implements [method.Federated]: the parties align their rows and train, and the first one
// tells the coordinator how well.
func (Method) Plan(c method.Case) ([]method.Step, error) {
	plan, err := columns.Steps(c)
	if err != nil {
		return nil, err
	}
	if len(c.Parties) > fdsvrg.MaxWorkers {
		return nil, fmt.Errorf("fdsvrg: %d parties cannot train together; name at most %d", len(c.Parties), fdsvrg.MaxWorkers)
	}
	return append(plan, method.Step{Name: "protocol", Session: training(c)}, method.Step{Name: "learn", Session: &method.Session{
		Protocol: broadcast.Name, Version: broadcast.Version, Purpose: "finding",
		Params:  broadcast.Encode(findingBytes(c.Job.Task())),
		Members: sums.Served(c.Parties[0], []string{c.Coordinator}),
	}}), nil
}

// training is the session of the parties.
func training(c method.Case) *method.Session {
	return method.Following(method.Session{
		Protocol: fdsvrg.Name, Version: fdsvrg.Version, Members: c.Holders(), Purpose: "train", Discloses: []string{fdsvrg.MarginsKind},
	}, func(k method.Known) ([]byte, error) {
		p, err := paramsOf(c.Job, k.(columns.Declared))
		if err != nil {
			return nil, err
		}
		return p.Encode(), nil
	})
}

// paramsOf returns the parameters of the session, which follow from the declarations of all.
func paramsOf(j *job.Job, d columns.Declared) (fdsvrg.Params, error) {
	rows, err := d.Rows()
	if err != nil {
		return fdsvrg.Params{}, err
	}
	train, test, err := columns.Sizes(j, rows)
	if err != nil {
		return fdsvrg.Params{}, fault.BadInput(err)
	}
	_, course := learner.CourseOf(j)
	p, err := fdsvrg.NewParams(fdsvrg.Spec{
		Rows: train, HeldOut: test, Outputs: 1, Batch: min(course.Batch, train), Epochs: course.Iterations, Alignment: d.Digest,
	})
	if err != nil {
		return fdsvrg.Params{}, fault.BadInput(err)
	}
	return p, nil
}

// judge refuses declarations from which nothing can be trained.
type judge struct{ job *job.Job }

// Usable implements [columns.Judge].
func (u judge) Usable(d columns.Declared) error {
	_, err := paramsOf(u.job, d)
	return err
}
