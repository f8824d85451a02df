package fdsvrg

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol/fdsvrg"
)

// step is a step of this binding's.
type step = method.StepOf[party, server, columns.Declared]

// steps: the parties align their rows and train, and the first one tells the coordinator how well.
func steps(c method.Case) ([]step, error) {
	plan, err := columns.Steps(c, columns.As[party, server]{
		Party: func(p *party) *columns.Party { return p.Party }, Server: func(s *server) *columns.Server { return &s.Server },
		Declare: (*party).declare, Usable: usable(c.Job), Lets: (*party).products,
	})
	if err != nil {
		return nil, err
	}
	if len(c.Parties) > fdsvrg.MaxWorkers {
		return nil, fmt.Errorf("fdsvrg: %d parties cannot train together; name at most %d", len(c.Parties), fdsvrg.MaxWorkers)
	}
	return append(plan, step{
		Name: "protocol", Session: &method.Session{
			Protocol: fdsvrg.Name, Version: fdsvrg.Version, Members: c.Holders(), Purpose: "train", Discloses: []string{fdsvrg.MarginsKind},
		},
		Follow: method.From(func(d columns.Declared) ([]byte, error) {
			p, err := paramsOf(c.Job, d)
			if err != nil {
				return nil, err
			}
			return p.Encode(), nil
		}),
		Party: (*party).worker, Releases: (*party).products,
	}, columns.ToldStep(c, findingBytes(c.Job.Task()), (*party).tell, (*server).hear)), nil
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

// usable refuses declarations from which nothing can be trained.
func usable(j *job.Job) func(columns.Declared) error {
	return func(d columns.Declared) error {
		_, err := paramsOf(j, d)
		return err
	}
}
