package prepare

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/linalg"
)

// Frame is a table of typed cells, each of which is a value or a gap. It is a [dataset.Typed]: its
// codes are numbers, parts of dates, 0 and 1, or indices of categories or words; NaN is a gap, and -1 a word
// that is no category.
type Frame struct {
	schema Schema
	words  [][]string // words by code, for each column with agreed categories
	blocks [][]float64
	order  []int // indices of the chosen rows; nil: all rows
	rows   int
	// Dropped counts the rows that were left out because of a gap.
	Dropped int
	// Outside counts, for each column, the cells outside the column's range. Such a cell was
	// replaced by a gap or by an end of the range. Outside is nil if the frame holds chosen rows
	// or the rows of two frames.
	Outside []int
	// Absent lists the columns that the table lacked; all of their cells are gaps.
	Absent []string
}

// blockRows is the number of rows that are stored together.
const blockRows = 1 << 12

func newFrame(s Schema) *Frame { return &Frame{schema: s, words: make([][]string, len(s))} }

// add appends a row.
func (f *Frame) add(cells []float64) {
	if f.rows%blockRows == 0 {
		f.blocks = append(f.blocks, make([]float64, 0, blockRows*len(f.schema)))
	}
	last := &f.blocks[len(f.blocks)-1]
	*last = append(*last, cells...)
	f.rows++
}

// Schema returns the descriptions of the columns.
func (f *Frame) Schema() Schema { return f.schema }

// row returns the codes of a row without copying them.
func (f *Frame) row(i int) []float64 {
	if f.order != nil {
		i = f.order[i]
	}
	at := i % blockRows * len(f.schema)
	return f.blocks[i/blockRows][at : at+len(f.schema)]
}

// Rows returns the number of rows.
func (f *Frame) Rows() int {
	if f.order != nil {
		return len(f.order)
	}
	return f.rows
}

// Cols returns the number of columns.
func (f *Frame) Cols() int { return len(f.schema) }

// Row writes the codes of row i into dst. If dst is nil, Row allocates it.
func (f *Frame) Row(i int, dst []float64) []float64 {
	if dst == nil {
		dst = make([]float64, len(f.schema))
	}
	copy(dst, f.row(i))
	return dst
}

// Subset returns the given rows without copying them.
func (f *Frame) Subset(rows []int) dataset.Table {
	some := *f
	some.Dropped, some.Outside = 0, nil
	some.order = append([]int{}, rows...)
	if f.order != nil {
		some.order = linalg.At(f.order, rows)
	}
	return &some
}

// Columns returns a copy of the given columns.
func (f *Frame) Columns(cols []int) dataset.Table {
	some := newFrame(linalg.At(f.schema, cols))
	some.words = linalg.At(f.words, cols)
	for i := range f.Rows() {
		some.add(linalg.At(f.row(i), cols))
	}
	some.Dropped, some.Outside = f.Dropped, linalg.At(f.Outside, cols)
	return some
}

// gappy tells for each row whether it has a gap.
func (f *Frame) gappy() []bool {
	rows := make([]bool, f.Rows())
	for i := range rows {
		rows[i] = slices.ContainsFunc(f.row(i), isGap)
	}
	return rows
}

// Each calls f for every cell of a row.
func (f *Frame) Each(i int, visit func(col int, value float64)) {
	for j, v := range f.row(i) {
		visit(j, v)
	}
}

// AppendCell appends an unambiguous encoding of a cell to b. It contains the cell's bits or, for a
// column with agreed categories, its word.
func (f *Frame) AppendCell(b []byte, row, col int) []byte {
	v := f.row(row)[col]
	if f.schema[col].Agree && v >= 0 {
		word := f.words[col][int(v)]
		return append(binary.BigEndian.AppendUint32(append(b, 'w'), uint32(len(word))), word...)
	}
	if isGap(v) {
		return append(b, 'g')
	}
	return binary.BigEndian.AppendUint64(append(b, 'n'), math.Float64bits(v+0)) // adding 0 turns -0 into 0
}

// Below appends the rows of another frame of the same schema, and returns the result as a new
// frame.
func (f *Frame) Below(other dataset.Table) (dataset.Typed, error) {
	o, is := other.(*Frame)
	if !is || !slices.EqualFunc(f.schema, o.schema, Column.readsLike) {
		return nil, errors.New("the tables were read with different schemas")
	}
	both := newFrame(f.schema)
	both.Dropped = f.Dropped + o.Dropped
	for i := range f.Rows() {
		both.add(f.row(i))
	}
	codes := both.unite(f.words, o.words)
	for i := range o.Rows() {
		both.add(o.recoded(i, codes))
	}
	return both, nil
}

// unite collects the words of two frames, and returns the new codes of the second frame's words.
func (f *Frame) unite(first, second [][]string) [][]float64 {
	codes := make([][]float64, len(first))
	for j := range first {
		f.words[j] = slices.Clone(first[j])
		place := make(map[string]int, len(first[j]))
		for code, word := range first[j] {
			place[word] = code
		}
		for _, word := range second[j] {
			at, known := place[word]
			if !known {
				at = len(f.words[j])
				f.words[j], place[word] = append(f.words[j], word), at
			}
			codes[j] = append(codes[j], float64(at))
		}
	}
	return codes
}

// recoded returns a copy of row i in which new codes replace the codes of words.
func (f *Frame) recoded(i int, codes [][]float64) []float64 {
	row := slices.Clone(f.row(i))
	for j, c := range codes {
		if f.schema[j].Agree && row[j] >= 0 {
			row[j] = c[int(row[j])]
		}
	}
	return row
}

// maxWords bounds the different words of a column with agreed categories.
const maxWords = 1 << 16
