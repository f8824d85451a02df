package stage

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/broadcast"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// planFDSKL: align, declare, add up phases for the first party, or for several
// active ones, who learn from them; the first tells the coordinator how well.
func planFDSKL(j *job.Job, c Cast) ([]Stage, error) {
	plan, err := alignStages(j, c, c.training(j, func(d declared) error {
		_, err := fdsklParams(j, d)
		if err == nil {
			_, err = gammaOf(j, d)
		}
		return err
	}))
	if err != nil {
		return nil, err
	}
	if len(c.Parties) > fdskl.MaxWorkers {
		return nil, fmt.Errorf("stage: phases of %d parties cannot be added up; name at most %d", len(c.Parties), fdskl.MaxWorkers)
	}
	return append(plan, Stage{Name: "protocol", Session: following(Session{
		Protocol: fdskl.Name, Version: fdskl.Version, Members: c.workers(len(j.Active())), Purpose: "train",
		Release: func(p *Party) method.Release { return p.phasesReleased(c) },
		Patient: []protocol.Timer{fdskl.TimerRequest},
		party:   (*Party).worker,
	}, phasesOf(j))}, findingStage(j, c)), nil
}

// workers lists the parties, of which the first ones are active.
func (c Cast) workers(active int) []protocol.Member {
	list := c.parties()
	for i := range active {
		list[i].Role = protocol.RoleLeader
	}
	return list
}

// fdsklParams are the session's that follow from what all have declared.
func fdsklParams(j *job.Job, d declared) (fdskl.Params, error) {
	if len(d.list) == 0 {
		return fdskl.Params{}, errUndeclared
	}
	p, err := fdskl.NewParams(fdskl.Spec{
		Mode: fdskl.Mode(j.Protocol.Mode()), Topology: fdskl.Topology(job.As[*fdsklKeys](j.Protocol).Tree), Bits: job.As[*fdsklKeys](j.Protocol).Bits,
		Rows: d.list[0].rows, Directions: job.As[*fdsklKeys](j.Protocol).Directions, Alignment: d.digest,
	})
	if err != nil {
		return fdskl.Params{}, fault.BadInput(err)
	}
	return p, nil
}

// phasesOf returns the parameters of a session that adds phases up.
func phasesOf(j *job.Job) func(Known) ([]byte, error) {
	return func(k Known) ([]byte, error) {
		params, err := fdsklParams(j, k.Declared)
		if err != nil {
			return nil, err
		}
		return params.Encode(), nil
	}
}

// gammaOf returns the job's kernel with gamma in plain numbers: its unit is the
// sum of what the parties have declared.
func gammaOf(j *job.Job, d declared) (job.Kernel, error) {
	if j.Kernel.GammaUnit == "" {
		return j.Kernel, nil
	}
	unit := d.spread()
	if !(unit > 0) {
		return j.Kernel, fault.BadInput(fmt.Errorf("stage: gamma_unit %s is %v: too many training rows are equal, or zero; give gamma without a unit", j.Kernel.GammaUnit, unit))
	}
	return j.Kernel.Over(unit), nil
}

// spread is the unit of gamma, 0 where nobody has asked for one.
func (d declared) spread() float64 {
	unit := 0.0
	for _, one := range d.list {
		unit += one.spread
	}
	return unit
}

// Learned is how a training on random features went.
type Learned struct {
	Metrics learner.Metrics // on held-out rows
	// Left is what was left of the gradient when the passes were used up, as a
	// share of what it was at first; 0 if the training ended by itself.
	Left float64
}

// Warnings say what is to be known of the figures of whoever learnt.
func (l Learned) Warnings(who string) []string {
	if l.Left == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s has not converged: after %d passes the gradient is still at %.2g of what it was, not at %g; figures may change with more. Raise lambda, or give fewer directions.",
		who, linear.DefaultMaxPasses, l.Left, linear.DefaultTol)}
}

// finding is what the label holder tells the coordinator of what it has learnt.
type finding struct {
	Learned
	model [32]byte // SHA-256 of the coefficients, which stay where they are
}

// findingMetrics are those that a finding may have, in its order.
func findingMetrics(l job.LearnerName) []string {
	if l.Regresses() {
		return []string{"rmse", "r2"}
	}
	return []string{"accuracy", "f1_micro", "f1_macro", "auc"}
}

// findingBytes is the length of every finding: it must not tell which metrics
// there are before it is told.
func findingBytes(l job.LearnerName) int { return 9*len(findingMetrics(l)) + 8 + 32 }

func (v finding) encode(l job.LearnerName) []byte {
	var w wire.Writer
	for _, name := range findingMetrics(l) {
		value, has := v.Metrics[name]
		w.Bool(has)
		w.Float64(value)
	}
	w.Float64(v.Left)
	w.Fixed(v.model[:])
	return w.Bytes()
}

func decodeFinding(l job.LearnerName, b []byte) (finding, error) {
	r := wire.NewReader(b)
	v := finding{Learned: Learned{Metrics: learner.Metrics{}}}
	for _, name := range findingMetrics(l) {
		has, value := r.Bool(), r.Float64()
		if r.Err() == nil && value-value != 0 {
			r.Fail(fmt.Errorf("%s is %v", name, value))
		}
		if !has && math.Float64bits(value) != 0 {
			r.Fail(fmt.Errorf("%s is %v and not there", name, value))
		}
		if has {
			v.Metrics[name] = value
		}
	}
	if v.Left = r.Float64(); r.Err() == nil && (!(v.Left >= 0) || math.IsInf(v.Left, 1)) {
		r.Fail(fmt.Errorf("%v of a gradient", v.Left))
	}
	r.Fixed(v.model[:])
	return v, r.Close("stage: finding")
}

// findingStage: the label holder learns, and tells the coordinator how good it
// is on held-out rows.
func findingStage(j *job.Job, c Cast) Stage {
	return Stage{Name: "learn", Session: &Session{
		Protocol: broadcast.Name, Version: broadcast.Version, Purpose: "finding",
		Params:  broadcast.Encode(findingBytes(j.Learner.Name)),
		Members: []protocol.Member{{Name: c.Parties[0], Role: protocol.RoleServer}, {Name: c.Coordinator, Role: protocol.RoleParty}},
		party:   (*Party).teller, server: (*Server).judge,
	}}
}
