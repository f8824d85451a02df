package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mercer-fl/mercer/linalg"
)

// Append stacks the rows of the sets in order. The sets must have the same number of columns and
// the same column names, if they have names. Either all sets have labels or none has; the same
// holds for ids, groups, cells to cut at and weights. Dense sets of one precision share their rows with the
// result; sparse sets give a sparse set; sets of [Typed] tables give such a set; any mixture is copied into
// float64. The result has no Lines, Filled and Unlabelled. Append does not check that the ids of the sets
// differ; Validate does.
func Append(sets ...*Set) (*Set, error) {
	if len(sets) == 0 {
		return nil, errors.New("dataset: there are no sets to append; give at least one set")
	}
	out := &Set{Name: joinNames(sets)}
	for _, s := range sets {
		if err := alike(sets[0], out.Columns, s); err != nil {
			return nil, err
		}
		if out.Columns == nil {
			out.Columns = s.Columns
		}
		out.Labels = append(out.Labels, s.Labels...)
		out.IDs = append(out.IDs, s.IDs...)
		out.Groups = append(out.Groups, s.Groups...)
		out.Cut = append(out.Cut, s.Cut...)
		out.Weights = append(out.Weights, s.Weights...)
	}
	var err error
	out.X, err = stack(sets)
	return out, err
}

func joinNames(sets []*Set) string {
	names := make([]string, len(sets))
	for i, s := range sets {
		names[i] = s.Name
	}
	return strings.Join(slices.Compact(names), " + ")
}

func alike(first *Set, columns []string, s *Set) error {
	switch {
	case s.X.Cols() != first.X.Cols():
		return fmt.Errorf("dataset: %s has %d columns, but %s has %d; only sets with the same columns can be stacked",
			title(first), first.X.Cols(), title(s), s.X.Cols())
	case (s.Labels == nil) != (first.Labels == nil):
		return fmt.Errorf("dataset: only one of %s and %s has labels; give labels to both or neither", title(first), title(s))
	case (s.IDs == nil) != (first.IDs == nil):
		return fmt.Errorf("dataset: only one of %s and %s has ids; give ids to both or neither", title(first), title(s))
	case (s.Groups == nil) != (first.Groups == nil) || (s.Cut == nil) != (first.Cut == nil):
		return fmt.Errorf("dataset: only one of %s and %s has groups or a cut column; give them to both or neither", title(first), title(s))
	case (s.Weights == nil) != (first.Weights == nil):
		return fmt.Errorf("dataset: only one of %s and %s has weights of rows; give them to both or neither", title(first), title(s))
	}
	if columns == nil || s.Columns == nil {
		return nil
	}
	for j := range min(len(columns), len(s.Columns)) {
		if columns[j] != s.Columns[j] {
			return fmt.Errorf("dataset: column %d (from 0) of %s is called %q, but in %s it is called %q; put the columns in the same order",
				j, title(first), columns[j], title(s), s.Columns[j])
		}
	}
	return nil
}

func title(s *Set) string {
	if s.Name == "" {
		return "a set without name"
	}
	return s.Name
}

func stack(sets []*Set) (Table, error) {
	if t, typed := sets[0].X.(Typed); typed {
		return stackTyped(t, sets[1:])
	}
	return stackNumbers(sets), nil
}

func stackTyped(t Typed, others []*Set) (Table, error) {
	for _, s := range others {
		var err error
		if t, err = t.Below(s.X); err != nil {
			return nil, fmt.Errorf("dataset: %s: %w", title(s), err)
		}
	}
	return t, nil
}

func stackNumbers(sets []*Set) Table {
	rows := 0
	var doubles []dense[float64]
	var singles []dense[float32]
	var sparse []*CSR
	for _, s := range sets {
		rows += s.X.Rows()
		switch x := s.X.(type) {
		case *Dense:
			doubles = append(doubles, x.cells)
		case *Dense32:
			singles = append(singles, x.cells)
		case *CSR:
			sparse = append(sparse, x)
		}
	}
	switch len(sets) {
	case len(doubles):
		return &Dense{stackDense(doubles)}
	case len(singles):
		return &Dense32{stackDense(singles)}
	case len(sparse):
		return stackCSR(sparse, rows)
	}
	return stackAny(sets, rows)
}

func stackAny(sets []*Set, rows int) *Dense {
	m := linalg.New[float64](rows, sets[0].X.Cols())
	at := 0
	for _, s := range sets {
		linalg.Gather(m.Panel(at, at+s.X.Rows()), RowsOf(s.X), 0)
		at += s.X.Rows()
	}
	return NewDense(m)
}

func stackCSR(tables []*CSR, rows int) *CSR {
	out := &CSR{cols: tables[0].cols, start: make([]int, 1, rows+1)}
	for _, from := range tables {
		for i := range from.Rows() {
			out.push(from.Entries(i))
		}
	}
	return out
}

// Beside returns a set with the columns of all given sets, as float64. The sets must have the same
// number of rows. Ids are those of the first set with ids. The label of a row is that of the first
// set in which the row has a label. Columns have no names.
func Beside(sets ...*Set) (*Set, error) {
	if len(sets) == 0 {
		return nil, errors.New("dataset: there are no sets to put side by side; give at least one set")
	}
	rows, cols := sets[0].X.Rows(), 0
	out := &Set{Name: joinNames(sets)}
	for _, s := range sets {
		if s.X.Rows() != rows {
			return nil, fmt.Errorf("dataset: %s has %d rows and %s has %d; only sets with the same rows can be put side by side", title(sets[0]), rows, title(s), s.X.Rows())
		}
		cols += s.X.Cols()
		out.Labels = filled(out.Labels, s.Labels)
		if out.IDs == nil {
			out.IDs = s.IDs
		}
	}
	m, from := linalg.New[float64](rows, cols), 0
	for _, s := range sets {
		all, to := RowsOf(s.X), from+s.X.Cols()
		for i := range rows {
			all.ReadRow(i, m.Row(i)[from:to])
		}
		from = to
	}
	out.X = NewDense(m)
	return out, nil
}

// filled returns labels in which the labels of another set replace missing ones.
func filled(labels, others []string) []string {
	switch {
	case labels == nil:
		return others
	case others == nil || !slices.Contains(labels, ""):
		return labels
	}
	labels = slices.Clone(labels)
	for i, label := range labels {
		labels[i] = cmp.Or(label, others[i])
	}
	return labels
}

// Labelled lists the rows with a label, in ascending order.
func (s *Set) Labelled() []int {
	rows := []int{}
	for i, label := range s.Labels {
		if label != "" {
			rows = append(rows, i)
		}
	}
	return rows
}

// Subset returns the given rows (from 0) in the given order.
func (s *Set) Subset(rows []int) *Set {
	return &Set{
		Name: s.Name, X: s.X.Subset(rows), Labels: linalg.At(s.Labels, rows), IDs: linalg.At(s.IDs, rows), Columns: s.Columns,
		Groups: linalg.At(s.Groups, rows), Cut: linalg.At(s.Cut, rows), Weights: linalg.At(s.Weights, rows), Lines: linalg.At(s.Lines, rows), Filled: linalg.At(s.Filled, rows),
	}
}

// SelectColumns returns the set with the given columns (from 0) only. All other fields
// stay.
func (s *Set) SelectColumns(cols []int) *Set {
	some := *s
	some.X, some.Columns = s.X.Columns(cols), linalg.At(s.Columns, cols)
	return &some
}

// Validate returns an error if the set is unfit for learning. A set is unfit if it has no rows or
// no columns, lengths that disagree, a number that is not finite, or two equal ids. Messages count
// rows from 1 and columns from 0.
func (s *Set) Validate() error {
	if err := s.check(); err != nil {
		return fmt.Errorf("dataset: %s: %w", title(s), err)
	}
	return nil
}

func (s *Set) check() error {
	if s.X == nil || s.X.Rows() == 0 {
		return errors.New("the set has no rows; give at least one")
	}
	rows, cols := s.X.Rows(), s.X.Cols()
	switch {
	case cols == 0:
		return errors.New("the set has no columns; give at least one feature")
	case s.Labels != nil && len(s.Labels) != rows:
		return fmt.Errorf("there are %d labels but %d rows; give one label for each row", len(s.Labels), rows)
	case s.IDs != nil && len(s.IDs) != rows:
		return fmt.Errorf("there are %d ids but %d rows; give one id for each row", len(s.IDs), rows)
	case s.Groups != nil && len(s.Groups) != rows:
		return fmt.Errorf("there are %d group names but %d rows; give one group for each row", len(s.Groups), rows)
	case s.Cut != nil && len(s.Cut) != rows:
		return fmt.Errorf("there are %d cells of the cut column but %d rows; give one cell for each row", len(s.Cut), rows)
	case s.Weights != nil && len(s.Weights) != rows:
		return fmt.Errorf("there are %d weights but %d rows; give one weight for each row", len(s.Weights), rows)
	case s.Filled != nil && len(s.Filled) != rows:
		return fmt.Errorf("there are %d marks of filled rows but %d rows; give one mark for each row", len(s.Filled), rows)
	case s.Lines != nil && len(s.Lines) != rows:
		return fmt.Errorf("there are %d line numbers but %d rows; give one line number for each row", len(s.Lines), rows)
	case s.Columns != nil && len(s.Columns) != cols:
		return fmt.Errorf("there are %d column names but %d columns; give one name for each column", len(s.Columns), cols)
	}
	if err := s.checkNumbers(); err != nil {
		return err
	}
	if i := slices.IndexFunc(s.Weights, isNotFinite); i >= 0 {
		return fmt.Errorf("the weight of row %d is %v; a weight must be finite", i+1, s.Weights[i])
	}
	return s.checkIDs()
}

// checkNumbers returns an error that names the first number that is not finite.
func (s *Set) checkNumbers() error {
	var finite func(i int) bool
	switch x := s.X.(type) {
	case Typed: // its numbers are codes, and its gaps are NaN
		return nil
	case *Dense:
		finite = x.cells.finite
	case *Dense32:
		finite = x.cells.finite
	}
	if finite != nil && allRows(s.X.Rows(), finite) {
		return nil
	}
	var err error
	for i := range s.X.Rows() {
		s.X.Each(i, func(col int, v float64) {
			if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
				err = fmt.Errorf("row %d, column %d (from 0) holds %v; fill the cell or drop the row", i+1, col, v)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// allRows reports whether ok is true for all n rows. It calls ok on all cores.
func allRows(n int, ok func(i int) bool) bool {
	var bad atomic.Bool
	linalg.For(n, 64, func(lo, hi int) {
		for i := lo; i < hi && !bad.Load(); i++ {
			if !ok(i) {
				bad.Store(true)
			}
		}
	})
	return !bad.Load()
}

func isNotFinite(v float64) bool { return v-v != 0 }

func (s *Set) checkIDs() error {
	first := make(map[string]int, len(s.IDs))
	for i, id := range s.IDs {
		if j, ok := first[id]; ok {
			return fmt.Errorf("rows %d and %d have the same id %s; keep one of them", j+1, i+1, quote(id))
		}
		first[id] = i
	}
	return nil
}

// Table is a matrix of numbers, dense or sparse. The numbers are finite, except in a [Typed] table.
type Table interface {
	Rows() int
	Cols() int
	// Row writes all cells of row i into dst, which has length Cols, and returns dst. If dst is
	// nil, Row allocates it.
	Row(i int, dst []float64) []float64
	// Subset returns the given rows in the given order. The two tables can share memory.
	Subset(rows []int) Table
	// Columns returns the given columns in the given order.
	Columns(cols []int) Table
	// Each calls f for every stored entry of row i in ascending column order; a dense table also
	// calls it for zeros.
	Each(i int, f func(col int, value float64))
}

// Set is a table with the labels and ids of its rows and the names of its columns. Labels, IDs,
// Groups, Cut, Weights, Lines and Filled are nil or as long as the table.
type Set struct {
	Name string // origin of the rows, for messages
	// Unlabelled is the number of rows that the reader left out because they had no label. Parts of
	// a set do not repeat it.
	Unlabelled int
	X          Table
	Labels     []string // class names, or numbers as text; "" for a row without a label
	IDs        []string
	Columns    []string // column names, or nil
	Groups     []string // group of each row; a group, such as a patient's rows, is held out together
	Cut        []string // cells of the column that decides which rows are held out: see [Bound]
	// Weights holds how often each row counts in the training, as a finite number. A row whose weight
	// is 0 or less trains nothing.
	Weights []float64
	Lines   []int  // line of each row in its file, from 1, so that its owner finds it; in formats without lines, the number of the row
	Filled  []bool // whether the preparation has filled a gap of the row
}

// MaxMagnitude bounds the magnitude of training data, so that sums of squares are finite.
const MaxMagnitude = 1e140

// CheckMagnitude returns an error that names the first number beyond [MaxMagnitude] in the sets, by
// its line if the set has lines. A set can be nil.
func CheckMagnitude(sets ...*Set) error {
	for _, s := range sets {
		if s == nil {
			continue
		}
		if err := s.checkMagnitude(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) checkMagnitude() (err error) {
	for i := range s.X.Rows() {
		s.X.Each(i, func(col int, v float64) {
			if err == nil && math.Abs(v) > MaxMagnitude {
				err = fmt.Errorf("%s column %s holds %g, which is above %g in magnitude, the largest number for training; correct the cell, or mark it as missing", s.Place(i), s.columnName(col), v, MaxMagnitude)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Place returns the words before a message about a row: the set's name, and the line or the row, both
// from 1.
func (s *Set) Place(row int) string {
	if s.Lines != nil {
		return fmt.Sprintf("%s:%d:", s.Name, s.Lines[row])
	}
	return fmt.Sprintf("%s: row %d,", s.Name, row+1)
}

func (s *Set) columnName(col int) string {
	if s.Columns == nil {
		return fmt.Sprint(col + 1)
	}
	return quote(s.Columns[col])
}
