package prepare

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
)

// Blocks reads a table in blocks. It implements [dataset.Blocks].
type Blocks struct {
	table Table
	from  dataset.Records
	read  *reader
	most  int  // largest number of rows in a block
	any   bool // whether a block was read
}

var _ dataset.Blocks = (*Blocks)(nil)

// OpenBlocks returns the rows of a table in blocks of at most the given number of rows, with the
// values and the errors of [Read]. But it bounds only the cells of a block, and it does not look for equal
// ids, because that would need all ids in memory; see [Table.RepeatedID].
func OpenBlocks(from dataset.Records, t Table, rows int) (*Blocks, error) {
	if rows < 1 {
		return nil, t.refuse(0, fmt.Errorf("blocks of %d rows cannot be read; choose at least 1", rows))
	}
	r, err := t.open(from)
	if err != nil {
		return nil, err
	}
	r.firstID = nil
	return &Blocks{table: t, from: from, read: r, most: rows}, nil
}

// Next implements [dataset.Blocks].
func (b *Blocks) Next() (*dataset.Set, error) {
	b.read.forget()
	for b.read.frame.rows < b.most {
		row, err := b.from.Next()
		if errors.Is(err, io.EOF) {
			return b.last()
		}
		if err != nil {
			return nil, err
		}
		if err := b.read.add(row); err != nil {
			return nil, b.table.refuseRow(row, err)
		}
	}
	b.any = true
	return b.read.set(), nil
}

// last returns the rows before the end of the table.
func (b *Blocks) last() (*dataset.Set, error) {
	switch {
	case b.read.frame.rows > 0:
		b.any = true
		return b.read.set(), nil
	case !b.any:
		return nil, b.table.refuse(0, b.read.errNoRows())
	}
	return nil, io.EOF
}

// Unlabelled returns the number of rows that were left out so far because they had no label.
func (b *Blocks) Unlabelled() int { return b.read.unlabelled }

// forget removes the rows that were read. It keeps the counts of rows left out, and the words of agreed
// categories with their codes.
func (r *reader) forget() {
	dropped, words := r.frame.Dropped, r.frame.words
	r.frame = newFrame(r.Schema)
	r.frame.Absent, r.frame.Outside, r.frame.Dropped = r.absent, make([]int, len(r.Schema)), dropped
	r.frame.words = slices.Clone(words)
	r.labels, r.keys, r.groups, r.cuts, r.weights, r.lines = nil, nil, nil, nil, nil, nil
}
