package snapshot

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/dataset"
)

// A stream of rows begins with a row of the columns' names, each followed by the column's index in the
// source. A row consists of the line number in the source, the length of the row in bytes, and the fields, each
// after the field's length. All numbers are varints. The fields of the sort key come first.

// maxRow is the largest size of an encoded row in bytes.
const maxRow = 64 << 20

var errDamaged = errors.New("the snapshot of the job's rows is damaged; drop the job and submit it again")

// splitField splits an encoded row into its first field and the rest.
func splitField(row []byte) (field, rest []byte, ok bool) {
	n, used := binary.Uvarint(row)
	if used <= 0 || n > uint64(len(row)-used) {
		return nil, nil, false
	}
	return row[used : used+int(n)], row[used+int(n):], true
}

// compareRows compares two encoded rows field by field, as bytes.
func compareRows(a, b []byte) int {
	for len(a) > 0 && len(b) > 0 {
		x, restA, okA := splitField(a)
		y, restB, okB := splitField(b)
		if !okA || !okB {
			break // unreachable: this process encoded both rows
		}
		if c := bytes.Compare(x, y); c != 0 {
			return c
		}
		a, b = restA, restB
	}
	return cmp.Compare(len(a), len(b))
}

// writeRow writes one encoded row.
func writeRow(w *bufio.Writer, line int, row []byte) error {
	var head [2 * binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(line))
	n += binary.PutUvarint(head[n:], uint64(len(row)))
	_, err := w.Write(head[:n])
	_, rowErr := w.Write(row)
	return errors.Join(err, rowErr)
}

// rowReader reads the encoded rows of a stream, one after another.
type rowReader struct {
	from *bufio.Reader
	line int
	row  []byte // valid until the next row is read
}

// next reads the next row. It returns io.EOF after the last row.
func (e *rowReader) next() error {
	line, err := binary.ReadUvarint(e.from)
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	n, err := binary.ReadUvarint(e.from)
	if err != nil || n > maxRow {
		return errors.Join(errDamaged, err)
	}
	e.line = int(line)
	if uint64(cap(e.row)) < n {
		e.row = make([]byte, n)
	}
	e.row = e.row[:n]
	if _, err := io.ReadFull(e.from, e.row); err != nil {
		return errors.Join(errDamaged, err)
	}
	return nil
}

// Rows reads the rows of a snapshot, in the order in which they are stored. Close ends the reading.
type Rows struct {
	rowReader
	in      io.Closer
	columns []string
	order   []int // index of the column for each encoded field
	fields  []string
}

// Read opens a store's snapshot for reading. It returns errors of the store unchanged.
func Read(from Store) (*Rows, error) {
	in, err := from.Open(Name)
	if err != nil {
		return nil, err
	}
	r := &Rows{rowReader: rowReader{from: bufio.NewReader(in)}, in: in}
	if err := r.readColumns(); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return r, nil
}

// readColumns reads the columns, each with its index in the source.
func (r *Rows) readColumns() error {
	if err := r.next(); err != nil {
		return errors.Join(errDamaged, err)
	}
	for row := r.row; len(row) > 0; {
		name, rest, ok := splitField(row)
		at, used := binary.Uvarint(rest)
		if !ok || used <= 0 || at > maxRow {
			return errDamaged
		}
		r.columns, r.order, row = append(r.columns, string(name)), append(r.order, int(at)), rest[used:]
	}
	r.fields = make([]string, len(r.columns))
	names := r.columns
	r.columns = make([]string, len(names))
	taken := make([]bool, len(names))
	for i, at := range r.order {
		if at >= len(names) || taken[at] {
			return errDamaged
		}
		r.columns[at], taken[at] = names[i], true
	}
	return nil
}

// Columns implements [dataset.Records]. The columns are in the source's order.
func (r *Rows) Columns() []string { return r.columns }

// Next implements [dataset.Records].
func (r *Rows) Next() (dataset.Record, error) {
	if err := r.next(); err != nil {
		return dataset.Record{}, err
	}
	row, text := r.row, string(r.row)
	for _, at := range r.order {
		field, rest, ok := splitField(row)
		if !ok {
			return dataset.Record{}, errDamaged
		}
		end := len(text) - len(rest)
		r.fields[at], row = text[end-len(field):end], rest
	}
	if len(row) > 0 {
		return dataset.Record{}, errDamaged
	}
	return dataset.Record{Line: r.line, Fields: r.fields}, nil
}

// Close implements [io.Closer].
func (r *Rows) Close() error { return r.in.Close() }
