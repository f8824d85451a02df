package snapshot

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/extsort"
)

// Write stores all rows of a source, sorted by the columns of key and then by all other columns. It
// ignores columns of key that the source lacks.
func Write(to Store, from dataset.Records, key []string) error {
	return write(to, from, key, extsort.RunBytes)
}

func write(to Store, from dataset.Records, key []string, runBytes int) (err error) {
	order := orderOf(from.Columns(), key)
	s := extsort.New(to, "run", compareRecords, runBytes)
	defer func() { err = errors.Join(err, s.Close()) }()
	var record []byte
	err = eachRow(from, order, func(line int, row []byte) error {
		record = append(binary.AppendUvarint(record[:0], uint64(line)), row...)
		return s.Add(record)
	})
	if err != nil {
		return err
	}
	return to.Write(Name, buffered(func(w *bufio.Writer) error {
		if err := writeRow(w, 0, encodeColumns(from.Columns(), order)); err != nil {
			return err
		}
		for record, err := range s.All() {
			if err != nil {
				return err
			}
			line, row := splitLine(record)
			if err := writeRow(w, int(line), row); err != nil {
				return err
			}
		}
		return nil
	}))
}

// compareRecords orders records by their rows, and then by their lines.
func compareRecords(a, b []byte) int {
	lineA, rowA := splitLine(a)
	lineB, rowB := splitLine(b)
	return cmp.Or(compareRows(rowA, rowB), cmp.Compare(lineA, lineB))
}

// splitLine splits a record into the number of its line and its encoded row.
func splitLine(record []byte) (line uint64, row []byte) {
	line, used := binary.Uvarint(record)
	return line, record[used:]
}

// Keep stores all rows of a source, in the order of the source. It is for sources with an order,
// such as files.
func Keep(to Store, from dataset.Records) error {
	order := orderOf(from.Columns(), nil)
	return to.Write(Name, buffered(func(w *bufio.Writer) error {
		if err := writeRow(w, 0, encodeColumns(from.Columns(), order)); err != nil {
			return err
		}
		return eachRow(from, order, func(line int, row []byte) error { return writeRow(w, line, row) })
	}))
}

// eachRow calls use with each row of a source, encoded with its fields in the given order. The row is
// good until the next call.
func eachRow(from dataset.Records, order []int, use func(line int, row []byte) error) error {
	var b []byte
	for {
		row, err := from.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		b = appendRow(b[:0], row.Fields, order)
		if len(b) > maxRow {
			return fmt.Errorf("row %d has %d bytes, more than the %d allowed; leave out its longest column", row.Line, len(b), maxRow)
		}
		if err := use(row.Line, b); err != nil {
			return err
		}
	}
}

// orderOf returns the indices of all columns, the key columns first. This is the sort order.
func orderOf(columns, key []string) (order []int) {
	for _, name := range key {
		if at := slices.Index(columns, name); at >= 0 && !slices.Contains(order, at) {
			order = append(order, at)
		}
	}
	for at := range columns {
		if !slices.Contains(order, at) {
			order = append(order, at)
		}
	}
	return order
}

// appendRow appends an encoded row to b, with its fields in the given order.
func appendRow(b []byte, fields []string, order []int) []byte {
	for _, at := range order {
		b = binary.AppendUvarint(b, uint64(len(fields[at])))
		b = append(b, fields[at]...)
	}
	return b
}

// encodeColumns encodes the name of each column and its index in the source.
func encodeColumns(columns []string, order []int) (b []byte) {
	for _, at := range order {
		b = appendRow(b, columns, []int{at})
		b = binary.AppendUvarint(b, uint64(at))
	}
	return b
}

func buffered(write func(*bufio.Writer) error) func(io.Writer) error {
	return func(to io.Writer) error {
		w := bufio.NewWriter(to)
		return errors.Join(write(w), w.Flush())
	}
}
