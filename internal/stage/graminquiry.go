package stage

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/method/sums"

	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/broadcast"
	"github.com/mercer-fl/mercer/protocol/gram"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// supportStage tells the parties which training rows are in the model, whose
// columns they keep: a bit for each row.
func supportStage(j *job.Job, c Cast) Stage {
	return tellStage("keep", c, telling{
		length: func(k Known) int { return 4 + (trainingRows(j, k)+7)/8 },
		body:   (*Server).tellSupport,
		party: func(p *Party, body []byte, s *protocol.Session) error {
			if err := p.toldSupport(body); err != nil {
				return toldWrong(s.With(protocol.RoleServer)[0], "%w", err)
			}
			return nil
		},
	})
}

// trainingRows is how many of the common rows are not held out.
func trainingRows(j *job.Job, k Known) int {
	if len(k.Declared.list) == 0 {
		return 0
	}
	train, _, err := heldOutSizes(j, k.Declared.list[0].rows)
	if err != nil {
		return 0 // no job gets as far
	}
	return train
}

// tellSupport is the number of the model's outputs, and which rows it is over.
func (s *Server) tellSupport() []byte {
	var w wire.Writer
	w.Uint32(uint32(s.vertical.basis.Outputs))
	bits := make([]byte, (trainingRows(s.Job, s.Known())+7)/8)
	for _, place := range s.fitted.Support {
		bits[place/8] |= 1 << (place % 8)
	}
	w.Fixed(bits)
	return w.Bytes()
}

// makeRowless is the model as the coordinator keeps it.
func (s *Server) makeRowless(context.Context, Reporter) error {
	dot, support := s.vertical.task.Gram, s.fitted.Support
	spec := model.RowlessSpec{Kernel: s.choice.Job.Kernel.Spec(), Head: s.fitted.Head}
	for _, i := range support {
		spec.Squares = append(spec.Squares, dot.Row(i)[i])
	}
	if spec.Head.Kind == model.GP {
		spec.Dot = linalg.New[float64](len(support), len(support))
		for a, i := range support {
			for b, k := range support {
				spec.Dot.Row(a)[b] = dot.Row(i)[k]
			}
		}
	}
	m, err := model.NewRowless(spec)
	if err != nil {
		return err
	}
	s.vertical.rowless, s.vertical.basis.Rows, s.vertical.basis.Outputs = m, m.Rows(), m.Outputs()
	return nil
}

// toldSupport notes which rows to keep.
func (p *Party) toldSupport(body []byte) error {
	r := wire.NewReader(body)
	outputs, bits := int(r.Uint32()), r.Rest()
	if err := r.Close("stage: support"); err != nil {
		return err
	}
	var places []int
	for i := range 8 * len(bits) {
		if bits[i/8]>>(i%8)&1 == 1 {
			places = append(places, i)
		}
	}
	if n := trainingRows(p.Job, p.Known()); len(places) == 0 || places[len(places)-1] >= n || outputs < 1 || outputs > maxOutputs {
		return fmt.Errorf("a model of %d outputs over %d of %d rows", outputs, len(places), n)
	}
	p.vertical.support, p.vertical.outputs = places, outputs
	return nil
}

// planProductsOfNew: align, declare, add up the products of new rows with the
// model's, and tell the asker what the coordinator's model says.
func planProductsOfNew(j *job.Job, c Cast, asker string, b Basis) ([]Stage, error) {
	layout := func(d declared) (gram.Params, error) { return crossParams(d, b) }
	plan, err := alignStages(j, c, c.asking(asker, func(d declared) error {
		p, err := layout(d)
		if err == nil {
			err = sums.Check(len(c.Parties), summed(p))
		}
		return err
	}))
	if err != nil {
		return nil, err
	}
	sum := sumStage("protocol", c, summing{
		epoch: func(k Known) string { return hex.EncodeToString(k.Declared.digest[:]) },
		groups: func(k Known) ([]secagg.Group, error) {
			p, err := layout(k.Declared)
			return summed(p), err
		},
		party: (*Party).partOfNew, server: (*Server).productsOfNew,
	})
	sum.Session.Purpose, sum.Session.Parent = "predict", b.Parent
	sum.Session.Release = func(p *Party) method.Release { return p.release(method.ReleaseProducts, c, p.split.Set) }
	return append(plan, sum, answerStage(c, asker, b)), nil
}

// crossParams is the arithmetic between new rows and a model's.
func crossParams(d declared, b Basis) (gram.Params, error) {
	if len(d.list) == 0 {
		return gram.Params{}, errUndeclared
	}
	p, err := gram.NewCrossParams(d.holders(), b.Rows, d.list[0].rows)
	if err != nil {
		return gram.Params{}, fault.BadInput(err)
	}
	return p, nil
}

// withModel has the model's rows and then the new ones.
func (p *Party) withModel() linalg.Matrix[float64] {
	kept := p.vertical.portion.rows
	n, width := p.rows.Shape()
	all := linalg.New[float64](kept.Rows+n, width)
	linalg.Gather(all.Panel(0, kept.Rows), kept, 0)
	linalg.Gather(all.Panel(kept.Rows, all.Rows), p.rows, 0)
	return all
}

// partOfNew is a party's term of the sum.
func (p *Party) partOfNew(setup Setup) (*Run, error) {
	layout, err := crossParams(p.vertical.declared, p.vertical.portion.Basis)
	if err != nil {
		return nil, err
	}
	part, err := layout.Part(p.withModel(), slices.Index(p.Job.Parties(), p.Self))
	if err != nil {
		return nil, tooLarge(err)
	}
	return sums.Client(setup, part, func() {})
}

// productsOfNew adds the terms up and decides.
func (s *Server) productsOfNew(setup Setup) (*Run, error) {
	layout, err := crossParams(s.vertical.declared, s.vertical.basis)
	if err != nil {
		return nil, err
	}
	return sums.Server(setup, gramRoom(), func(sums [][]int64) error {
		cross, squares, err := layout.Cross(sums)
		if err != nil {
			return err
		}
		s.vertical.answer, err = s.vertical.rowless.Decisions(cross, squares)
		return err
	})
}

// answerStage tells the asker, and nobody else, what the model says.
func answerStage(c Cast, asker string, b Basis) Stage {
	return Stage{Name: "answer", Session: following(Session{
		Protocol: broadcast.Name, Version: broadcast.Version, Purpose: "predict", Parent: b.Parent,
		Members: []protocol.Member{{Name: c.Coordinator, Role: protocol.RoleServer}, {Name: asker, Role: protocol.RoleParty}},
		party: func(p *Party, setup Setup) (*Run, error) {
			m, err := broadcast.NewParty(setup.Setup)
			if err != nil {
				return nil, err
			}
			return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error { return p.answered(m.Body(), c.Coordinator) }}, nil
		},
		server: func(s *Server, setup Setup) (*Run, error) {
			var w wire.Writer
			for i := range s.vertical.answer.Rows {
				w.Float64s(s.vertical.answer.Row(i))
			}
			m, err := broadcast.NewServer(setup.Setup, w.Bytes())
			if err != nil {
				return nil, err
			}
			return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error { return nil }}, nil
		},
	}, func(k Known) ([]byte, error) {
		if len(k.Declared.list) == 0 {
			return nil, errUndeclared
		}
		return broadcast.Encode(8 * b.Outputs * k.Declared.list[0].rows), nil
	})}
}

// answered takes the coordinator's decisions over.
func (p *Party) answered(body []byte, coordinator string) error {
	r := wire.NewReader(body)
	m := linalg.New[float64](len(p.vertical.order), p.vertical.portion.Basis.Outputs)
	r.Float64s(m.Data)
	err := r.Close("stage: answer")
	if err == nil && slices.ContainsFunc(m.Data, func(v float64) bool { return v-v != 0 }) {
		err = errors.New("stage: a decision that is not finite")
	}
	if err != nil {
		return protocol.Blame(coordinator, protocol.KindMalformed, err)
	}
	p.vertical.decisions = m
	return nil
}
