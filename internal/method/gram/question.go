package gram

import (
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/broadcast"
	"github.com/mercer-fl/mercer/protocol/gram"
)

// inquirer answers questions by the products of new rows with the model's.
type inquirer struct {
	columns.Inquirer
	model *model.Rowless // at the coordinator
}

// Plan implements [method.Inquirer]: align, declare, add up the products of new rows
// with the model's, and tell the asker what the coordinator's model says.
func (o *inquirer) Plan(q method.Question) ([]method.Step, error) {
	return o.PlanOf(q, func(q method.Question) ([]method.Step, error) {
		sum := adding(q.Case, products(o.Basis))
		sum.Purpose, sum.Parent = "predict", o.Basis.Parent
		return []method.Step{{Name: "protocol", Session: sum}, answerStep(q, o.Basis)}, nil
	})
}

// products returns the arithmetic between new rows and the rows of a model.
func products(b columns.Basis) arithmetic {
	return arithmetic{func(holders []gram.Holder, rows int) (gram.Params, error) {
		return gram.NewCrossParams(holders, b.Rows, rows)
	}}
}

// answerStep tells the model's answer to the asker, and to nobody else.
func answerStep(q method.Question, b columns.Basis) method.Step {
	return method.Step{Name: "answer", Session: method.Following(method.Session{
		Protocol: broadcast.Name, Version: broadcast.Version, Purpose: "predict", Parent: b.Parent,
		Members: sums.Served(q.Coordinator, []string{q.Asker}),
	}, func(k method.Known) ([]byte, error) {
		rows, err := k.(columns.Declared).Rows()
		return broadcast.Encode(8 * b.Outputs * rows), err
	})}
}

// helper is a party of a question.
type helper struct {
	*columns.Helper
	arithmetic
}

// Party implements [method.Inquirer].
func (o *inquirer) Party(q method.Question, self string, t method.Table) (method.Party, error) {
	h, err := o.HelperOf(q, self, t.Set)
	return &helper{h, products(o.Basis)}, err
}

// Machine implements [method.Member].
func (h *helper) Machine(step string, setup method.Setup) (*method.Run, error) {
	switch step {
	case "protocol":
		return h.adder(setup, h.Declared, slices.Index(h.Job.Parties(), h.Self), h.withModel(), func() {})
	case "answer":
		return sums.Receiver(setup, h.answered)
	}
	return h.Helper.Machine(step, setup, h)
}

// Declare implements [columns.Guest].
func (h *helper) Declare(d *columns.Declaration) error {
	return columns.DeclareProducts(d, h.withModel())
}

// withModel has the model's rows and then the new ones.
func (h *helper) withModel() linalg.Matrix[float64] {
	kept := h.Portion.Rows
	n, width := h.Helper.Rows.Shape()
	all := linalg.New[float64](kept.Rows+n, width)
	linalg.Gather(all.Panel(0, kept.Rows), kept, 0)
	linalg.Gather(all.Panel(kept.Rows, all.Rows), h.Helper.Rows, 0)
	return all
}

// Disclose implements [method.Party].
func (h *helper) Disclose(step string) (method.Release, bool) {
	if step == "protocol" {
		return h.Release(method.ReleaseProducts)
	}
	return h.Helper.Disclose(step)
}

// answered takes the coordinator's decisions over.
func (h *helper) answered(body []byte) error {
	r := wire.NewReader(body)
	n, _ := h.Helper.Rows.Shape()
	m := linalg.New[float64](n, h.Portion.Basis.Outputs)
	r.Float64s(m.Data)
	err := r.Close("gram: answer")
	if err == nil && slices.ContainsFunc(m.Data, func(v float64) bool { return v-v != 0 }) {
		err = errors.New("gram: a decision that is not finite")
	}
	if err != nil {
		return protocol.Blame(h.Coordinator, protocol.KindMalformed, err)
	}
	h.Decisions = m
	return nil
}

// answerer is the coordinator of a question.
type answerer struct {
	columns.Server
	columns.Silent
	arithmetic
	model  *model.Rowless
	answer linalg.Matrix[float64]
}

// Server implements [method.Inquirer].
func (o *inquirer) Server(q method.Question) (method.Server, error) {
	return &answerer{Server: columns.Server{Case: q.Case}, arithmetic: products(o.Basis), model: o.model}, nil
}

// Machine implements [method.Member].
func (a *answerer) Machine(step string, setup method.Setup) (*method.Run, error) {
	switch step {
	case "protocol":
		return a.summer(setup)
	case "answer":
		var w wire.Writer
		for i := range a.answer.Rows {
			w.Float64s(a.answer.Row(i))
		}
		return sums.Sender(setup, w.Bytes())
	}
	return a.MachineOfNew(step, setup, a)
}

// summer adds the terms up and decides.
func (a *answerer) summer(setup method.Setup) (*method.Run, error) {
	layout, err := a.Params(a.Declared)
	if err != nil {
		return nil, err
	}
	return sums.Server(setup, room(), func(sums [][]int64) error {
		cross, squares, err := layout.Cross(sums)
		if err != nil {
			return err
		}
		a.answer, err = a.model.Decisions(cross, squares)
		return err
	})
}
