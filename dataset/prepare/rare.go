package prepare

import (
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/linalg"
)

// Rare counts the training rows that hold a rare value in a column.
type Rare struct {
	Column string
	Rows   int
}

// Common returns the prepared table of a frame, with common values in place of rare ones. Sums over
// parties are computed from this table. A word is rare if fewer than [Least] of the given rows
// have it. A rare word is replaced by the category "other", if the column has this category and
// enough rows belong to it; otherwise it is replaced by the commonest word. Rare truth values, rare
// gaps, and fewer than Least deviating numbers of an otherwise constant column are replaced, too.
func (p *Preparation) Common(f *Frame, rows []int) (*dataset.Dense, error) {
	return p.apply(f, p.masks(f, rows))
}

// Rare lists the columns in which Common replaces values of the given rows.
func (p *Preparation) Rare(f *Frame, rows []int) []Rare { return rareOf(p.schema, p.masks(f, rows)) }

// Rare lists the columns in which [Plan.Vector] replaces rare values of the given rows.
func (p *Plan) Rare(f *Frame, rows []int) []Rare {
	cells := p.masks(f, rows)
	for j := range cells {
		if !slices.ContainsFunc(p.entries, func(e entry) bool { return e.what != countRows && e.column == j }) {
			cells[j].few = 0 // the column has no entries
		}
	}
	return rareOf(p.schema, cells)
}

// masks returns the masks that [Preparation.Common] applies. The masks fill rare gaps like all
// gaps, so that no indicator column shows a rare gap.
func (p *Preparation) masks(f *Frame, rows []int) []mask {
	return masks(p.schema, p.categories(), f, rows, func(j int, _ []float64) float64 { return p.columns[j].fill })
}

// masks returns the masks that [Plan.Vector] applies. In a column with an indicator, the masks fill
// rare gaps with a value computed from the column's other cells. All other gaps remain and are
// counted as gaps.
func (p *Plan) masks(f *Frame, rows []int) []mask {
	return masks(p.schema, p.categories, f, rows, func(j int, values []float64) float64 {
		if !p.schema[j].Indicator {
			return gap
		}
		return p.schema[j].ownFill(values, p.categories[j])
	})
}

// Merged describes the words of a column that are outside the agreed categories.
type Merged struct {
	Column  string
	CountAs string   // what such a word becomes: "other" or "zeros"
	Words   []string // words that are not agreed, in the order of their first rows
	Rows    int      // number of given rows with such a word
}

// Merged lists the columns in which given rows have words that the parties did not agree on.
func (p *Preparation) Merged(f *Frame, rows []int) []Merged {
	return f.merged(rows, p.categories())
}

// countsAs names what a word outside the categories becomes.
func (c *Column) countsAs() string {
	if c.Unknown == UnknownIgnore {
		return "zeros"
	}
	return string(UnknownOther)
}

// merged lists the columns in which given rows have words outside the agreed categories.
func (f *Frame) merged(rows []int, categories [][]string) (list []Merged) {
	for _, j := range f.schema.Agrees() {
		at, seen, m := places(f.words[j], categories[j]), make(map[int]bool), Merged{Column: f.schema[j].Name, CountAs: f.schema[j].countsAs()}
		for _, i := range rows {
			v := f.row(i)[j]
			if isGap(v) || at[int(v)] >= 0 {
				continue
			}
			if m.Rows++; !seen[int(v)] {
				seen[int(v)] = true
				m.Words = append(m.Words, f.words[j][int(v)])
			}
		}
		if m.Rows > 0 {
			list = append(list, m)
		}
	}
	return list
}

// rareOf lists the columns with cells that masks replace, and counts these cells.
func rareOf(s Schema, all []mask) []Rare {
	var list []Rare
	for j := range all {
		if n := all[j].few; n > 0 {
			list = append(list, Rare{s[j].Name, n})
		}
	}
	return list
}

// mask replaces cells of a column.
type mask struct {
	words []float64 // agreed index of each of the frame's words; nil without agreed categories
	fill  float64   // code that replaces a gap; if gaps stay, the code of a gap
	level bool      // whether all cells except gaps get the same value
	value float64   // if level is true, the replacement of all cells except gaps
	codes []float64 // replacements of the categories, of other words, and of gaps; nil if words stay
	few   int       // number of given rows with a replaced cell
}

// cell returns the replacement of a cell.
func (m *mask) cell(v float64) float64 {
	switch {
	case isGap(v):
		v = m.fill
	case m.words != nil && v >= 0:
		v = m.words[int(v)]
	}
	return m.replacementOfFilled(v)
}

// replacementOfFilled returns the replacement of a cell after gaps are filled. The code of a word
// is the index of an agreed category.
func (m *mask) replacementOfFilled(v float64) float64 {
	if m.codes != nil {
		return m.codes[m.codeIndex(v)]
	}
	if m.level && !isGap(v) {
		return m.value
	}
	return v
}

// codeIndex returns the index of a cell's replacement in the field codes.
func (m *mask) codeIndex(v float64) int {
	switch {
	case isGap(v):
		return len(m.codes) - 1
	case v < 0:
		return len(m.codes) - 2
	}
	return int(v)
}

// plainMasks returns masks that replace no rare values, but translate words to the agreed indices.
func plainMasks(s Schema, categories [][]string, f *Frame) []mask {
	all := make([]mask, len(s))
	for j := range s {
		all[j].fill = gap
		if s[j].Agree {
			all[j].words = places(f.words[j], categories[j])
		}
	}
	return all
}

// masks returns masks that replace the rare values of the given rows. Rare gaps of a column get the
// value that fill computes from the column's other cells. Without rows nothing is replaced.
func masks(s Schema, categories [][]string, f *Frame, rows []int, fill func(j int, values []float64) float64) []mask {
	all := plainMasks(s, categories, f)
	if len(rows) == 0 {
		return all
	}
	linalg.Each(len(s), 1, func(j int) {
		m := &all[j]
		column := make([]float64, len(rows))
		for k, i := range rows {
			column[k] = m.cell(f.row(i)[j])
		}
		s[j].maskGaps(m, column, func(values []float64) float64 { return fill(j, values) })
		s[j].maskCells(m, column, categories[j])
	})
	return all
}

// maskCells decides how the cells of a column are replaced. The caller calls maskGaps before.
func (c *Column) maskCells(m *mask, column []float64, categories []string) {
	filled := slices.Clone(column)
	for k, v := range filled {
		if isGap(v) {
			filled[k] = m.fill
		}
	}
	switch {
	case m.level: // nearly all cells are gaps
	case c.Type == Category || c.Type == Boolean:
		c.maskWords(m, filled, categories)
	default:
		m.levelSteady(filled)
	}
	m.few = 0
	for k, v := range column {
		if isGap(v) && !c.showsGaps() {
			continue // the preparation fills this gap, so it is not counted
		}
		if to := m.replacementOfFilled(filled[k]); to != v && !(isGap(to) && isGap(v)) {
			m.few++
		}
	}
}

// showsGaps reports whether the prepared columns distinguish gaps from values.
func (c *Column) showsGaps() bool { return c.Indicator || c.Type == Category }

// maskGaps decides how a column's gaps are replaced. Rare gaps are filled; if nearly all cells are
// gaps, all become gaps.
func (c *Column) maskGaps(m *mask, column []float64, fill func(values []float64) float64) {
	var values []float64
	for _, v := range column {
		if !isGap(v) {
			values = append(values, v)
		}
	}
	missing := len(column) - len(values)
	switch {
	case len(values) == 0, missing >= Least && len(values) < Least:
		m.level, m.value = true, gap
	case c.filled() && c.Missing != FillCategory && missing < Least:
		m.fill = fill(values)
	}
}

// ownFill computes the code that fills the column's gaps from a party's own values.
func (c *Column) ownFill(values []float64, categories []string) float64 {
	own := *c
	own.Agree = false // the codes of the values are already those of the agreed categories
	fill, err := own.fill(values, categories, nil)
	if err != nil || math.IsInf(fill, 0) {
		return unseen // all words of the column are outside the categories
	}
	if c.Ranged() && (c.Type == Number || c.Type == Date) {
		fill = min(max(fill, c.Range[0]), c.Range[1]) // rounding can have left the range
	}
	return fill
}

// maskWords decides how rare categories and rare truth values are replaced.
func (c *Column) maskWords(m *mask, column []float64, categories []string) {
	m.codes = make([]float64, max(len(categories), 2)+2)
	counts := make([]int, len(m.codes))
	for _, v := range column {
		counts[m.codeIndex(v)]++
	}
	for at := range m.codes {
		m.codes[at] = float64(at)
	}
	none, missing := len(m.codes)-2, len(m.codes)-1
	m.codes[none], m.codes[missing] = unseen, gap
	instead := c.replacementOfRare(m, counts)
	for at, n := range counts {
		if n >= Least || at == missing && c.Missing != FillCategory {
			continue
		}
		m.codes[at] = instead
	}
}

// replacementOfRare returns the code that replaces rare values.
func (c *Column) replacementOfRare(m *mask, counts []int) float64 {
	none, missing := len(counts)-2, len(counts)-1
	others, most := counts[none], 0
	for at, n := range counts[:missing] {
		if at != none && n < Least {
			others += n
		}
		if n > counts[most] {
			most = at
		}
	}
	if n := counts[missing]; c.Missing == FillCategory && n < Least {
		others += n
	}
	if c.OneHot() && c.Unknown == UnknownOther && others >= Least {
		return unseen
	}
	return m.codes[most]
}

// levelSteady decides whether all numbers of a column get its commonest number.
func (m *mask) levelSteady(column []float64) {
	tally := dataset.Tally{Least: Least}
	for _, v := range column {
		if !isGap(v) && !tally.Add(v, 1) {
			return
		}
	}
	m.value, _, m.level = tally.Steady()
}
