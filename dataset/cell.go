package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/mercer-fl/mercer/linalg"
)

// cellType describes how a binary format stores one cell: its kind, its size and its byte order.
type cellType struct {
	kind  byte // NumPy's letter: b(ool), i(nt), u(int), f(loat), S (bytes) or U (text)
	size  int  // size in bytes; for U, in characters
	order binary.ByteOrder
}

// fits32 reports whether a float32 can represent every value of the type exactly.
func (c cellType) fits32() bool {
	return c.kind == 'b' || c.kind == 'f' && c.size <= 4 || c.kind != 'f' && c.size <= 2
}

// number returns a function that decodes a cell as a number, or nil for an unknown type. 64-bit
// integers beyond 2^53 are rounded.
func (c cellType) number() func([]byte) float64 {
	o := c.order
	switch fmt.Sprintf("%c%d", c.kind, c.size) {
	case "b1":
		return func(b []byte) float64 { return float64(min(b[0], 1)) }
	case "u1":
		return func(b []byte) float64 { return float64(b[0]) }
	case "i1":
		return func(b []byte) float64 { return float64(int8(b[0])) }
	case "u2":
		return func(b []byte) float64 { return float64(o.Uint16(b)) }
	case "i2":
		return func(b []byte) float64 { return float64(int16(o.Uint16(b))) }
	case "u4":
		return func(b []byte) float64 { return float64(o.Uint32(b)) }
	case "i4":
		return func(b []byte) float64 { return float64(int32(o.Uint32(b))) }
	case "u8":
		return func(b []byte) float64 { return float64(o.Uint64(b)) }
	case "i8":
		return func(b []byte) float64 { return float64(int64(o.Uint64(b))) }
	case "f2":
		return func(b []byte) float64 { return half(o.Uint16(b)) }
	case "f4":
		return func(b []byte) float64 { return float64(math.Float32frombits(o.Uint32(b))) }
	case "f8":
		return func(b []byte) float64 { return math.Float64frombits(o.Uint64(b)) }
	}
	return nil
}

// half decodes a number of 16 bits: a sign, 5 bits of the exponent and 10 of the fraction.
func half(b uint16) float64 {
	fraction, exponent := float64(b&0x3ff), int(b>>10&0x1f)
	v := math.Ldexp(fraction+0x400, exponent-25)
	switch {
	case exponent == 0:
		v = math.Ldexp(fraction, -24)
	case exponent == 0x1f && fraction != 0:
		v = math.NaN()
	case exponent == 0x1f:
		v = math.Inf(1)
	}
	if b>>15 == 1 {
		v = -v
	}
	return v
}

// shape holds the numbers of rows and columns of a table to be read.
type shape struct{ rows, cols int }

// shapeOf derives the shape of a table from the dimensions of an array. The first dimension is the
// number of rows. The product of the others is the number of columns.
func shapeOf(dims []int, bounds limits) (shape, error) {
	if len(dims) == 0 {
		return shape{}, errors.New("the array is a single number; give an array with a row for each sample")
	}
	s := shape{dims[0], 1}
	for _, d := range dims[1:] {
		if d > bounds.columns || s.cols*d > bounds.columns {
			return shape{}, fmt.Errorf("the table has more than %d columns; split it", bounds.columns)
		}
		s.cols *= d
	}
	switch {
	case s.rows == 0:
		return shape{}, errors.New("there are no rows; give at least one")
	case s.cols == 0:
		return shape{}, errors.New("there are no columns; give at least one feature")
	case s.rows > bounds.cells/s.cols:
		return shape{}, fmt.Errorf("the table has more than %d cells; split it", bounds.cells)
	}
	return s, nil
}

// readDense reads a dense table row by row. Its cells are float32 if a float32 can represent every value of
// the cell type.
func readDense(r io.Reader, c cellType, s shape) (Table, error) {
	place := func(at int) (row, col int) { return at / s.cols, at % s.cols }
	if c.fits32() {
		cells, err := readCells[float32](r, c, s)
		return NewDense32(matrixOf(cells, s)), placed(err, place)
	}
	cells, err := readCells[float64](r, c, s)
	return NewDense(matrixOf(cells, s)), placed(err, place)
}

// matrixOf returns a matrix over the cells. If reading failed, cells is nil and the matrix is
// empty.
func matrixOf[T linalg.Float](cells []T, s shape) linalg.Matrix[T] {
	if cells == nil {
		return linalg.Matrix[T]{}
	}
	return linalg.Matrix[T]{Rows: s.rows, Cols: s.cols, Stride: s.cols, Data: cells}
}

// firstCells is the largest number of cells for which memory is allocated before any data arrive, because a
// header can give a false number. Later allocations grow with the data that arrive.
const firstCells = 1 << 18

// notFinite is the error about a number that is NaN or infinite.
type notFinite struct {
	at    int // index of the number in the order of the file, from 0
	value float64
}

func (e *notFinite) Error() string { return fmt.Sprintf("number %d is %v", e.at+1, e.value) }

// placed converts a notFinite error of readCells to an error that names the row and the column. The function
// place computes both from the index of the number. Other errors are returned unchanged.
func placed(err error, place func(at int) (row, col int)) error {
	var bad *notFinite
	if !errors.As(err, &bad) {
		return err
	}
	row, col := place(bad.at)
	return fmt.Errorf("row %d, column %d (from 1) is %v; fill the cell or drop the row", row+1, col+1, bad.value)
}

// readCells reads the numbers of a table in their stored order, and checks that r ends after them. The error
// about a number that is not finite is a [*notFinite].
func readCells[T linalg.Float](r io.Reader, c cellType, s shape) ([]T, error) {
	n, number := s.rows*s.cols, c.number()
	cells := make([]T, 0, min(n, firstCells))
	chunk := make([]byte, readAhead/c.size*c.size)
	for len(cells) < n {
		b := chunk[:min(len(chunk), (n-len(cells))*c.size)]
		if got, err := io.ReadFull(r, b); err != nil {
			return nil, short(err, len(cells)+got/c.size, n)
		}
		cells = grown(cells, len(b)/c.size, n)
		for at := 0; at < len(b); at += c.size {
			v := number(b[at:])
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, &notFinite{len(cells), v}
			}
			cells = append(cells, T(v))
		}
	}
	return cells, atEnd(r)
}

// grown returns cells with capacity for the given number of further cells. It never allocates more
// than n cells in all.
func grown[T any](cells []T, more, n int) []T {
	if len(cells)+more <= cap(cells) {
		return cells
	}
	wide := make([]T, len(cells), min(n, max(2*cap(cells), len(cells)+more)))
	copy(wide, cells)
	return wide
}

func short(err error, got, want int) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the data end after %d of %d numbers (%w); copy the file again", got, want, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("reading fails after %d of %d numbers (%w); copy the file again", got, want, err)
}

// atEnd returns an error if r has bytes after the last number. Reading to the end also checks
// checksums.
func atEnd(r io.Reader) error {
	var b [1]byte
	switch _, err := io.ReadFull(r, b[:]); {
	case err == nil:
		return errors.New("the file has bytes after the last number; write it again")
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("reading fails after the last number (%w); copy the file again", err)
	}
	return nil
}

// labelCells reads labels from cells of fixed width.
type labelCells struct {
	cell     cellType
	read     func([]byte) (string, error)
	size     int
	labeller labeller
}

func (l *labelCells) all(r io.Reader, n int) ([]string, error) {
	labels := make([]string, 0, min(n, firstCells))
	chunk := make([]byte, max(readAhead/l.size, 1)*l.size)
	for len(labels) < n {
		b := chunk[:min(len(chunk), (n-len(labels))*l.size)]
		if got, err := io.ReadFull(r, b); err != nil {
			return nil, short(err, len(labels)+got/l.size, n)
		}
		for ; len(b) > 0; b = b[l.size:] {
			label, err := l.read(b[:l.size])
			if err == nil {
				label, err = l.labeller.canonical(label)
			}
			if err != nil {
				return nil, fmt.Errorf("entry %d %w; correct it or drop the row", len(labels)+1, err)
			}
			labels = append(labels, label)
		}
	}
	return labels, atEnd(r)
}

// label returns a function that reads a cell as a label. Integers keep all their digits.
func (c cellType) label() func([]byte) (string, error) {
	switch {
	case c.kind == 'S':
		return func(b []byte) (string, error) { return plainText(string(bytes.TrimRight(b, "\x00"))) }
	case c.kind == 'U':
		return c.utf32
	case c.kind == 'u' && c.size == 8:
		return func(b []byte) (string, error) { return strconv.FormatUint(c.order.Uint64(b), 10), nil }
	case c.kind == 'i' && c.size == 8:
		return func(b []byte) (string, error) { return strconv.FormatInt(int64(c.order.Uint64(b)), 10), nil }
	}
	number := c.number()
	return func(b []byte) (string, error) { return formatNumber(number(b)), nil }
}

// utf32 decodes a cell of UTF-32 text that is padded with zeros.
func (c cellType) utf32(b []byte) (string, error) {
	var s []byte
	for ; len(b) > 0; b = b[4:] {
		v := c.order.Uint32(b)
		if v > utf8.MaxRune || !utf8.ValidRune(rune(v)) {
			return "", errNotText
		}
		s = utf8.AppendRune(s, rune(v))
	}
	return plainText(string(bytes.TrimRight(s, "\x00")))
}

var errNotText = errors.New("is not readable text")

func plainText(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", errNotText
	}
	return s, nil
}

// formatNumber writes a number as the text of a label. A labeller refuses the texts of NaN
// and infinities.
func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
