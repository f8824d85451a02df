package fdskl

import (
	"encoding/hex"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/broadcast"
	"github.com/mercer-fl/mercer/protocol/declare"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// Plan implements [method.Federated]: the parties align their rows and add up phases for
// the first party, or for several active ones, who learn from them; the first tells the
// coordinator how well. Where labels are spread, the active ones agree on classes before, and
// all parties add up afterwards what each can judge.
func (Method) Plan(c method.Case) ([]method.Step, error) {
	plan, err := columns.Steps(c)
	if err != nil {
		return nil, err
	}
	if len(c.Parties) > fdskl.MaxWorkers {
		return nil, fmt.Errorf("fdskl: phases of %d parties cannot be added up; name at most %d", len(c.Parties), fdskl.MaxWorkers)
	}
	if c.Job.Data.Spread {
		plan = append(plan, rollStep(c))
	}
	plan = append(plan,
		phasesStep(c.Job, method.Session{Members: workers(c), Purpose: "train"}),
		method.Step{Name: "learn", Session: &method.Session{
			Protocol: broadcast.Name, Version: broadcast.Version, Purpose: "finding",
			Params:  broadcast.Encode(findingBytes(c.Job.Task())),
			Members: sums.Served(c.Parties[0], []string{c.Coordinator}),
		}})
	if c.Job.Data.Spread {
		plan = append(plan, errorsStep(c))
	}
	return plan, nil
}

// findingBytes is the length of every finding: it must not tell which metrics
// there are before it is told.
func findingBytes(t job.Task) int { return 9*len(findingMetrics(t)) + 8 + 32 }

// phasesStep is a session that adds phases up.
func phasesStep(j *job.Job, s method.Session) method.Step {
	s.Protocol, s.Version, s.Patient = fdskl.Name, fdskl.Version, []protocol.Timer{fdskl.TimerRequest}
	return method.Step{Name: "protocol", Session: method.Following(s, func(k method.Known) ([]byte, error) {
		params, err := paramsOf(j, k.(columns.Declared))
		if err != nil {
			return nil, err
		}
		return params.Encode(), nil
	})}
}

// workers lists the parties, of which the first ones are active.
func workers(c method.Case) []protocol.Member {
	list := c.Holders()
	for i := range c.Job.Active() {
		list[i].Role = protocol.RoleLeader
	}
	return list
}

// rollStep is the session in which the active workers tell each other how many labels they
// have, and their classes. The coordinator and passive workers are no members.
func rollStep(c method.Case) method.Step {
	return method.Step{Name: "labels", Session: &method.Session{
		Protocol: declare.Name, Version: declare.Version, Purpose: "labels",
		Members: protocol.Members(protocol.RoleParty, c.Job.Active()...),
	}}
}

// errorsStep is the session in which all parties add up what each active one can judge, so
// that the coordinator learns the sums alone. Passive parties add zeros.
func errorsStep(c method.Case) method.Step {
	return method.Step{Name: "errors", Session: sums.Session(c, "errors", func(k method.Known) (sums.Sum, error) {
		d := k.(columns.Declared)
		return sums.Sum{Epoch: "errors/" + hex.EncodeToString(d.Digest[:]), Groups: errorGroups()}, nil
	})}
}

// keysOf returns the settings of a job.
func keysOf(j *job.Job) *Keys { return job.As[*Keys](j.Protocol) }

// paramsOf returns the parameters of the session, which follow from the declarations of all.
func paramsOf(j *job.Job, d columns.Declared) (fdskl.Params, error) {
	rows, err := d.Rows()
	if err != nil {
		return fdskl.Params{}, err
	}
	k := keysOf(j)
	p, err := fdskl.NewParams(fdskl.Spec{
		Mode: fdskl.Mode(j.Protocol.Mode()), Topology: fdskl.Topology(k.Tree), Bits: k.Bits,
		Rows: rows, Directions: k.Directions, Alignment: d.Digest,
	})
	if err != nil {
		return fdskl.Params{}, fault.BadInput(err)
	}
	return p, nil
}

// judge refuses declarations from which no phases can be made.
type judge struct{ job *job.Job }

// Usable implements [columns.Judge].
func (u judge) Usable(d columns.Declared) error {
	_, err := paramsOf(u.job, d)
	if err == nil {
		_, err = Gamma(u.job, jointUnit(d))
	}
	return err
}
