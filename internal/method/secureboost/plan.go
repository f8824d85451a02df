package secureboost

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/broadcast"
	"github.com/mercer-fl/mercer/protocol/secureboost"
)

// Plan implements [method.Federated]: the parties align their rows and grow trees; the
// first tells the coordinator how well they do.
func (Method) Plan(c method.Case) ([]method.Step, error) {
	plan, err := columns.Steps(c)
	if err != nil {
		return nil, err
	}
	if len(c.Parties) > secureboost.MaxHosts+1 {
		return nil, fmt.Errorf("secureboost: trees cannot be grown among %d parties; name at most %d", len(c.Parties), secureboost.MaxHosts+1)
	}
	return append(plan,
		method.Step{Name: "protocol", Session: method.Following(method.Session{
			Protocol: secureboost.Name, Version: secureboost.Version, Members: c.Holders(), Purpose: "train",
			Patient: []protocol.Timer{secureboost.TimerGuest, secureboost.TimerHosts},
		}, func(k method.Known) ([]byte, error) {
			params, err := paramsOf(c.Job, k.(columns.Declared))
			if err != nil {
				return nil, err
			}
			return params.Encode(), nil
		})},
		method.Step{Name: "learn", Session: &method.Session{
			Protocol: broadcast.Name, Version: broadcast.Version, Purpose: "finding",
			Params: broadcast.Encode(findingBytes), Members: sums.Served(c.Parties[0], []string{c.Coordinator}),
		}}), nil
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

// judge refuses declarations from which no trees can be grown.
type judge struct{ job *job.Job }

// Usable implements [columns.Judge].
func (u judge) Usable(d columns.Declared) error {
	_, err := paramsOf(u.job, d)
	return err
}
