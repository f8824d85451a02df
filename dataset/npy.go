package dataset

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/mercer-fl/mercer/linalg"
)

// NPYOptions holds the settings for reading one NumPy array.
type NPYOptions struct {
	Name string // name of the file in messages
	// Label selects the label column by its index from 0, "last", or "none". An empty Label means
	// "none", since users of NumPy usually keep labels in a separate array.
	Label string
}

// ReadNPY reads a dense set from an array that numpy.save wrote, plain or compressed by gzip. The
// array has one of the types float16, float32, float64, int, uint or bool in any byte order, in C or Fortran
// order, format versions 1 to 3. The length of the first axis is the number of rows. The product of
// the other lengths is the number of columns, as by numpy's reshape(n, -1). The table is a Dense32
// if float32 holds every value of the array's type (float16, float32, bool, and integers of 8 or 16 bits), else a
// Dense; integers beyond 2^53 are rounded. ReadNPY refuses NaN and infinite numbers, structured
// arrays, Python objects and bytes after the array. Errors are *SyntaxError.
//
// The decoder is this package's own. It trusts nothing in the header, and memory grows with the
// data that arrive, to at most three times the table (four times for Fortran order).
func ReadNPY(r io.Reader, o NPYOptions) (*Set, error) {
	b, err := gunzip(text(o.Name), r)
	if err != nil {
		return nil, err
	}
	set, err := readNPY(b, o, defaultLimits())
	if err != nil {
		return nil, text(o.Name).wrap(0, err)
	}
	return set, nil
}

func readNPY(r io.Reader, o NPYOptions, bounds limits) (*Set, error) {
	x, err := readNPYTable(r, bounds)
	if err != nil {
		return nil, err
	}
	at, err := labelIndex(o.Label, x.Cols())
	if err != nil || at < 0 {
		return &Set{Name: o.Name, X: x}, err
	}
	labels, row, features := make([]string, x.Rows()), make([]float64, x.Cols()), linalg.Range(0, x.Cols())
	for i := range labels {
		labels[i] = formatNumber(x.Row(i, row)[at])
	}
	features = append(features[:at], features[at+1:]...)
	return &Set{Name: o.Name, X: x.Columns(features), Labels: labels}, nil
}

// labelIndex returns the index of an array's label column, or -1 for none.
func labelIndex(label string, cols int) (int, error) {
	at := cols - 1
	switch label {
	case "", "none":
		return -1, nil
	case "last":
	default:
		var err error
		if at, err = strconv.Atoi(label); err != nil || at < 0 {
			return 0, NoColumn(label, "label: no column is called %s, since the columns of an array have no names; give an index from 0, \"last\" or \"none\"", quote(label))
		}
	}
	switch {
	case at >= cols:
		return 0, fmt.Errorf("label: there is no column %d; choose 0 to %d", at, cols-1)
	case cols == 1:
		return 0, errors.New("no column is left for features; give at least one, or set label to \"none\"")
	}
	return at, nil
}

// readNPYTable reads an array of numbers as a table.
func readNPYTable(r io.Reader, bounds limits) (Table, error) {
	h, err := readNPYHeader(r)
	if err != nil {
		return nil, err
	}
	if h.cell.isText() {
		return nil, fmt.Errorf("the array holds strings (%s); features must be numbers, so code the strings as numbers", quote(h.descr))
	}
	s, err := shapeOf(h.dims, bounds)
	if err != nil {
		return nil, err
	}
	if !h.fortran || len(h.dims) == 1 {
		return readDense(r, h.cell, s)
	}
	if h.cell.fits32() {
		m, err := readFortran[float32](r, h, s)
		return NewDense32(m), err
	}
	m, err := readFortran[float64](r, h, s)
	return NewDense(m), err
}

// readFortran reads an array in Fortran order, in which the first index runs fastest.
func readFortran[T linalg.Float](r io.Reader, h npyHeader, s shape) (linalg.Matrix[T], error) {
	target := fortranColumns(h.dims[1:], s.cols)
	cells, err := readCells[T](r, h.cell, s)
	if err != nil {
		return linalg.Matrix[T]{}, placed(err, func(at int) (row, col int) { return at % s.rows, target[at/s.rows] })
	}
	m := linalg.New[T](s.rows, s.cols)
	const grain = 64 // rows written at a time, few enough to stay in the cache
	linalg.For(s.rows, grain, func(lo, hi int) {
		for q, col := range target {
			for i := lo; i < hi; i++ {
				m.Data[i*s.cols+col] = cells[q*s.rows+i]
			}
		}
	})
	return m, nil
}

// fortranColumns returns the index in C order of each column in Fortran order.
func fortranColumns(dims []int, cols int) []int {
	target := make([]int, cols)
	index := make([]int, len(dims))
	for q := range target {
		for d, i := range index {
			target[q] = target[q]*dims[d] + i
		}
		for d := range index {
			if index[d]++; index[d] < dims[d] {
				break
			}
			index[d] = 0
		}
	}
	return target
}
