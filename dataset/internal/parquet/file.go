package parquet

import (
	"errors"
	"fmt"
	"io"
)

// Limits bound the memory and work that a file is allowed to cause; zero fields mean the defaults.
type Limits struct {
	Page   int // most bytes of a page, stored or decompressed; default 256 MiB
	Values int // number of values that even the smallest file is allowed to hold; default 2^24
}

// spread is the number of values that each byte of a file adds to the file's limit. The limit on
// decompressed bytes grows in the same way. Useful tables hold far less.
const spread = 1024

func (l Limits) orDefault() Limits {
	if l.Page == 0 {
		l.Page = 256 << 20
	}
	if l.Values == 0 {
		l.Values = 1 << 24
	}
	return l
}

// File is an open parquet file. It is not safe for concurrent use.
type File struct {
	Rows    int
	Columns []Column

	in      io.ReaderAt
	sources []source
	groups  []group
	limits  Limits
	spare   int64 // bytes that are still allowed to be decompressed
	pages   pages
}

// Open reads and checks the footer of a file of size bytes. If it opens, every column without a
// [File.Fault] is flat and not encrypted, its chunks lie inside the file, and its codecs are known.
func Open(r io.ReaderAt, size int64, l Limits) (*File, error) {
	b, err := readFooter(r, size)
	if err != nil {
		return nil, err
	}
	m, err := parseFooter(b)
	if err != nil {
		return nil, err
	}
	f := &File{in: r, groups: m.groups, limits: l.orDefault()}
	leaves := 0
	if f.Columns, f.sources, leaves, err = m.columns(); err != nil {
		return nil, err
	}
	f.spare = int64(f.limits.Page) + size*spread
	if err := f.checkRows(m.rows, int64(f.limits.Values)+size*spread); err != nil {
		return nil, err
	}
	for _, g := range f.groups {
		if len(g.chunks) != leaves {
			return nil, errFooter
		}
		if err := f.checkGroup(g, size-tailSize-int64(len(b))); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// checkRows returns an error if row counts disagree, or if the file has too many values.
func (f *File) checkRows(rows, most int64) error {
	sum := int64(0)
	for _, g := range f.groups {
		if g.rows < 0 || int64(g.rows) > rows-sum {
			return errFooter
		}
		sum += int64(g.rows)
	}
	if sum != rows {
		return errFooter
	}
	if rows > most/int64(max(len(f.Columns), 1)) {
		return fmt.Errorf("the footer gives %d rows of %d columns, which is more than a file of this size can have; if the numbers are right, save the table as .npy", rows, len(f.Columns))
	}
	f.Rows = int(rows)
	return nil
}

var errChunks = errors.New("has pages that do not fit into the file; copy the file again")

// checkGroup checks the chunks of the columns that can be read. A column in an unknown compression
// gets a fault.
func (f *File) checkGroup(g group, end int64) error {
	for j := range f.sources {
		from := &f.sources[j]
		if from.fault != nil {
			continue
		}
		c := &g.chunks[from.leaf]
		if err := c.check(f.Columns[j], g.rows, end); err != nil {
			return err
		}
		from.fault = c.codec.check()
	}
	return nil
}

// Fault says why the values of column j cannot be read, as a text after the name of the column. It
// returns nil for a column that can be read.
func (f *File) Fault(j int) error { return f.sources[j].fault }

// chunk returns the chunk of column j in a row group.
func (f *File) chunk(g *group, j int) *chunk { return &g.chunks[f.sources[j].leaf] }

func (c *chunk) check(column Column, rows int, end int64) error {
	refuse := func(err error) error { return &ColumnError{column.Name, err} }
	switch {
	case c.encrypted:
		return errEncrypted
	case c.elsewhere:
		return refuse(errors.New("is stored in another file; write the table into a single file"))
	case c.kind != column.Kind, c.values != int64(rows):
		return errFooter
	}
	lo := c.start()
	if rows > 0 && (lo < magicSize || c.compressed < 0 || lo > end || c.compressed > end-lo) {
		return refuse(errChunks)
	}
	return nil
}

// Each calls visit for each value of column j in the order of the rows, from 0. A value has the
// bytes of parquet's PLAIN encoding without a length: numbers are little-endian, a boolean is the
// byte 0 or 1. The slice is valid until visit returns. A null is an error. Each stops at the first
// error.
func (f *File) Each(j int, visit func(row int, value []byte) error) error {
	if err := f.Fault(j); err != nil {
		return err
	}
	row := 0
	for i := range f.groups {
		g := &f.groups[i]
		if err := f.eachOf(f.chunk(g, j), f.Columns[j], row, g.rows, visit); err != nil {
			return err
		}
		row += g.rows
	}
	return nil
}

func (f *File) eachOf(c *chunk, column Column, row, rows int, visit func(row int, value []byte) error) error {
	if rows == 0 {
		return nil
	}
	f.pages.reset(f, c, column)
	for end := row + rows; row < end; {
		values, err := f.pages.next(end - row)
		if err != nil {
			return err
		}
		for range values.len() {
			v, err := values.next()
			if errors.Is(err, errNull) {
				return fmt.Errorf("is null in row %d; fill the cell or drop the row", row+1)
			}
			if err == nil {
				err = visit(row, v)
			}
			if err != nil {
				return err
			}
			row++
		}
	}
	return nil
}

// gaps is an iterator over the values of a page in which some rows are null.
type gaps struct {
	defined []uint32 // for each row not yet read: 1 for a value, 0 for null
	values  values   // values of the rows that are not null; nil if all are null
}

// errNull reports a row without a value.
var errNull = errors.New("is null")

func (v *gaps) len() int { return len(v.defined) }

func (v *gaps) next() ([]byte, error) {
	defined := v.defined[0]
	v.defined = v.defined[1:]
	if defined == 0 {
		return nil, errNull
	}
	return v.values.next()
}

// Cursor reads a column row by row. It holds the column's current page and dictionary in memory.
type Cursor struct {
	file   *File
	column int
	group  int // index of the next row group
	rows   int // number of rows of the group not yet read
	pages  pages
	values values
	left   int // number of values of the page not yet read
}

// Cursor returns a cursor at the start of column j. Several cursors can be in use at the same
// time.
func (f *File) Cursor(j int) *Cursor { return &Cursor{file: f, column: j} }

// Next returns the value of the next row, or reports that the row is null. The value has the form
// of [File.Each]. Call Next at most once for each row of the file; the value is good until
// the next call.
func (c *Cursor) Next() (value []byte, null bool, err error) {
	if err := c.file.Fault(c.column); err != nil {
		return nil, false, err
	}
	if err := c.readNextPage(); err != nil {
		return nil, false, err
	}
	c.left--
	c.rows--
	value, err = c.values.next()
	if errors.Is(err, errNull) {
		return nil, true, nil
	}
	return value, false, err
}

// readNextPage reads the next page if all values of the current page were read.
func (c *Cursor) readNextPage() (err error) {
	for c.rows == 0 {
		if c.group == len(c.file.groups) {
			return errPage
		}
		g := &c.file.groups[c.group]
		c.group++
		if c.rows = g.rows; c.rows > 0 {
			c.pages.reset(c.file, c.file.chunk(g, c.column), c.file.Columns[c.column])
		}
	}
	if c.left > 0 {
		return nil
	}
	if c.values, err = c.pages.next(c.rows); err == nil {
		c.left = c.values.len()
	}
	return err
}
