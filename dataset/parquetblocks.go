package dataset

import (
	"fmt"
	"io"
	"math"

	"github.com/mercer-fl/mercer/dataset/internal/parquet"
	"github.com/mercer-fl/mercer/linalg"
)

// parquetBlocks reads the rows of a parquet file in blocks, column by column. It converts only labels
// and ids to text.
type parquetBlocks struct {
	text
	parquetReader
	cursors  []*parquet.Cursor // cursor of each column in source; nil for a column without a use
	cols     int
	most     int // largest number of rows in a block
	row      int // number of rows in all earlier blocks
	buffer   linalg.Matrix[float64]
	labeller labeller
	labels   labelCache
	lines    []int
	columns  []string
}

func openParquetBlocks(r io.ReaderAt, size int64, o ParquetOptions, rows int, bounds limits) (*parquetBlocks, error) {
	p := &parquetBlocks{text: text(o.Name), labeller: labeller{gaps: o.Gaps, among: o.Classes}}
	bounds.cells = math.MaxInt // no more than a block is in memory
	shape, err := p.open(r, size, o, bounds)
	if err != nil {
		return nil, p.wrap(0, err)
	}
	p.cols, p.columns = shape.cols, p.head.featureNames()
	p.most = rowsOfBlock(rows, shape.cols)
	p.buffer = linalg.New[float64](min(p.most, shape.rows), shape.cols)
	p.cursors = make([]*parquet.Cursor, len(p.source))
	for b, cell := range p.cells {
		if cell.number != nil || cell.label != nil {
			p.cursors[b] = p.file.Cursor(p.source[b])
		}
	}
	return p, nil
}

// Next implements [Blocks].
func (p *parquetBlocks) Next() (*Set, error) {
	n := min(p.most, p.file.Rows-p.row)
	if n == 0 {
		return nil, io.EOF
	}
	set, err := p.block(n)
	if err != nil {
		return nil, p.wrap(0, err)
	}
	p.row += n
	return set, nil
}

func (p *parquetBlocks) block(n int) (*Set, error) {
	m := p.buffer.Panel(0, n)
	for at, b := range p.head.features {
		if err := p.numbers(b, m, at); err != nil {
			return nil, err
		}
	}
	set := &Set{Name: string(p.text), X: NewDense(m), Columns: p.columns, Lines: p.linesOf(n)}
	var err error
	if set.Labels, err = p.words(p.head.label, n, func(value []byte) (string, error) {
		return p.labels.word(value, func() (string, error) { return p.word(p.head.label, value, p.labeller) })
	}); err != nil {
		return nil, err
	}
	set.IDs, err = p.words(p.head.id, n, func(value []byte) (string, error) { return p.word(p.head.id, value, labeller{}) })
	return set, err
}

// linesOf returns the numbers of the block's rows, from 1.
func (p *parquetBlocks) linesOf(n int) []int {
	p.lines = p.lines[:0]
	for i := range n {
		p.lines = append(p.lines, p.row+i+1)
	}
	return p.lines
}

// numbers reads the cells of the column with index b in p.source into a column of the block.
func (p *parquetBlocks) numbers(b int, m linalg.Matrix[float64], at int) error {
	number := p.cells[b].number
	return p.each(b, m.Rows, func(i int, value []byte) error {
		v := number(value)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return inRow(errNotFinite, p.row+i)
		}
		m.Data[i*m.Stride+at] = v
		return nil
	})
}

// words reads the labels or ids of the block. Column -1 gives nil.
func (p *parquetBlocks) words(b, n int, word func([]byte) (string, error)) ([]string, error) {
	if b < 0 {
		return nil, nil
	}
	out := make([]string, n)
	return out, p.each(b, n, func(i int, value []byte) (err error) {
		if out[i], err = word(value); err != nil {
			err = inRow(err, p.row+i)
		}
		return err
	})
}

func (p *parquetBlocks) word(b int, value []byte, l labeller) (string, error) {
	s, err := p.cells[b].label(value)
	if err == nil {
		s, err = l.canonical(s)
	}
	return s, err
}

// each calls visit for the next n values of a column.
func (p *parquetBlocks) each(b, n int, visit func(i int, value []byte) error) error {
	for i := range n {
		value, null, err := p.cursors[b].Next()
		switch {
		case err != nil:
		case null:
			err = fmt.Errorf("is null in row %d; fill the cell or drop the row", p.row+i+1)
		default:
			err = visit(i, value)
		}
		if err != nil {
			return fmt.Errorf("%s %w", p.head.column(b), err)
		}
	}
	return nil
}

// labelCache holds the canonical form of labels, so that each class is one text in memory.
type labelCache map[string]string

// maxCached bounds the labels of a cache. A regression can have more labels; those that are not in the cache are
// decoded for each row.
const maxCached = 1 << 12

// word returns the label of a value. It calls read if the cache does not hold the label.
func (c *labelCache) word(value []byte, read func() (string, error)) (string, error) {
	if label, known := (*c)[string(value)]; known {
		return label, nil
	}
	label, err := read()
	if *c == nil {
		*c = make(labelCache)
	}
	if err == nil && len(*c) < maxCached {
		(*c)[string(value)] = label
	}
	return label, err
}
