package parquet

import "errors"

// gaps are the values of a page in which some rows are null.
type gaps struct {
	defined []uint32 // of the rows that are left
	values  values   // of the others; nil where all are null
}

// errNull stands for a row without a value.
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

// Cursor walks down a column, row by row. In use are the column's current page and dictionary.
type Cursor struct {
	file   *File
	column int
	group  int // the next one
	rows   int // of the group that are left
	pages  pages
	values values
	left   int // values of the page
}

// Cursor returns a walk down column j. Several may go on side by side.
func (f *File) Cursor(j int) *Cursor { return &Cursor{file: f, column: j} }

// Next returns the value of the next row as [File.Each] does, and true if it is null. It may be
// called once for each row of the file; the value is good until the next call.
func (c *Cursor) Next() (value []byte, null bool, err error) {
	if err := c.turn(); err != nil {
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

// turn goes on to the next page where the last one has ended.
func (c *Cursor) turn() (err error) {
	for c.rows == 0 {
		if c.group == len(c.file.groups) {
			return errPage
		}
		g := &c.file.groups[c.group]
		c.group++
		if c.rows = g.rows; c.rows > 0 {
			c.pages.reset(c.file, &g.chunks[c.column], c.file.Columns[c.column])
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
