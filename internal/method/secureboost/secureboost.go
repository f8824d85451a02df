// Package secureboost runs jobs of protocol SecureBoost, in which parties with different columns of
// the same people grow boosted trees. It serves for comparison with FDSKL. The party with the
// labels selects splits by sums over the bins of all parties' columns. See
// protocol/secureboost.
package secureboost

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secureboost"
)

// Protocol returns the method that runs protocol SecureBoost.
func Protocol() *method.Protocol { return itself }

var itself = method.New(method.Binding[party, server, columns.Declared]{
	Name: "secureboost", Keys: func() job.Settings { return new(Keys) },
	Traits: job.Traits{Cuts: job.Columns, Learns: func(j *job.Job) bool { return learner.TreesOf(j) != nil }, Undeployable: undeployable, NoStudy: job.PaperOnly},
	Steps:  steps, NewParty: newParty, NewServer: newServer,
	Public:       func(p *party) columns.Declared { return p.Declared },
	PublicServer: func(s *server) columns.Declared { return s.Declared },
	Facts:        method.NoFacts[party], Minimums: method.NoMinimums, Result: (*server).result, Ended: method.IgnoresEnds[server],
	Model:   &method.ModelOf[server]{Write: (*server).writeModel},
	Outcome: func(s *server) *method.Outcome { return s.ReportedServer.Outcome() },
	Hands:   &method.HandsOf[party]{Order: func(p *party) []string { return p.Aligned() }, Alignment: func(p *party) []byte { return p.ToKeep() }, Judged: (*party).judged},
	Prepares: &method.PreparesOf[party, server]{
		Heard: func(s *server) (*learner.Prepared, error) { return s.Server.Prepared() },
	},
	NoFile: columns.Undownloadable,
})

// undeployable explains why a job with he: none cannot be deployed. Such a job shows the labels to
// all parties. For other jobs, undeployable returns "".
func undeployable(j *job.Job) string {
	if keysOf(j).HE == secureboost.None {
		return `protocol secureboost with "he: none" shows the labels to every party, and runs in simulate only; write "he: paillier"`
	}
	return ""
}

// Keys holds the settings of protocol secureboost in a job file; see protocol/secureboost. Mode
// hardened does not exist, because the parties always see which rows are together in a node.
type Keys struct {
	job.Moded
	HE secureboost.Encryption
	columns.Keys
}

var _ job.Settings = (*Keys)(nil)

// Section declares the keys of protocol secureboost in a job file.
func (k *Keys) Section() *section.Section {
	return &section.Section{Doc: "Parties that hold different columns of the same people grow boosted trees. The holder of the labels decides by sums of encrypted gradients.",
		Fields: []section.Field{
			k.ModeKey(),
			{Key: "he", Value: section.Choice[secureboost.Encryption]{Noun: "he", Dst: &k.HE, Known: []secureboost.Encryption{secureboost.Paillier, secureboost.None}},
				Default: string(secureboost.Paillier), Doc: "The encryption of gradients; none shows the labels to every party, and runs in simulate only."},
			k.IDsKey(),
		}, Finish: k.CheckIDs}
}

// Demands returns what the settings demand of a job; it implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: k.check, Limits: map[string]int{"max_ids": k.MaxIDs}}
}

// check refuses a job that is not in mode paper, whose learner does not grow trees, or that has a kernel other than
// linear, open predictions or folds.
func (k *Keys) check(j *job.Job, in *section.Place) error {
	switch {
	case k.Mode != job.Paper:
		return in.Refuse("protocol", `protocol secureboost has mode paper only; write "mode: paper", or use protocol fdskl, whose passive parties learn nothing of the labels`)
	case learner.TreesOf(j) == nil:
		return in.Refuse("learner", "protocol secureboost does not run learner %s; it runs %s", j.Learner.Name(), learner.Able(" or ", func(j *job.Job) bool { return learner.TreesOf(j) != nil }))
	case len(j.Kernels()) > 1 || j.Kernel.Name != job.Linear:
		return in.Refuse("kernel", `protocol secureboost grows trees, which have no kernel; write "kernel: {name: linear}"`)
	case j.Prediction == job.Open:
		return in.Refuse("prediction", `protocol secureboost cannot predict new rows in this version; remove "prediction"`)
	case j.Data.Folds > 0:
		return in.Refuse("data.folds", `protocol secureboost has no folds; use "test: {fraction: 0.25}"`)
	}
	return nil
}

// step is one step of a SecureBoost job.
type step = method.StepOf[party, server, columns.Declared]

// steps plans a job. The parties align their rows and grow trees. Then the first party sends its
// figures to the coordinator.
func steps(c method.Instance) ([]step, error) {
	plan, err := columns.Steps(c, columns.As[party, server]{
		Party: func(p *party) *columns.Party { return p.Party }, Server: func(s *server) *columns.Server { return &s.Server },
		Declare: (*party).declare, Usable: usable(c.Job), Lets: (*party).releasedSums,
	})
	if err != nil {
		return nil, err
	}
	if len(c.Parties) > secureboost.MaxHosts+1 {
		return nil, fmt.Errorf("secureboost: the job has %d parties; name at most %d", len(c.Parties), secureboost.MaxHosts+1)
	}
	return append(plan, step{
		Name: "protocol", Session: &method.Session{
			Protocol: secureboost.Name, Version: secureboost.Version, Members: c.DataParties(), Purpose: "train",
			SlowTimers: []protocol.Timer{secureboost.TimerGuest, secureboost.TimerHosts},
		},
		Follow: method.From(func(d columns.Declared) ([]byte, error) {
			params, err := paramsOf(c.Job, d)
			if err != nil {
				return nil, err
			}
			return params.Encode(), nil
		}),
		Party: (*party).grower, Releases: (*party).releasedSums,
	}, columns.ReportStep(c, findingBytes, (*party).tell, (*server).hear)), nil
}

// keysOf returns a job's settings of protocol secureboost.
func keysOf(j *job.Job) *Keys { return job.As[*Keys](j.Protocol) }

// paramsOf returns the parameters of the session that grows trees, from all parties' declarations.
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

// usable returns a check that refuses declarations with which the parties cannot grow trees.
func usable(j *job.Job) func(columns.Declared) error {
	return func(d columns.Declared) error {
		_, err := paramsOf(j, d)
		return err
	}
}
