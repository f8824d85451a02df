package ppsvmv

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/say"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol/gram"
	"github.com/mercer-fl/mercer/protocol/ppsvmv"
)

// step is a step of this binding's.
type step = method.StepOf[party, server, columns.Declared]

// steps: the parties align their rows and add up their Gram matrices around the ring, the label holder
// sends the labels, and the coordinator learns.
func steps(c method.Case) ([]step, error) {
	plan, err := columns.Steps(c, columns.As[party, server]{
		Party: (*party).holder, Server: func(s *server) *columns.Server { return &s.Server },
		Declare: (*party).declare, Usable: usable(matrix(c.Job)), Lets: (*party).products,
	})
	if err != nil {
		return nil, err
	}
	plan = append(plan, step{
		Name: "protocol", Session: &method.Session{
			Protocol: ppsvmv.Name, Version: ppsvmv.Version, Members: c.Everybody(), Purpose: "train", Discloses: []string{ppsvmv.TileKind},
		},
		Follow: method.From(func(d columns.Declared) ([]byte, error) { return params(c.Job, d) }),
		Party:  (*party).site, Server: (*server).receiver, Releases: (*party).products,
	})
	if c.Job.Data.Label != job.NoLabel {
		plan = append(plan, columns.LabelStep(c, (*party).holder, (*server).learner))
	}
	return append(plan, columns.LearningSteps[party](c.Job, (*server).learner)...), nil
}

// params are the parameters of the ring, which the first party leads.
func params(j *job.Job, d columns.Declared) ([]byte, error) {
	p, err := matrix(j).Params(d)
	if err != nil {
		return nil, err
	}
	params, err := ppsvmv.NewParams(p.Groups(), d.Digest)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return params.Encode(), nil
}

// matrix is the arithmetic of a job. It refuses more rows than have a matrix that fits.
func matrix(j *job.Job) columns.Products {
	return func(holders []gram.Holder, rows int) (gram.Params, error) {
		if words := rows * (rows + 1) / 2; rows > gram.MaxRows {
			return gram.Params{}, fmt.Errorf("ppsvmv: %d rows have a matrix of %d words (%s), which all pass through every party; bring at most %d rows, or use protocol fdskl", rows, words, say.Bytes(8*words), gram.MaxRows)
		}
		return columns.ProductsOf(j)(holders, rows)
	}
}

// usable refuses declarations that cannot be added up.
func usable(p columns.Products) func(columns.Declared) error {
	return func(d columns.Declared) error {
		_, err := p.Params(d)
		return err
	}
}
