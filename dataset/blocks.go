package dataset

import (
	"errors"
	"io"
	"path"
	"strings"
)

// BlockRows is the usual number of rows of a block, for callers of [OpenBlocks].
const BlockRows = 2048

// Blocks reads the rows of a table in blocks, so that only one of them is in memory at a time.
type Blocks interface {
	// Next returns the next rows, at least one, or io.EOF after the last. The set is good until the
	// next call.
	Next() (*Set, error)
}

// blockCells is the largest count of numbers in a block of several rows. They take 32 MiB.
const blockCells = 1 << 22

// rowsOfBlock returns the number of rows of a block of a table with some columns: as many as asked
// for, or fewer if the table is wide.
func rowsOfBlock(asked, columns int) int { return max(1, min(asked, blockCells/max(1, columns))) }

// OpenBlocks returns the rows of a table in blocks of the given number of rows; the last block can be
// shorter. A block of several rows holds at most 2^22 numbers, so the blocks of a wide table have fewer rows
// than asked for. Format, values and errors are those of [Read], for a CSV text and for a parquet file; other
// formats are refused. OpenBlocks differs from Read in these things. The cells are float64. A table can
// hold more than [MaxCells] numbers. OpenBlocks does not look for equal ids, because that would need all
// ids in memory. Sets from a parquet file have Lines. Of a parquet file with several faults, which
// Read reads column by column, OpenBlocks reports the first fault of the first block that has one.
//
// The memory is that of a block, and of a line of the text or of the footer and of a page and a dictionary
// of each column of the parquet file. A parquet file without random access is held in memory, as by Read.
// The reader r must stay open until the last block is read.
func OpenBlocks(name string, r io.Reader, o Options, rows int) (Blocks, error) {
	return openBlocks(name, r, o, rows, defaultLimits())
}

func openBlocks(name string, r io.Reader, o Options, rows int, bounds limits) (Blocks, error) {
	if rows < 1 {
		return nil, text(name).errorf(0, "blocks of %d rows cannot be read; choose at least 1", rows)
	}
	o.CSV.Name, o.Parquet.Name = name, name
	suffix := path.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))
	switch suffix {
	case ".parquet":
		at, size, err := randomAccess(text(name), r, MaxArchive)
		if err != nil {
			return nil, err
		}
		return openParquetBlocks(at, size, o.Parquet, rows, bounds)
	case ".svm", ".libsvm", ".txt", ".npy", ".npz":
		return nil, errNoBlocks(name)
	case ".tsv":
		if o.CSV.Comma == 0 {
			o.CSV.Comma = '\t'
		}
	}
	b, err := open(text(name), r)
	if err != nil {
		return nil, err
	}
	if suffix != ".csv" && suffix != ".tsv" && sniffLIBSVM(b) {
		return nil, errNoBlocks(name)
	}
	p, first, err := newCSVParser(b, o.CSV, bounds)
	if err != nil {
		return nil, err
	}
	return &csvBlocks{csvParser: p, ahead: first, most: rowsOfBlock(rows, len(p.head.features))}, nil
}

func errNoBlocks(name string) error {
	return text(name).errorf(0, "a table in this format cannot be read in blocks; save it as CSV or parquet")
}

// csvBlocks reads the rows of a CSV text in blocks.
type csvBlocks struct {
	*csvParser
	ahead []record // first rows, which were read to find the columns
	most  int      // largest number of rows in a block
	total int      // number of rows in all earlier blocks
}

// Next implements [Blocks].
func (c *csvBlocks) Next() (*Set, error) {
	c.total += c.rows
	c.rows, c.values, c.lines = 0, c.values[:0], c.lines[:0]
	c.labels, c.ids = emptied(c.labels), emptied(c.ids)
	for c.rows < c.most {
		row, err := c.read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = c.add(row)
		}
		if err != nil {
			return nil, err
		}
	}
	if c.rows > 0 {
		return c.set(), nil
	}
	if err := c.checkEnd(c.total); err != nil {
		return nil, err
	}
	return nil, io.EOF
}

// read returns the next row of the text.
func (c *csvBlocks) read() (record, error) {
	if len(c.ahead) > 0 {
		row := c.ahead[0]
		c.ahead = c.ahead[1:]
		return row, nil
	}
	return c.in.next()
}

// emptied clears a list and returns it with length 0, so that its memory is used again. A nil list stays nil.
func emptied(list []string) []string {
	clear(list)
	return list[:0]
}
