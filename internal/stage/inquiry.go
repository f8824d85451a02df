package stage

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/psi"
)

// PlanInquiry returns the stages that answer a question about new rows whose
// columns the parties of a finished job hold: the rows are aligned by their ids,
// and then one of them learns what the model says about those that all have.
func PlanInquiry(j *job.Job, c Cast, asker string, b Basis) ([]Stage, error) {
	if !slices.Contains(c.Parties, asker) {
		return nil, fmt.Errorf("stage: %s took no part in the job", asker)
	}
	switch j.Protocol.Values.(type) {
	case *fdsklKeys:
		if asker != c.Parties[0] {
			return nil, onlyFirst(c.Parties[0])
		}
		return planPhasesOfNew(j, c, asker, b)
	case *gramKeys:
		return planProductsOfNew(j, c, asker, b)
	}
	return nil, fmt.Errorf("stage: protocol %q answers no questions in several sessions", j.Protocol.Name())
}

// onlyFirst: where one party has the coefficients, nobody else gets decisions.
func onlyFirst(first string) error {
	return fmt.Errorf("only %s, which has the labels and the model's coefficients, can ask about new rows of this job", first)
}

// asking is how new rows are aligned. The asker shows the ids it asks about, which
// its operator has just chosen; of the others' tables everything can be looked for.
func (c Cast) asking(asker string, usable func(declared) error) aligning {
	return aligning{purpose: "predict", usable: usable, ids: func(p *Party) method.Release {
		if p.Self == asker {
			return method.Release{}
		}
		return p.release(method.ReleaseIDs, c, p.vertical.table)
	}}
}

// Answerer prepares a party to help with a question about new rows: its part of
// the model, and a table that has its columns of them.
func (o *Portion) Answerer(self string, set *dataset.Set) (*Party, error) {
	set, err := o.fitted(self, set)
	if err != nil {
		return nil, err
	}
	table := &dataset.Set{Name: set.Name, X: set.X, IDs: set.IDs, Columns: set.Columns}
	return &Party{Job: o.Job, Self: self, scaling: o.Scaling, vertical: verticalParty{table: table, portion: o}}, nil
}

// alignNew takes the new rows that all parties have, in the common order, and
// commits to them under the parties' key.
func (p *Party) alignNew(order []int, key [32]byte) error {
	p.vertical.order = order
	p.split.Set = p.vertical.table.Subset(order)
	p.rows = dataset.RowsOf(p.split.Set.X)
	if len(p.scaling.Offset) > 0 {
		p.rows = p.scaling.Rows(p.rows)
	}
	var err error
	p.vertical.own, err = p.declareNew(declaration{
		rows: len(order), alignment: psi.Align(key, idBytes(p.split.Set.IDs), dataset.Complement(len(order), nil)),
	})
	return err
}

// declareNew adds to a declaration what others must know of the columns.
func (p *Party) declareNew(d declaration) (declaration, error) {
	if is[*fdsklKeys](p.Job) {
		d.columns.Columns = p.width()
		return d, nil
	}
	var err error
	if d.columns, err = holderOf(p.withModel()); err != nil {
		return d, tooLarge(err)
	}
	return d, nil
}

var errUnanswered = errors.New("stage: the question has no answer")

// Answer is what the asker has learnt, once all sessions have ended well: about
// those rows of its table that all parties have, in the table's order.
func (p *Party) Answer() (*Prediction, error) {
	if p == nil {
		return nil, errUnanswered
	}
	v := &p.vertical
	if v.decisions.Rows == 0 || v.decisions.Rows != len(v.order) {
		return nil, errUnanswered
	}
	places := make([]int, len(v.order)) // in the common order, by place in the table
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return v.order[a] - v.order[b] })
	a := &Prediction{Reading: v.portion.Reading}
	sorted := linalg.New[float64](v.decisions.Rows, v.decisions.Cols)
	for i, place := range places {
		copy(sorted.Row(i), v.decisions.Row(place))
		a.Rows = append(a.Rows, v.order[place])
	}
	return a, a.Take(sorted)
}
