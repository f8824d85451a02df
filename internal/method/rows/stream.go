package rows

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// Form describes the changes to rows before they enter sums: replaced values, the order of the columns,
// and the scaling. The zero value changes nothing.
type Form struct {
	Steady  []dataset.NearConstant // columns that are nearly constant, in the order of the file
	Cut     bool                   // numbers are cut to a magnitude at which their features stay finite
	Order   []int                  // for each column of the common order, its index in the file; nil as in the file
	Scaling scale.Scaling          // scaling of the columns in the common order; empty without scaling
}

// Rows returns the rows of a table in this form. It copies none.
func (f Form) Rows(x dataset.Table) linalg.Rows {
	var rows linalg.Rows = level{dataset.RowsOf(x), f.Steady}
	if f.Cut {
		rows = cut{rows}
	}
	if f.Order != nil {
		rows = ordered{rows, f.Order}
	}
	if len(f.Scaling.Offset) > 0 {
		rows = f.Scaling.Rows(rows)
	}
	return rows
}

// Shard is a table, or a part of a table, with the settings that decide what its rows add to a party's sums.
type Shard struct {
	Name  string
	Table method.Stream
	Count int         // number of rows
	Held  method.Bits // held-out rows of the shard
	Form  Form
}

// Each calls use with the rows of one side and their labels, block by block. The labels are those
// that the job learns from; they are nil if the job has none. use can return [method.ErrEnough] to end the
// reading.
func (s Shard) Each(j *job.Job, heldOut bool, use func(rows linalg.Rows, labels []string) error) error {
	return s.blocks(j, func(before int, block *dataset.Set) error {
		index := s.side(block, before, heldOut)
		if len(index) == 0 {
			return nil
		}
		return use(linalg.Pick(s.Form.Rows(block.X), index), linalg.At(block.Labels, index))
	})
}

// blocks calls use with each block, whose labels are those that the job learns from.
func (s Shard) blocks(j *job.Job, use func(before int, block *dataset.Set) error) error {
	enough := false
	n, err := s.Table.Each(func(before int, block *dataset.Set) error {
		block, err := labelled(j, block)
		if err != nil {
			return err
		}
		err = use(before, block)
		enough = errors.Is(err, method.ErrEnough)
		return err
	})
	if err == nil && !enough && n != s.Count {
		err = fmt.Errorf("%s had %d rows when the job read it first, and has %d now; do not change a table while a job uses it", s.Name, s.Count, n)
	}
	return err
}

// side lists the rows of a block that are held out, or those in training.
func (s Shard) side(block *dataset.Set, before int, heldOut bool) []int {
	rows := make([]int, 0, block.X.Rows())
	for i := range block.X.Rows() {
		if s.Held.Has(before+i) == heldOut {
			rows = append(rows, i)
		}
	}
	return rows
}

// streamed holds the results of the first pass over a table. Apart from one bit a row, its memory
// grows with columns and classes only.
type streamed struct {
	Shard
	head   *dataset.Set // name and columns, without rows
	census census
}

// ofStream is like [Of] for a table that is read in blocks. The job has no schema.
func ofStream(c method.Instance, self string, t method.Table) (*Party, error) {
	if why := unstreamable(c.Job, t); why != "" {
		return nil, fmt.Errorf("rows: a table is read in blocks, but %s", why)
	}
	s := &streamed{Shard: Shard{Table: t.Stream}}
	if err := s.first(c, self, t); err != nil {
		return nil, err
	}
	if err := checkSideSizes(c.Limits, c.Job, &s.census); err != nil {
		return nil, err
	}
	return &Party{Instance: c, Self: self, Split: method.Split{Set: s.head}, stream: s, label: t.Label, edition: t.Edition}, nil
}

// unstreamable says why a job cannot read a table in blocks, or returns "".
func unstreamable(j *job.Job, t method.Table) string {
	switch {
	case j.Data.Schema != nil || j.Data.Fit.Named():
		return "the job prepares it by a schema"
	case t.HeldOut != nil || j.Data.Test.Every > 0:
		return "the job chooses the held-out rows by their place"
	case GroupsFolds(j):
		return "the job divides it into folds"
	}
	return ""
}

// first reads the table for the first time: it checks the rows, holds rows out, counts both sides and
// finds the columns that are nearly constant.
func (s *streamed) first(c method.Instance, self string, t method.Table) error {
	s.census = newCensus(c.Limits.ClassRows)
	var spread spread
	var tallies []dataset.Tally
	tested := c.Job.Data.Test.Party == self // then the held-out rows decide which values are rare
	n, err := s.Table.Each(func(before int, block *dataset.Set) error {
		if s.head == nil {
			s.head = headOf(block)
			tallies = make([]dataset.Tally, block.X.Cols())
			for k := range tallies {
				tallies[k].Least = prepare.Least
			}
			if err := method.CheckNames(block); err != nil {
				return err
			}
		}
		some := t
		some.Set = block // the key holds rows out as they are read, before the job takes their labels
		block, err := labelled(c.Job, block)
		if err != nil {
			return err
		}
		if block.Groups != nil {
			return errors.New("rows: a table with groups cannot be read in blocks")
		}
		if !c.Job.Data.Private {
			err = fault.Magnitude.Of(dataset.CheckMagnitude(block))
		}
		if err != nil {
			return err
		}
		test, err := heldOutOfBlock(c.Job, self, some, before)
		if err != nil {
			return err
		}
		for _, i := range test {
			s.Held.Set(before + i)
		}
		s.census.add(block, before, s.Held)
		if c.Job.Data.Private {
			return nil // with privacy, no refusal and no replaced value depends on a row
		}
		if c.Job.Data.Scale == job.None {
			spread.add(block.X)
		}
		tallyRows(tallies, block.X, s.side(block, before, tested))
		return nil
	})
	switch {
	case err != nil:
		return err
	case s.head == nil:
		return errors.New("the table has no rows; give at least one")
	case t.HeldBits != nil && n != t.StreamRows:
		return fault.BadInputf("the edition has %d rows, but the catalogue's entry now reads %d; undo the change of the entry, or freeze the table again", t.StreamRows, n)
	}
	s.head.Labels = s.census.labels
	s.Name, s.Count, s.Form.Steady, s.Form.Cut = s.head.Name, n, steadyOf(tallies), c.Job.Data.Private
	return fault.Columns.Of(spread.check(s.head))
}

// headOf returns a set with the name and the columns of a block and without its rows.
func headOf(block *dataset.Set) *dataset.Set {
	return &dataset.Set{Name: block.Name, Columns: block.Columns, X: dataset.NewDense(linalg.New[float64](0, block.X.Cols()))}
}

// heldOutOfBlock returns the held-out rows of the block t.Set. The argument before is the number of rows of
// the table that precede the block.
func heldOutOfBlock(j *job.Job, self string, t method.Table, before int) ([]int, error) {
	if t.HeldBits == nil || j.Data.Test.Fraction == 0 { // the edition's own rows serve a held-out fraction only
		return heldOut(j, self, t)
	}
	var test []int
	for i := range t.Set.X.Rows() {
		if t.HeldBits.Has(before + i) {
			test = append(test, i)
		}
	}
	return test, nil
}

// tallyRows counts the values of some rows in all columns that can still be nearly constant.
func tallyRows(tallies []dataset.Tally, x dataset.Table, rows []int) {
	open := make([]int, 0, len(tallies))
	for j := range tallies {
		if !tallies[j].Varies() {
			open = append(open, j)
		}
	}
	if len(open) == 0 {
		return
	}
	row := make([]float64, len(tallies))
	for _, i := range rows {
		x.Row(i, row)
		for _, j := range open {
			tallies[j].Add(row[j], 1)
		}
	}
}

func steadyOf(tallies []dataset.Tally) (list []dataset.NearConstant) {
	for j := range tallies {
		if value, few, steady := tallies[j].Steady(); steady {
			list = append(list, dataset.NearConstant{Column: j, Value: value, Few: few})
		}
	}
	return list
}

// ordered reads rows with their columns in another order.
type ordered struct {
	linalg.Rows
	order []int
}

// ReadRow reads a row and puts its columns into the order. It implements [linalg.Rows].
func (o ordered) ReadRow(i int, dst []float64) {
	row := make([]float64, len(dst))
	o.Rows.ReadRow(i, row)
	for k, j := range o.order {
		dst[k] = row[j]
	}
}

// arrange puts the columns into another order. Argument order holds indices in the present order.
func (s *streamed) arrange(order []int) {
	if s.Form.Order != nil {
		order = linalg.At(s.Form.Order, order)
	}
	s.Form.Order = order
}

// Shard returns the party's table for passes over its rows, in its present form. It is for a table
// that is read in blocks; ok is false for a table in memory.
func (p *Party) Shard() (s Shard, ok bool) {
	if p.stream == nil {
		return Shard{}, false
	}
	s = p.stream.Shard
	s.Form.Scaling = p.Scaling
	return s, true
}

// Count returns the number of the party's held-out or training rows.
func (p *Party) Count(heldOut bool) int {
	if p.stream != nil {
		return p.stream.census.side(heldOut).rows
	}
	n := 0
	for _, test := range p.Split.Test {
		if test == heldOut {
			n++
		}
	}
	return n
}

// Each calls use with the party's held-out or training rows, in the form that enters sums, and their
// labels. The labels are nil if the job has none. Each calls use once for a table in memory, and once
// for each block with such rows of a table that is read in blocks. use can return [method.ErrEnough] to
// end the reading.
func (p *Party) Each(heldOut bool, use func(rows linalg.Rows, labels []string) error) error {
	if s, ok := p.Shard(); ok {
		return s.Each(p.Job, heldOut, use)
	}
	index := p.Split.Rows(heldOut)
	common, err := p.Common()
	if err != nil {
		return err
	}
	err = use(linalg.Pick(common, index), linalg.At(p.Split.Set.Labels, index))
	if errors.Is(err, method.ErrEnough) {
		return nil
	}
	return err
}

// Sample returns the party's first held-out or training rows, at most the given number, in the form
// that enters sums.
func (p *Party) Sample(heldOut bool, most int) (linalg.Rows, error) {
	out := linalg.New[float64](min(most, p.Count(heldOut)), p.Width())
	at := 0
	err := p.Each(heldOut, func(rows linalg.Rows, _ []string) error {
		n, _ := rows.Shape()
		n = min(n, out.Rows-at)
		linalg.Gather(out.Panel(at, at+n), rows, 0)
		if at += n; at == out.Rows {
			return method.ErrEnough
		}
		return nil
	})
	return out, err
}

// summarize returns the statistics of the training rows for the common scaling.
func (s *streamed) summarize(j *job.Job, m scale.Method) (scale.Statistics, error) {
	all := scale.NewSummary(s.head.X.Cols(), m)
	if err := s.Each(j, false, func(rows linalg.Rows, _ []string) error { return all.Add(rows) }); err != nil {
		return scale.Statistics{}, err
	}
	return all.Statistics()
}

// rare lists the columns in which rare values are replaced, in the common order.
func (s *streamed) rare() (list []prepare.Rare) {
	for k := range s.head.X.Cols() {
		for _, c := range s.Form.Steady {
			if at := s.place(k); c.Column == at && c.Few > 0 {
				list = append(list, prepare.Rare{Column: columnName(s.head, at), Rows: c.Few})
			}
		}
	}
	return list
}

// place returns the index in the file of a column of the common order.
func (s *streamed) place(column int) int {
	if s.Form.Order == nil {
		return column
	}
	return s.Form.Order[column]
}

// released calls use with each block of the table and its rows of one side, for the ledger.
func (s *streamed) released(j *job.Job, heldOut bool) func(use func(before int, block *dataset.Set, among []int) error) error {
	return func(use func(before int, block *dataset.Set, among []int) error) error {
		return s.blocks(j, func(before int, block *dataset.Set) error {
			return use(before, block, s.side(block, before, heldOut))
		})
	}
}

// spread finds out whether the numbers of an unscaled column are far from zero in comparison with
// their spread; see [dataset.Set.CheckSpread]. It merges the means and the squared deviations of
// blocks (Chan, Golub and LeVeque 1983).
type spread struct {
	rows          float64
	mean, squares []float64
}

func (s *spread) add(x dataset.Table) {
	n, width := x.Rows(), x.Cols()
	if s.mean == nil {
		s.mean, s.squares = make([]float64, width), make([]float64, width)
	}
	mean, squares, row := make([]float64, width), make([]float64, width), make([]float64, width)
	for i := range n {
		for j, v := range x.Row(i, row) {
			mean[j] += v / float64(n)
		}
	}
	for i := range n {
		for j, v := range x.Row(i, row) {
			squares[j] += (v - mean[j]) * (v - mean[j])
		}
	}
	share := float64(n) / (s.rows + float64(n))
	for j := range mean {
		d := mean[j] - s.mean[j]
		s.mean[j] += d * share
		s.squares[j] += squares[j] + d*d*s.rows*share
	}
	s.rows += float64(n)
}

// check refuses a table with a column far from zero.
func (s *spread) check(head *dataset.Set) error {
	for j := range s.mean {
		if err := head.CheckSpreadOf(j, s.mean[j], math.Sqrt(s.squares[j]/s.rows), int(s.rows)); err != nil {
			return err
		}
	}
	return nil
}
