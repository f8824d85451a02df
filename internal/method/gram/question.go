package gram

import (
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/gram"
)

// inquirer answers queries. It computes predictions from the inner products between new rows and
// the model's rows.
type inquirer struct {
	columns.Inquirer
	model *model.Rowless // nil except at the coordinator
}

// asking is one step of a prediction query.
type asking = method.StepOf[helper, answerer, columns.Declared]

func answering(o *inquirer) method.AnswersOf[inquirer, helper, answerer, columns.Declared] {
	return method.AnswersOf[inquirer, helper, answerer, columns.Declared]{
		Kept:  o,
		Erase: func(o *inquirer) { o.Inquirer.Erase() }, Among: func(o *inquirer, q method.Question) []string { return o.Inquirer.Among(q) },
		Fits:  func(o *inquirer, q method.Question, set *dataset.Set) error { return o.Inquirer.Fits(q, set) },
		Steps: (*inquirer).steps, NewParty: (*inquirer).party, NewServer: (*inquirer).server,
		Public: func(h *helper) columns.Declared { return h.Declared }, PublicServer: func(a *answerer) columns.Declared { return a.Declared },
		Answer: func(h *helper) (*method.Prediction, error) { return h.Helper.Answer() },
	}
}

// steps returns the steps of a query. The parties align the new rows, declare them, and add up the
// products of new rows with the model's rows. The coordinator sends the querying party the
// predictions of its model.
func (o *inquirer) steps(q method.Question) ([]asking, error) {
	if err := o.Asks(q, func(method.Question) error { return nil }); err != nil {
		return nil, err
	}
	plan, err := columns.StepsOfNew(q, columns.AsNew[helper, answerer]{
		Helper: func(h *helper) *columns.Helper { return h.Helper }, Server: func(a *answerer) *columns.Server { return &a.Server },
		Declare: (*helper).declare, Usable: crossArithmetic(o.Basis).Usable, Lets: (*helper).products,
	})
	if err != nil {
		return nil, err
	}
	sum := asking{Name: "protocol", Party: (*helper).sum, Server: (*answerer).summer, Releases: (*helper).products}
	sum.Session, sum.Follow = adding(q.Instance, crossArithmetic(o.Basis))
	sum.Session.Purpose, sum.Session.Parent = "predict", o.Basis.Parent
	return append(plan, sum, answerStep(q, o.Basis)), nil
}

// crossArithmetic returns the arithmetic for a query. It concerns the inner products between new
// rows and a model's rows.
func crossArithmetic(b columns.Basis) arithmetic {
	return arithmetic{func(holders []gram.Holder, rows int) (gram.Params, error) {
		return gram.NewCrossParams(holders, b.Rows, rows)
	}}
}

// answerStep returns the step in which the coordinator sends the model's decisions to the querying
// party only.
func answerStep(q method.Question, b columns.Basis) asking {
	return asking{Name: "answer", Session: &method.Session{
		Protocol: collective.BroadcastName, Version: collective.BroadcastVersion, Purpose: "predict", Parent: b.Parent,
		Members: sums.Served(q.Coordinator, []string{q.Asker}),
	}, Follow: method.From(func(d columns.Declared) ([]byte, error) {
		rows, err := d.Rows()
		return collective.EncodeBroadcast(8 * b.Outputs * rows), err
	}), Party: (*helper).hear, Server: (*answerer).tell, Releases: method.ReleasesNothing[helper]}
}

// helper is the state of a party during a query.
type helper struct {
	*columns.Helper
	arithmetic
}

func (o *inquirer) party(q method.Question, self string, t method.Table) (*helper, error) {
	h, err := o.HelperOf(q, self, t.Set)
	return &helper{h, crossArithmetic(o.Basis)}, err
}

func (h *helper) sum(setup method.Setup) (*method.Run, error) {
	return h.adder(setup, h.Declared, slices.Index(h.Job.Parties(), h.Self), h.withModel(), func() {})
}

func (h *helper) hear(setup method.Setup) (*method.Run, error) {
	return sums.Receiver(setup, h.answered)
}

func (h *helper) declare(d *columns.Declaration) error {
	return columns.DeclareProducts(d, h.withModel())
}

// withModel stacks the model's rows and the new rows, with the party's columns only. The model's
// rows come first.
func (h *helper) withModel() linalg.Matrix[float64] {
	kept := h.ModelPart.Rows
	n, width := h.Helper.Rows.Shape()
	all := linalg.New[float64](kept.Rows+n, width)
	linalg.Gather(all.Panel(0, kept.Rows), kept, 0)
	linalg.Gather(all.Panel(kept.Rows, all.Rows), h.Helper.Rows, 0)
	return all
}

func (h *helper) products() ([]method.Release, error) {
	return h.Releases(method.ReleaseProducts)
}

// answered stores the decisions that the coordinator has sent.
func (h *helper) answered(body []byte) error {
	r := wire.NewReader(body)
	n, _ := h.Helper.Rows.Shape()
	m := linalg.New[float64](n, h.ModelPart.Basis.Outputs)
	r.Float64s(m.Data)
	err := r.Close("gram: answer")
	if err == nil && slices.ContainsFunc(m.Data, func(v float64) bool { return v-v != 0 }) {
		err = errors.New("gram: the answer has a decision that is not finite")
	}
	if err != nil {
		return protocol.Blame(h.Coordinator, protocol.KindMalformed, err)
	}
	h.Decisions = m
	return nil
}

// answerer is the state of the coordinator during a query.
type answerer struct {
	columns.Server
	arithmetic
	model  *model.Rowless
	answer linalg.Matrix[float64]
}

func (o *inquirer) server(q method.Question) (*answerer, error) {
	return &answerer{Server: columns.Server{Instance: q.Instance}, arithmetic: crossArithmetic(o.Basis), model: o.model}, nil
}

func (a *answerer) tell(setup method.Setup) (*method.Run, error) {
	var w wire.Writer
	for i := range a.answer.Rows {
		w.Float64s(a.answer.Row(i))
	}
	return sums.Sender(setup, w.Bytes())
}

// summer builds the machine that adds up the parties' products and computes the decisions.
func (a *answerer) summer(setup method.Setup) (*method.Run, error) {
	layout, err := a.Params(a.Declared)
	if err != nil {
		return nil, err
	}
	return sums.Server(setup, sumLimits(), func(sums [][]int64) error {
		cross, squares, err := layout.Cross(sums)
		if err != nil {
			return err
		}
		a.answer, err = a.model.Decisions(cross, squares)
		return err
	})
}
