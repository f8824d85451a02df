package rows

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// Common returns all rows of a split, not scaled, with their rare values replaced. In a table without a
// schema, a column gets its commonest value in all rows if fewer than [prepare.Least] training rows have
// another. With a schema, [prepare.Preparation.Common] says which values are rare. If all rows are held out,
// they count in place of the training rows. Sums use rows in this form.
func Common(s method.Split) (linalg.Rows, error) {
	if s.Frame == nil {
		return level{dataset.RowsOf(s.Set.X), dataset.NearConstantColumns(s.Set.X, counted(s), prepare.Least)}, nil
	}
	table, err := s.Prepared.Common(s.Frame, counted(s))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Set.Name, err)
	}
	return dataset.RowsOf(table), nil
}

// counted lists the rows that decide whether a value is rare. These are the training rows or, if
// all rows of the party are held out, the held-out rows.
func counted(s method.Split) []int {
	if rows := s.Rows(false); len(rows) > 0 {
		return rows
	}
	return s.Rows(true)
}

// level reads rows in which near-constant columns are replaced by a constant.
type level struct {
	linalg.Rows
	steady []dataset.NearConstant
}

// ReadRow reads a row and sets near-constant columns to their constants. It implements
// [linalg.Rows].
func (l level) ReadRow(i int, dst []float64) {
	l.Rows.ReadRow(i, dst)
	for _, c := range l.steady {
		dst[c.Column] = c.Value
	}
}

// CommonOf joins the rows that [Common] returns for several parties. All training rows come before
// all held-out rows.
func CommonOf(parties []method.Split) (linalg.Rows, error) {
	var training, held below
	for _, s := range parties {
		x, err := Common(s)
		if err != nil {
			return nil, err
		}
		training, held = append(training, linalg.Pick(x, s.Rows(false))), append(held, linalg.Pick(x, s.Rows(true)))
	}
	return append(training, held...), nil
}

// below stacks the rows of several tables below each other.
type below []linalg.Rows

// Shape returns the number of rows in all tables; it implements [linalg.Rows].
func (b below) Shape() (rows, cols int) {
	for _, part := range b {
		var n int
		n, cols = part.Shape()
		rows += n
	}
	return rows, cols
}

// ReadRow finds the table that contains a row, and reads the row; it implements [linalg.Rows].
func (b below) ReadRow(i int, dst []float64) {
	for _, part := range b {
		n, _ := part.Shape()
		if i < n {
			part.ReadRow(i, dst)
			return
		}
		i -= n
	}
}

// Common returns all the party's rows, scaled, with their rare values replaced. Sums use rows in
// this form. With differential privacy it replaces no rare value: which values are rare depends on other
// rows, and noise hides them all.
func (p *Party) Common() (linalg.Rows, error) {
	common := Common
	if p.Job.Data.Private {
		common = uncommon
	}
	rows, err := common(p.Split)
	if err != nil {
		return nil, p.ownFault(err)
	}
	if len(p.Scaling.Offset) > 0 {
		rows = p.Scaling.Rows(rows)
	}
	return rows, nil
}

// NoticeCommon tells the party's operator in which columns Common replaces values.
func (p *Party) NoticeCommon() {
	if p.Job.Data.Private {
		return
	}
	if p.Split.Frame != nil {
		p.noticeRare(p.Split.Prepared.Rare(p.Split.Frame, counted(p.Split)))
		return
	}
	p.noticeRare(p.rareNumbers(numbers(p.Split)))
}

// rareNumbers lists those of the given numeric columns in which sums replace rare values.
func (p *Party) rareNumbers(places []int) []prepare.Rare {
	if p.stream != nil {
		return p.stream.rare()
	}
	return rareNumbers(p.Split, places)
}

// rareNumbers lists those of the given numeric columns in which Common replaces rare values.
func rareNumbers(s method.Split, places []int) []prepare.Rare {
	x := s.Set.X
	if len(places) < x.Cols() {
		x = x.Columns(places)
	}
	var list []prepare.Rare
	for _, c := range dataset.NearConstantColumns(x, counted(s), prepare.Least) {
		if c.Few > 0 {
			list = append(list, prepare.Rare{Column: columnName(s.Set, places[c.Column]), Rows: c.Few})
		}
	}
	return list
}

// counted returns the number of rows that decide whether a value is rare.
func (p *Party) counted() int {
	if n := p.Count(false); n > 0 {
		return n
	}
	return p.Count(true)
}

// columnName returns a column's name or, if it has none, its number from 1 on.
func columnName(set *dataset.Set, j int) string {
	if set.Columns == nil {
		return fmt.Sprint(j + 1)
	}
	return set.Columns[j]
}

// mostNamed is the largest number of columns that a notice names, because a table of pixels has
// many.
const mostNamed = 8

// noticeRare tells the party's operator in which columns rare values are replaced before the sums.
func (p *Party) noticeRare(list []prepare.Rare) {
	if len(list) == 0 {
		return
	}
	named := humanize.List(list, mostNamed, func(r prepare.Rare) string { return fmt.Sprintf("%s (%d)", dataset.Quote(r.Column), r.Rows) })
	line := fmt.Sprintf("fewer than %d of %d rows have a value, by column: %s; sums count it as the commonest, or as other", prepare.Least, p.counted(), named)
	if !slices.Contains(p.notices, line) {
		p.notices = append(p.notices, line)
	}
}
