package secureboost

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secureboost"
)

// step is a step of this binding's.
type step = method.StepOf[party, server, columns.Declared]

// steps: the parties align their rows and grow trees; the first tells the coordinator how well they do.
func steps(c method.Case) ([]step, error) {
	plan, err := columns.Steps(c, columns.As[party, server]{
		Party: func(p *party) *columns.Party { return p.Party }, Server: func(s *server) *columns.Server { return &s.Server },
		Declare: (*party).declare, Usable: usable(c.Job), Lets: (*party).trained,
	})
	if err != nil {
		return nil, err
	}
	if len(c.Parties) > secureboost.MaxHosts+1 {
		return nil, fmt.Errorf("secureboost: trees cannot be grown among %d parties; name at most %d", len(c.Parties), secureboost.MaxHosts+1)
	}
	return append(plan, step{
		Name: "protocol", Session: &method.Session{
			Protocol: secureboost.Name, Version: secureboost.Version, Members: c.Holders(), Purpose: "train",
			Patient: []protocol.Timer{secureboost.TimerGuest, secureboost.TimerHosts},
		},
		Follow: method.From(func(d columns.Declared) ([]byte, error) {
			params, err := paramsOf(c.Job, d)
			if err != nil {
				return nil, err
			}
			return params.Encode(), nil
		}),
		Party: (*party).grower, Releases: (*party).trained,
	}, columns.ToldStep(c, findingBytes, (*party).tell, (*server).hear)), nil
}

// keysOf returns the settings of a job.
func keysOf(j *job.Job) *Keys { return job.As[*Keys](j.Protocol) }

// paramsOf returns the parameters of the session, which follow from the declarations of all.
func paramsOf(j *job.Job, d columns.Declared) (secureboost.Params, error) {
	rows, err := d.Rows()
	if err != nil {
		return secureboost.Params{}, err
	}
	train, _, err := columns.Sizes(j, rows)
	if err != nil {
		return secureboost.Params{}, fault.BadInput(err)
	}
	trees := learner.TreesOf(j)
	p, err := secureboost.NewParams(secureboost.Spec{
		Encryption: keysOf(j).HE, Rows: rows, Training: train, Rounds: trees.Rounds, Depth: trees.Depth, Alignment: d.Digest,
	})
	if err != nil {
		return secureboost.Params{}, fault.BadInput(err)
	}
	return p, nil
}

// usable refuses declarations from which no trees can be grown.
func usable(j *job.Job) func(columns.Declared) error {
	return func(d columns.Declared) error {
		_, err := paramsOf(j, d)
		return err
	}
}
