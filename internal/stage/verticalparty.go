package stage

import (
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/spell"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/gram"
	"github.com/mercer-fl/mercer/protocol/psi"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// verticalParty is what a holder of columns has of a job. Once the rows are
// aligned, the split has them in the common order, training rows first.
type verticalParty struct {
	table    *dataset.Set // as it was brought
	own      declaration
	declared declared

	// Of protocol fdskl.
	directions directionsOf
	training   training // at the label holder; nil before
	learnt     *learnt  // at the label holder, at the end

	// Of protocol gram, where predictions are open.
	support []int // places of the rows in the model
	outputs int

	// Of a question about new rows, in which the split has those rows.
	portion   *Portion
	order     []int                  // of the table, by place in the common order
	decisions linalg.Matrix[float64] // rows x outputs, at the asker
}

// newVerticalParty prepares the table of a holder of columns.
func newVerticalParty(j *job.Job, self string, t Table) (*Party, error) {
	set, err := Columns(j, self, t.Set)
	if err == nil {
		set, err = ownColumns(j, self, set)
	}
	if err != nil {
		return nil, err
	}
	if err := set.Validate(); err != nil {
		return nil, err
	}
	if err := method.CheckNames(set); err != nil {
		return nil, err
	}
	p := &Party{Job: j, Self: self, label: t.Label, vertical: verticalParty{table: set}}
	if is[*gramKeys](j) { // phases tell nothing of a grid
		p.grid = method.GridOf(set.X)
	}
	return p, nil
}

// Columns returns a party's table with the columns that the job says it uses.
func Columns(j *job.Job, party string, set *dataset.Set) (*dataset.Set, error) {
	names := j.Columns(party)
	if names == nil {
		return set, nil
	}
	if set.Columns == nil {
		return nil, fmt.Errorf("%s has no names of columns, and the job names those that %s uses; give the file a header, or leave %s out of the partition's columns", set.Name, party, party)
	}
	var chosen []int
	for _, name := range names {
		at := slices.Index(set.Columns, name)
		if at < 0 {
			hint := "see mercer data info"
			if near, ok := spell.Nearest(name, set.Columns...); ok {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return nil, dataset.NoColumn(name, "%s has no column %q, which the job names for party %s in its partition; %s", set.Name, name, party, hint)
		}
		chosen = append(chosen, at)
	}
	return set.SelectColumns(chosen), nil
}

// ownColumns checks labels and ids. Only the first party's labels are asked for;
// what others have stays behind.
func ownColumns(j *job.Job, self string, set *dataset.Set) (*dataset.Set, error) {
	if set.IDs == nil {
		return nil, fmt.Errorf("%s has no ids by which its rows belong to those of other parties; add id: and the name of their column", set.Name)
	}
	if n := len(set.IDs); n > psi.MaxIDs {
		return nil, fmt.Errorf("%s has %d rows; at most %d can be aligned", set.Name, n, psi.MaxIDs)
	}
	if !j.Labels(self) {
		return &dataset.Set{Name: set.Name, X: set.X, IDs: set.IDs, Columns: set.Columns}, nil
	}
	for i, label := range set.Labels {
		if len(label) > method.MaxLabelBytes {
			return nil, fmt.Errorf("%s: the label of row %d has %d bytes; at most %d are allowed", set.Name, i+1, len(label), method.MaxLabelBytes)
		}
	}
	set, err := method.TakeLabels(j, set)
	if err != nil || set.Labels == nil {
		return set, err
	}
	return set, method.CheckLabels(j, set)
}

// aligner finds out which rows all parties have.
func (p *Party) aligner(setup Setup, params psi.Params) (*Run, error) {
	m, err := psi.NewParty(setup.Setup, params, idBytes(p.vertical.table.IDs))
	if err != nil {
		return nil, err
	}
	return &Run{Machine: m, InputHash: m.InputHash(), Announced: m.Announced, Finish: func() error {
		if p.vertical.portion != nil {
			return p.alignNew(m.Order(), m.Key())
		}
		return p.align(m.Order(), m.Key())
	}}, nil
}

func idBytes(ids []string) [][]byte {
	list := make([][]byte, len(ids))
	for i, id := range ids {
		list[i] = []byte(id)
	}
	return list
}

// align takes the rows that all parties have, in the common order, and commits to
// them under the parties' key. It holds rows out and scales: every column belongs to
// one party, so nobody else is asked.
func (p *Party) align(order []int, key [32]byte) error {
	if err := p.Floors.CheckRows(p.Job.Protocol.Name(), len(order)); err != nil {
		return err
	}
	train, test, err := heldOutAligned(p.Job, len(order), key)
	if err != nil {
		return fault.BadInput(err)
	}
	rows := make([]int, 0, len(order))
	for _, i := range slices.Concat(train, test) {
		rows = append(rows, order[i])
	}
	p.split.Set = p.vertical.table.Subset(rows)
	p.split.Test = heldOutLast(len(train), len(test))
	p.rows = dataset.RowsOf(p.split.Set.X)
	if p.Job.Data.Scale != job.None {
		if p.scaling, err = scale.Pooled(p.training(), scale.Method(p.Job.Data.Scale)); err != nil {
			return &fault.Error{Code: fault.CodeBadInput, Err: err, Public: "its columns cannot be scaled; its own log says why"}
		}
		p.rows = p.scaling.Rows(p.rows)
	}
	own := declaration{rows: len(order), alignment: psi.Align(key, idBytes(p.split.Set.IDs), dataset.Complement(len(rows), nil))}
	p.vertical.own, err = p.declare(own)
	return err
}

// declare adds to a declaration what others must know of the columns: no more
// than the protocol needs.
func (p *Party) declare(d declaration) (declaration, error) {
	if is[*fdsklKeys](p.Job) {
		d.columns.Columns = p.width()
		if unit := p.Job.Kernel.GammaUnit; unit != "" {
			d.spread = coarse(spreadOf(p.training(), unit))
		}
		return d, nil
	}
	var err error
	if d.columns, err = holderOf(p.rows); err != nil {
		return d, tooLarge(err)
	}
	d.labels = len(encodeLabels(p.split.Set.Labels))
	return d, nil
}

// Aligned returns the ids of a job between holders of columns in the order of the
// job, held-out rows last; nil of other jobs. Who reads the job's decisions needs
// it.
func (p *Party) Aligned() []string {
	if p == nil || p.Job.Data.Partition.By != job.Columns || p.split.Set == nil {
		return nil
	}
	return p.split.Set.IDs
}

// tooLarge is what is wrong with values, which only their owner's log quotes.
func tooLarge(err error) error {
	return &fault.Error{Code: fault.CodeBadInput, Err: err, Public: gram.ErrTooLarge.Error()}
}

// heldOutLast says which rows are held out where training rows come first.
func heldOutLast(train, test int) []bool {
	held := make([]bool, train+test)
	for i := train; i < len(held); i++ {
		held[i] = true
	}
	return held
}

// holderOf is what a holder says about its columns, of all its rows.
func holderOf(rows linalg.Rows) (gram.Holder, error) {
	n, width := rows.Shape()
	h := gram.Holder{Columns: width, Whole: true}
	row, most := make([]float64, width), 0.0
	for i := range n {
		rows.ReadRow(i, row)
		for _, x := range row {
			most = math.Max(most, math.Abs(x))
			h.Whole = h.Whole && x == math.Trunc(x)
		}
	}
	var err error
	h.Exponent, err = gram.Exponent(most)
	return h, err
}
