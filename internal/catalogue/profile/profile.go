package profile

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
)

// Types of columns beside those of package prepare. A column of Text has free text. An Empty column has no
// values. An Unreadable column holds other columns, lists, or values of an unsupported type or compression.
const (
	Text       prepare.Type = "text"
	Empty      prepare.Type = "empty"
	Unreadable prepare.Type = "unreadable"
)

// Column describes a column from its cells.
type Column struct {
	Name     string       `json:"name"`
	Type     prepare.Type `json:"type"`
	Missing  int          `json:"missing"`
	Distinct int          `json:"distinct"` // number of different words, counted up to MaxDistinct
	Format   string       `json:"format,omitempty"`
	// Words lists the categories of a column, if they are few and short.
	Words []string `json:"-"`
	// Least, Greatest and Mean summarise a column of numbers, unless it is Unread.
	Least, Greatest, Mean float64 `json:"-"`
	// Unread states that the numbers have a form which this reading does not read.
	Unread bool `json:"-"`

	unit    string   // unit that stands beside the numbers; "" for none
	formats []string // formats of dates that only together read most cells
	gaps    int      // number of cells that the suggestion reads as gaps
	years   span     // years of the dates

	no, yes []string          // words of a boolean, in all their spellings
	values  map[string]string // what to read for words that are limits, stand for a gap, or are spelt unlike others
	low     float64           // least number beside one that stands for a gap
	joint   bool              // whether the words are those of all tables of a draft that have the column
	alone   []string          // words that stand in only one of these tables
}

// NoYes returns the words of a boolean for no and for yes, such as "nein/ja". It returns "" for
// another column.
func (c *Column) NoYes() string {
	if c.Type != prepare.Boolean {
		return ""
	}
	return strings.Join(c.no, "/") + "/" + strings.Join(c.yes, "/")
}

// Problem describes a cell, a row or a column that a job would refuse or might read wrongly.
type Problem struct {
	Line   int    `json:"line"` // 0 if the problem concerns the whole column or several cells
	Column string `json:"column,omitempty"`
	Text   string `json:"problem"`
	// Fatal marks a problem that neither a schema nor a mapping can solve.
	Fatal bool `json:"fatal"`
}

// String returns the problem as one sentence.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.Text
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Text)
}

// Table is the profile of a table.
type Table struct {
	Rows     int
	Columns  []Column
	Problems []Problem
	More     int // number of problems that are not listed
	// Classes counts the rows of each label, of the first MaxDistinct labels.
	Classes map[string]int
	// Numbers is the form that reads the numbers of all columns, or the form of Asked.Own if there is none.
	Numbers dataset.NumberForm

	gapWords []string // words that the suggestion reads as gaps
	ids      []string // the different ids
}

// Limits of a profile.
const (
	MaxDistinct = 1 << 16
	MaxProblems = 50
	perColumn   = 10 // number of words like gaps, and of misfits, that are listed one by one for a column
)

// Asked holds the arguments of Read.
type Asked struct {
	Own       prepare.Mapping
	Label, ID string // names of columns; "" for none
	// Guessed states that nobody named Label, so that its gaps are no problem.
	Guessed bool
}

// Read reads a table and describes its columns. It continues after lines with errors.
func Read(rows dataset.Records, a Asked) (*Table, error) {
	t := &tableReader{Asked: a, gaps: append([]string{""}, a.Own.CSV.Missing...), ids: make(map[string]int)}
	text, separated := rows.(dataset.Delimited)
	for _, name := range rows.Columns() {
		t.cells = append(t.cells, newCells(name, a.Own.CSV.Numbers(), separated && text.Delimiter() == ','))
	}
	for _, name := range []string{a.Label, a.ID} {
		if name != "" && !slices.Contains(rows.Columns(), name) {
			return nil, dataset.NoColumn(name, "no column is called %s", dataset.Quote(name))
		}
	}
	if err := t.chooseReadable(rows); err != nil {
		return nil, err
	}
	last := 0
	for {
		row, err := rows.Next()
		var syntax *dataset.SyntaxError
		switch {
		case errors.Is(err, io.EOF):
			return t.table(), nil
		case err == nil:
			t.add(row)
		case errors.As(err, &syntax) && syntax.Line > last && syntax.Line > 0:
			last = syntax.Line // continue at the next line, unless the same line fails again
			t.note(Problem{Line: syntax.Line, Text: syntax.Err.Error(), Fatal: true})
		default:
			return nil, err
		}
	}
}

// chooseReadable leaves out the columns that cannot be read.
func (t *tableReader) chooseReadable(rows dataset.Records) error {
	some, can := rows.(dataset.ColumnSelector)
	if !can {
		return nil
	}
	var places []int
	for j, c := range t.cells {
		if c.fault = some.Unreadable(j); c.fault == nil {
			places = append(places, j)
		}
	}
	return some.Choose(places)
}

// tableReader collects facts about the cells of all columns while it reads a table.
type tableReader struct {
	Asked
	gaps        []string
	cells       []*columnCells
	rows        int
	ids         map[string]int
	rowProblems []Problem // at most MaxProblems
	more        int       // number of further problems of rows
}

// note adds the problem of a row. Beyond the limit it only counts the problem, but the first fatal
// one takes the place of another.
func (t *tableReader) note(p Problem) {
	if len(t.rowProblems) < MaxProblems {
		t.rowProblems = append(t.rowProblems, p)
		return
	}
	t.more++
	if p.Fatal && !slices.ContainsFunc(t.rowProblems, func(q Problem) bool { return q.Fatal }) {
		t.rowProblems[MaxProblems-1] = p
	}
}

func (t *tableReader) add(row dataset.Record) {
	t.rows++
	for j, c := range t.cells {
		word := row.Fields[j]
		gap := slices.Contains(t.gaps, word)
		switch {
		case c.fault != nil:
			continue
		case c.name == t.ID:
			t.addID(row.Line, word, gap)
		case c.name == t.Label && gap && !t.Guessed:
			t.note(Problem{row.Line, c.name, fmt.Sprintf("column %s %v", dataset.Quote(c.name), dataset.NoLabel(c.name)), false})
		}
		if gap {
			c.missing++
		} else {
			c.add(row.Line, word)
		}
	}
}

func (t *tableReader) addID(line int, id string, gap bool) {
	first, taken := t.ids[id]
	switch {
	case gap:
		t.note(Problem{line, t.ID, fmt.Sprintf("column %s is the id and is empty; fill the cell or drop the row", dataset.Quote(t.ID)), true})
	case taken:
		t.note(Problem{line, t.ID, fmt.Sprintf("id %s is also in line %d; keep one of the two rows", dataset.Quote(id), first), true})
	default:
		t.ids[string([]byte(id))] = line
	}
}

// settleGaps decides which words are gaps, counts them in all columns, and returns them.
func (t *tableReader) settleGaps() (gaps []string) {
	for _, c := range t.cells {
		if c.name != t.ID {
			gaps = append(gaps, c.suggestedGaps()...)
		}
	}
	slices.Sort(gaps)
	gaps = slices.Compact(gaps)
	for _, c := range t.cells {
		c.settle(gaps)
	}
	return gaps
}

// table returns the profile of the collected cells.
func (t *tableReader) table() *Table {
	out := &Table{Rows: t.rows, Problems: t.rowProblems, gapWords: t.settleGaps(), Numbers: t.suggestedForm(), ids: slices.Collect(maps.Keys(t.ids))}
	if own := t.Own.CSV.Numbers(); out.Numbers != own && out.Numbers.Decimal == own.Decimal {
		for _, c := range t.cells {
			c.form = out.Numbers
		}
	}
	for j, c := range t.cells {
		d := c.describe()
		if c.name == t.Label {
			out.Classes = c.words
		}
		if c.name == t.ID || c.name == t.Label {
			d.Words = nil
			if other := c.otherNumbers(); c.name == t.Label && other.text != "" {
				out.Problems = append(out.Problems, Problem{Column: c.name, Text: other.text})
			}
		} else {
			out.Problems = append(out.Problems, c.listProblems(d.Type)...)
		}
		if dataset.IsUnnamed(c.name) {
			out.Problems = append(out.Problems, Problem{Column: c.name, Text: fmt.Sprintf("column %d (from 1) has no name; it is called %s and is no feature unless a key names it", j+1, dataset.Quote(c.name))})
		}
		out.Columns = append(out.Columns, d)
	}
	out.Problems = append(out.Problems, t.listSuspects(out.Columns)...)
	out.More = t.more
	if n := len(out.Problems); n > MaxProblems {
		out.Problems, out.More = out.Problems[:MaxProblems], t.more+n-MaxProblems
	}
	return out
}
