package stage

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// planPhasesOfNew: align, declare, and one pass up the tree in all directions of
// the model, whose coefficients the label holder alone has.
func planPhasesOfNew(j *job.Job, c Cast, asker string, b Basis) ([]Stage, error) {
	plan, err := alignStages(j, c, c.asking(asker, func(d declared) error {
		_, err := fdsklParams(j, d)
		return err
	}))
	if err != nil {
		return nil, err
	}
	return append(plan, Stage{Name: "protocol", Session: following(Session{
		Protocol: fdskl.Name, Version: fdskl.Version, Members: c.parties(), Purpose: "predict", Parent: b.Parent,
		Release: func(p *Party) method.Release { return p.phasesReleased(c) },
		Patient: []protocol.Timer{fdskl.TimerRequest},
		party:   (*Party).phasesOfNew,
	}, phasesOf(j))}), nil
}

// phasesOfNew is a party's machine of the session that adds up new rows' phases,
// under the directions of the model.
func (p *Party) phasesOfNew(setup Setup) (*Run, error) {
	params, err := fdskl.DecodeParams(setup.Session.Params)
	if err != nil {
		return nil, err
	}
	o, spec := p.vertical.portion, params.Spec()
	source, err := o.directions.phases(p.rows, spec.Bits)
	if err != nil {
		return nil, err
	}
	in := fdskl.Input{Source: source, Hash: o.directions.hash(p.rows), Rows: spec.Rows, Alignment: p.vertical.declared.digest}
	keys := setup.Keys(setup.Session.With(protocol.RoleLeader))
	if p.Self != p.Job.Parties()[0] {
		m, err := fdskl.NewPassive(setup.Setup, in, fdskl.Identity{Keys: keys})
		if err != nil {
			return nil, err
		}
		return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error { return nil }}, nil
	}
	d := newDecider(o, spec)
	m, err := fdskl.NewActive(setup.Setup, in, fdskl.Identity{Sign: setup.Sign, Keys: keys}, d)
	if err != nil {
		return nil, err
	}
	return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error {
		p.vertical.decisions = d.decisions
		return nil
	}}, nil
}

// decider asks for the phases of new rows, some rows at a time, and keeps the
// decisions only.
type decider struct {
	coefficients     linalg.Matrix[float64]
	mean             float64
	rows, directions int
	most             int                     // directions of one request
	table            *linear.Phases[float64] // of as many rows as are asked for at a time
	batch            fdskl.Span              // rows under way
	last             fdskl.Span              // directions of the last request
	decisions        linalg.Matrix[float64]  // rows x outputs
}

// phasesAtOnce bounds the bytes of phases that a decider holds, or its rows.
const (
	phasesAtOnce  = 1 << 26
	deciderAtOnce = 1 << 12
)

func newDecider(o *Portion, s fdskl.Spec) *decider {
	size := s.Bits / 8
	atOnce := max(1, min(deciderAtOnce, phasesAtOnce/(s.Directions*size), s.Rows))
	d := &decider{
		coefficients: o.coefficients, mean: o.mean, rows: s.Rows, directions: s.Directions, most: protocol.MaxChunkBytes / size,
		table:     linear.NewPhases[float64](atOnce, s.Directions, s.Bits),
		decisions: linalg.New[float64](s.Rows, o.coefficients.Rows),
	}
	if job.As[*fdsklKeys](o.Job.Protocol).Training != cachedTraining {
		d.table = d.table.Unscaled()
	}
	return d
}

// Next implements [fdskl.Schedule].
func (d *decider) Next() (fdskl.Request, bool) {
	next := d.last.First + d.last.Count
	if d.batch.Count == 0 || next == d.directions {
		d.decide()
		first := d.batch.First + d.batch.Count
		d.batch, next = fdskl.Span{First: first, Count: min(d.table.Rows(), d.rows-first)}, 0
	}
	d.last = fdskl.Span{First: next, Count: min(d.most, d.directions-next)}
	return fdskl.Request{Rows: []fdskl.Span{d.batch}, Directions: d.last}, d.batch.Count > 0
}

// Answer implements [fdskl.Schedule].
func (d *decider) Answer(rows []int, words []byte) {
	d.table.Put(words, rows[0]-d.batch.First, len(rows), d.last.First, d.last.Count)
}

// decide reads the decisions of the rows under way.
func (d *decider) decide() {
	u := linear.Decide(part[float64]{d.table, 0, d.batch.Count}, d.coefficients)
	for i := range d.batch.Count {
		for k := range u.Rows {
			d.decisions.Row(d.batch.First + i)[k] = u.Row(k)[i] + d.mean
		}
	}
}
