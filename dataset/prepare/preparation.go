package prepare

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/crypto/exactmath"
	"github.com/mercer-fl/mercer/linalg"
)

// Preparation turns frames of its schema into numbers. It fills gaps, transforms numbers, and writes
// categories as columns of 0 and 1, or ordered ones as one column of their ranks. It is immutable.
type Preparation struct {
	schema  Schema
	columns []fitted
	// Offset and Factor scale each prepared column x to (x - Offset) * Factor. They are nil without
	// scaling. One-hot, indicator and boolean columns have the offset 0 and the factor 1.
	Offset, Factor []float64
}

// fitted holds a column's values that are fitted on training rows, or that the schema gives.
type fitted struct {
	fill       float64 // code that fills gaps; the code of a gap if gaps are not filled
	categories []string
}

// Schema returns the descriptions of the columns before they are prepared.
func (p *Preparation) Schema() Schema { return p.schema }

// Fitted returns what training rows, or the schema itself, decided about a column of the schema: the code that
// fills gaps, which is NaN if gaps are not filled, and the categories.
func (p *Preparation) Fitted(column int) (fill float64, categories []string) {
	return p.columns[column].fill, p.columns[column].categories
}

// Follows returns an error unless the preparation has the schema and the scaling of a job.
func (p *Preparation) Follows(s Schema, scaling Scaling) error {
	if !slices.EqualFunc(p.schema, s, func(a, b Column) bool { return a.sameEncoding(b) }) {
		return errors.New("prepare: the preparation's schema differs from the job's")
	}
	if (p.Offset != nil) != (scaling != Unscaled) {
		return fmt.Errorf("prepare: the preparation has %d scaled columns, which does not fit the job's scaling %q", len(p.Offset), scaling)
	}
	return nil
}

// Of returns the preparation restricted to the columns of s, in the order of s.
func (p *Preparation) Of(s Schema) (*Preparation, error) {
	starts, at := make([]int, len(p.schema)+1), 0
	for j, c := range p.schema {
		starts[j], at = at, at+len(c.names(p.columns[j].categories))
	}
	starts[len(p.schema)] = at
	of := &Preparation{schema: s}
	for _, c := range s {
		j := p.schema.Index(c.Name)
		if j < 0 || !c.sameEncoding(p.schema[j]) {
			return nil, fmt.Errorf("prepare: the preparation has no column %s with the same description", dataset.Quote(c.Name))
		}
		of.columns = append(of.columns, p.columns[j])
		if p.Offset != nil {
			of.Offset = append(of.Offset, p.Offset[starts[j]:starts[j+1]]...)
			of.Factor = append(of.Factor, p.Factor[starts[j]:starts[j+1]]...)
		}
	}
	return of, nil
}

// Names returns the names of the prepared columns.
func (p *Preparation) Names() []string {
	var names []string
	for j, c := range p.schema {
		names = append(names, c.names(p.columns[j].categories)...)
	}
	return names
}

// Width returns the number of prepared columns.
func (p *Preparation) Width() int { return len(p.Names()) }

// Numbers lists the indices of the prepared columns that are scaled. The indicator that follows a
// column is not scaled.
func (p *Preparation) Numbers() []int {
	places, at := []int{}, 0
	for j, c := range p.schema {
		if c.Scaled() {
			places = append(places, at)
		}
		at += len(c.names(p.columns[j].categories))
	}
	return places
}

// Beside joins the preparations of several tables, whose columns are put side by side.
func Beside(list []*Preparation) *Preparation {
	all := &Preparation{}
	for _, p := range list {
		all.schema, all.columns = append(all.schema, p.schema...), append(all.columns, p.columns...)
		all.Offset, all.Factor = append(all.Offset, p.Offset...), append(all.Factor, p.Factor...)
	}
	return all
}

// names returns the names of the prepared columns that are made from one column.
func (c Column) names(categories []string) []string {
	var names []string
	if c.OneHot() {
		for _, word := range categories {
			names = append(names, c.prepared(word))
		}
		if c.Unknown == UnknownOther {
			names = append(names, c.prepared(otherName))
		}
	} else {
		names = append(names, c.Name)
	}
	if c.Missing == FillCategory || c.Indicator {
		names = append(names, c.prepared(missingName))
	}
	return names
}

// Apply returns the prepared numbers of a frame, without scaling. The frame must have the
// preparation's schema.
func (p *Preparation) Apply(f *Frame) (*dataset.Dense, error) {
	return p.apply(f, plainMasks(p.schema, p.categories(), f))
}

// apply replaces cells of a frame by the masks, and then prepares the frame.
func (p *Preparation) apply(f *Frame, cells []mask) (*dataset.Dense, error) {
	if !slices.EqualFunc(p.schema, f.schema, Column.readsLike) {
		return nil, fmt.Errorf("prepare: a table with columns %s cannot be prepared by a schema with columns %s", list(f.schema.Names()), list(p.schema.Names()))
	}
	m := linalg.New[float64](f.Rows(), p.Width())
	bad := make([]error, f.Rows()/blockRows+1)
	linalg.For(f.Rows(), blockRows, func(lo, hi int) {
		for i := lo; i < hi && bad[lo/blockRows] == nil; i++ {
			if err := p.row(f.row(i), cells, m.Row(i)); err != nil {
				bad[lo/blockRows] = fmt.Errorf("row %d: %w", i+1, err)
			}
		}
	})
	for _, err := range bad {
		if err != nil {
			return nil, err
		}
	}
	return dataset.NewDense(m), nil
}

// Prepare returns a set in which the numbers of Apply replace the frame.
func (p *Preparation) Prepare(set *dataset.Set, f *Frame) (*dataset.Set, error) {
	table, err := p.Apply(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", set.Name, err)
	}
	made := *set
	made.X, made.Columns, made.Filled = table, p.Names(), f.gappy()
	return &made, nil
}

// readsLike reports whether two columns have the same name, type and categories.
func (c Column) readsLike(other Column) bool {
	return c.Name == other.Name && c.Type == other.Type && slices.Equal(c.Categories, other.Categories)
}

// places returns the index of each word among the agreed categories, or unseen for a word that is
// not agreed.
func places(words, categories []string) []float64 {
	at := make([]float64, len(words))
	for code, word := range words {
		at[code] = float64(slices.Index(categories, word))
	}
	return at
}

// row writes the prepared columns of one row into dst.
func (p *Preparation) row(row []float64, cells []mask, dst []float64) error {
	for j, v := range row {
		c := &p.schema[j]
		n := len(c.names(p.columns[j].categories))
		if err := p.cell(c, p.columns[j], cells[j].cell(v), dst[:n]); err != nil {
			return fmt.Errorf("column %s %w", dataset.Quote(c.Name), err)
		}
		dst = dst[n:]
	}
	return nil
}

// cell writes the prepared columns of one cell into dst, which must be zero.
func (p *Preparation) cell(c *Column, fit fitted, v float64, dst []float64) error {
	if isGap(v) {
		if c.Missing == FillCategory || c.Indicator {
			dst[len(dst)-1] = 1
		}
		if c.Missing == FillCategory {
			return nil
		}
		if v = fit.fill; isGap(v) {
			return errGap
		}
	}
	if !c.OneHot() {
		dst[0] = c.transformed(v)
		return nil
	}
	switch {
	case v >= 0:
		dst[int(v)] = 1
	case c.Unknown == UnknownOther:
		dst[len(fit.categories)] = 1
	case c.Unknown == UnknownError:
		return fmt.Errorf("has a word that is none of its categories")
	}
	return nil
}

// transformed applies the column's transform; the result has the same bits on every machine.
func (c *Column) transformed(v float64) float64 {
	switch c.Transform {
	case Log:
		return exactmath.Log(v)
	case Log1p:
		return log1p(v)
	case Sqrt:
		return math.Sqrt(v)
	}
	return v
}

// log1p is log(1 + x) with a correction for the rounding of 1 + x.
func log1p(x float64) float64 {
	if x > 1<<fraction { // 1 + x is nearly x, and the product below would overflow
		return exactmath.Log(x)
	}
	u := 1 + x
	if u == 1 {
		return x
	}
	return float64(exactmath.Log(u)*x) / float64(u-1)
}

// prepared returns the name of one of the prepared columns of c.
func (c Column) prepared(what string) string { return c.Name + "_" + what }
