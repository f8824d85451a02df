package columns

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// Inquirer is the state with which a member answers queries to a model. All parties of the job take part
// in a query. A method's own inquirer embeds it.
type Inquirer struct {
	ModelPart *ModelPart // the party's part of the model; nil at the coordinator
	Basis     Basis      // the facts about the model that all its members know
}

// Erase erases the model part's secrets.
func (o *Inquirer) Erase() {
	if o.ModelPart != nil {
		o.ModelPart.Erase()
	}
}

// Among lists the parties whose data a query needs.
func (o *Inquirer) Among(q method.Question) []string {
	if o.ModelPart != nil {
		return o.ModelPart.Job.Parties()
	}
	return q.Job.Parties()
}

// Fits returns an error if the table has no ids, or if its columns differ from the columns of the
// training table.
func (o *Inquirer) Fits(q method.Question, set *dataset.Set) error {
	_, err := o.ModelPart.usedColumns(q.Asker, set)
	return err
}

// Asks returns an error if the query does not match the model, or if the method's own check refuses
// the query.
func (o *Inquirer) Asks(q method.Question, check func(method.Question) error) error {
	// Compare both job files in the encoding of this program, because an earlier program can have
	// trained the model.
	if o.ModelPart != nil && !bytes.Equal(o.ModelPart.Job.Encode(), q.Job.Encode()) {
		return fault.Forbiddenf("the query's job file differs from the model's job file; both must be equal")
	}
	err := asks(q, check)
	if err != nil && o.ModelPart != nil {
		err = fault.BadInput(err)
	}
	return err
}

func asks(q method.Question, check func(method.Question) error) error {
	if !slices.Contains(q.Parties, q.Asker) {
		return fault.Publicf("columns: %s cannot query the model, because it took no part in the job", q.Asker)
	}
	if _, err := steps(q.Instance, "predict", byIDs(q.Job)); err != nil {
		return err
	}
	return check(q)
}

// usedColumns returns the table's columns that the model uses. It refuses a table without ids, or
// with other columns than the training table.
func (o *ModelPart) usedColumns(party string, set *dataset.Set) (*dataset.Set, error) {
	if set.IDs == nil {
		return nil, fmt.Errorf(`%s has no ids, which the parties need to match their rows; name the id column (--id for rows of a command, "id" in the catalogue)`, set.Name)
	}
	if o.Job.Data.Schema == nil { // with a schema, the table already has the prepared columns of the dictionary
		chosen, err := Chosen(o.Job, party, set)
		if err != nil {
			return nil, err
		}
		set = chosen
	}
	return method.LikeTraining(set, o.Width, o.Columns)
}

// Helper is the state of a party during a query about new rows. A method's own helper embeds it.
type Helper struct {
	method.Question
	Self      string
	ModelPart *ModelPart    // the party's part of the model
	Rows      linalg.Rows   // the scaled new rows that all parties have, in the common order
	Scaling   scale.Scaling // the scaling that was fitted in training
	Declared  Declared
	Decisions linalg.Matrix[float64] // the decisions, rows x outputs, at the querying party

	table *dataset.Set
	order []int // the table's indices of the new rows, listed in the common order
	own   Declaration
}

// HelperOf prepares a party for a query. The party needs its part of the model, and a table with
// the party's columns of the new rows. The helper has a copy of the model part's secrets, because
// the query can be withdrawn, and the retained state erased, while the helper's machine is built.
func (o *Inquirer) HelperOf(q method.Question, self string, set *dataset.Set) (*Helper, error) {
	set, err := o.ModelPart.usedColumns(self, set)
	if err != nil {
		return nil, err
	}
	q.Job = o.ModelPart.Job
	return &Helper{Question: q, Self: self, ModelPart: o.ModelPart.clone(), Scaling: o.ModelPart.Scaling, table: unlabelled(set)}, nil
}

// align selects the new rows that all parties have, in the common order. The declaration commits to
// these rows under the key that the parties share.
func (h *Helper) align(order []int, key [32]byte, declare func(*Declaration) error) error {
	set := h.table.Subset(order)
	h.order, h.Rows = order, dataset.RowsOf(set.X)
	if len(h.Scaling.Offset) > 0 {
		h.Rows = h.Scaling.Rows(h.Rows)
	}
	h.own = commit(set, key)
	return declare(&h.own)
}

// Releases lists what the party releases about the new rows. It returns none before the alignment.
func (h *Helper) Releases(kind method.ReleaseKind) ([]method.Release, error) {
	if h.order == nil {
		return nil, nil
	}
	return []method.Release{h.release(kind, h.table.Subset(h.order))}, nil
}

func (h *Helper) release(kind method.ReleaseKind, rows *dataset.Set) method.Release {
	r := h.Instance.Release(kind, h.Self, "", rows)
	r.Question = true
	return r
}

var errUnanswered = errors.New("columns: the query must have one decision for each aligned row, but its sessions did not compute them")

// Answer returns predictions for those rows of the querying party's table that all parties have, in
// the order of this table.
func (h *Helper) Answer() (*method.Prediction, error) {
	if h.Decisions.Rows == 0 || h.Decisions.Rows != len(h.order) {
		return nil, errUnanswered
	}
	// The answer lists the rows in the order of the table, not in the common order.
	places := dataset.Complement(len(h.order), nil)
	slices.SortFunc(places, func(a, b int) int { return h.order[a] - h.order[b] })
	a := &method.Prediction{Output: h.ModelPart.Output}
	sorted := linalg.New[float64](h.Decisions.Rows, h.Decisions.Cols)
	for i, place := range places {
		copy(sorted.Row(i), h.Decisions.Row(place))
		a.Rows = append(a.Rows, h.order[place])
	}
	return a, a.Take(sorted)
}
