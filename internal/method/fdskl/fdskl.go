// Package fdskl runs jobs of protocol FDSKL, in which parties with different columns of the same
// people learn from sums of phases of random features. All parties add up their phases, and the
// parties with labels learn from the sums. See protocol/fdskl.
package fdskl

import (
	"encoding/hex"
	"fmt"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// Protocol returns the method that runs protocol FDSKL.
func Protocol() *method.Protocol { return itself }

var itself = method.New(method.Binding[party, server, columns.Declared]{
	Name: "fdskl", Keys: func() job.Settings { return new(Keys) },
	// A job can compare its results with the exact kernel, which the random features approximate.
	Traits: job.Traits{Cuts: job.Columns, Learns: learner.On[learner.LossLearner], Comparisons: []job.Comparison{job.ExactKernel}},
	Steps:  steps, NewParty: newParty, NewServer: newServer,
	Public:       func(p *party) columns.Declared { return p.Declared },
	PublicServer: func(s *server) columns.Declared { return s.Declared },
	Facts:        method.NoFacts[party], Minimums: method.NoMinimums, Result: (*server).result, Ended: method.IgnoresEnds[server],
	Model:   &method.ModelOf[server]{Write: (*server).writeModel},
	Outcome: func(*server) *method.Outcome { return &method.Outcome{} }, // decisions stay with the party that has the labels
	Hands:   &method.HandsOf[party]{Order: func(p *party) []string { return p.Aligned() }, Alignment: func(p *party) []byte { return p.ToKeep() }, Judged: (*party).judgeDecisions},
	Prepares: &method.PreparesOf[party, server]{
		Made:    func(p *party) *prepare.Preparation { return p.Preparation() },
		Heard:   func(s *server) (*learner.Prepared, error) { return s.Server.Prepared() },
		Notices: func(p *party) []string { return p.Notices() },
	},
	Questions: &method.QuestionsOf[party, server]{
		Keep: (*party).retainState, KeepServer: (*server).retainState, OpenParty: openParty, OpenServer: openServer, Left: writtenForFDSKL,
	},
	NoFile:  columns.Undownloadable,
	Foresee: foresee,
})

// step is one step of an FDSKL job.
type step = method.StepOf[party, server, columns.Declared]

// steps plans a job. The parties align their rows and add up phases. The first party, or several
// active parties, learn from the sums. The first party sends its figures to the coordinator. With
// spread labels, the active parties first agree on classes, and at the end all parties add up each
// active party's evaluations.
func steps(c method.Instance) ([]step, error) {
	plan, err := columns.Steps(c, columns.As[party, server]{
		Party: func(p *party) *columns.Party { return p.Party }, Server: func(s *server) *columns.Server { return &s.Server },
		Declare: (*party).declare, Usable: usable(c.Job), Lets: (*party).phaseReleases,
	})
	if err != nil {
		return nil, err
	}
	if len(c.Parties) > fdskl.MaxWorkers {
		return nil, fmt.Errorf("fdskl: the job has %d parties; name at most %d", len(c.Parties), fdskl.MaxWorkers)
	}
	if c.Job.Data.Spread {
		plan = append(plan, labelBroadcastStep(c))
	}
	adds := step{
		Name: "protocol", Party: (*party).workerMachine, Releases: (*party).phaseReleases,
		Ended: func(s *server, e method.End) { s.parent = e.Session }, // the coordinator is not a member of this session, so it learns the session's id here
		Cost:  phasesCost(c.Job),
	}
	adds.Session, adds.Follow = summingSession(c.Job, method.Session{Members: workerMembers(c), Purpose: "train"})
	report := columns.ReportStep(c, learnedBytes(c.Job.Task()), (*party).teller, (*server).takeFinding)
	report.Cost = reportCost(c, report.Cost)
	plan = append(plan, adds, report)
	if c.Job.Data.Spread {
		plan = append(plan, errorsStep(c))
	}
	return plan, nil
}

// learnedBytes is the number of bytes in every report of the label holder. A fixed length hides
// which metrics the report has.
func learnedBytes(t job.Task) int { return 9*len(learnedMetrics(t)) + 8 + 32 }

// summingSession returns the session that adds up phases. The returned function sets the session's
// parameters from the declarations.
func summingSession(j *job.Job, s method.Session) (*method.Session, func(method.Session, columns.Declared, []byte) (*method.Session, error)) {
	s.Protocol, s.Version, s.SlowTimers = fdskl.Name, fdskl.Version, []protocol.Timer{fdskl.TimerRequest}
	return &s, method.From(func(d columns.Declared) ([]byte, error) {
		params, err := paramsOf(j, d)
		if err != nil {
			return nil, err
		}
		return params.Encode(), nil
	})
}

// workerMembers lists the parties and marks the active parties as leaders.
func workerMembers(c method.Instance) []protocol.Member {
	list := c.DataParties()
	for i := range c.Job.Active() {
		list[i].Role = protocol.RoleLeader
	}
	return list
}

// labelBroadcastStep returns the step in which each active worker tells the other active workers how many labelled
// training rows it has, and of which classes its labels are. The coordinator and passive workers are not members.
func labelBroadcastStep(c method.Instance) step {
	return step{Name: "labels", Session: &method.Session{
		Protocol: collective.AllGatherName, Version: collective.AllGatherVersion, Purpose: "labels",
		Members: protocol.Members(protocol.RoleParty, c.Job.Active()...),
	}, Party: (*party).labelBroadcaster, Releases: method.AlsoReleases[party](method.ReleaseLabels)}
}

// errorsStep returns the step in which the active parties' evaluations are added up. The
// coordinator learns only the sums. Passive parties add zeros.
func errorsStep(c method.Instance) step {
	adds := step{Name: "errors", Party: (*party).errorCountMachine, Server: (*server).adder, Releases: method.AlsoReleases[party](method.ReleaseErrors)}
	adds.Session, adds.Follow = sums.Summing(c, "errors", func(d columns.Declared) (sums.Sum, error) {
		return sums.Sum{Epoch: "errors/" + hex.EncodeToString(d.Digest[:]), Groups: errorGroups()}, nil
	})
	return adds
}

// keysOf returns a job's settings of protocol fdskl.
func keysOf(j *job.Job) *Keys { return job.As[*Keys](j.Protocol) }

// paramsOf returns the parameters of the session that adds up phases, from all parties'
// declarations.
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

// usable returns a check that refuses declarations from which no phases can be computed.
func usable(j *job.Job) func(columns.Declared) error {
	return func(d columns.Declared) error {
		_, err := paramsOf(j, d)
		if err == nil {
			_, err = Gamma(j, jointUnit(d))
		}
		return err
	}
}
