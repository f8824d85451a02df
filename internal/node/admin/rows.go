package admin

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
)

const (
	maxRows    = 1 << 30 // bytes of the rows of one question
	maxName    = 1 << 12 // bytes of the name of a table, a column or a row
	rowsFormat = 2
)

// encodeRows writes the parts of a table that a model needs: its numbers, the names of its
// columns, its name in messages, and the ids of its rows, by which other holders of
// their columns know them. Labels stay behind.
func encodeRows(set *dataset.Set) ([]byte, error) {
	narrow, isNarrow := set.X.(*dataset.Dense32)
	size := sizeOf(isNarrow)
	for j, name := range set.Columns {
		if len(name) > maxName {
			return nil, fmt.Errorf("%s: the name of column %d (from 0) has %d bytes, more than the %d allowed; rename it", set.Name, j, len(name), maxName)
		}
	}
	for i, id := range set.IDs {
		if len(id) > maxName {
			return nil, fmt.Errorf("%s: the id of row %d (from 1) has %d bytes, more than the %d allowed; shorten it", set.Name, i+1, len(id), maxName)
		}
	}
	rows, cols := set.X.Rows(), set.X.Cols()
	if rows > maxRows/size/cols {
		return nil, fmt.Errorf("%s has %d rows of %d columns, more than the %d bytes of one question; ask about fewer rows at a time", set.Name, rows, cols, maxRows)
	}
	var w wire.Writer
	w.Grow(size*rows*cols + maxName)
	w.Uint8(rowsFormat)
	w.String(set.Name[:min(len(set.Name), maxName)])
	w.Strings(set.Columns)
	w.Strings(set.IDs)
	w.Uint32(uint32(rows))
	w.Uint32(uint32(cols))
	w.Bool(isNarrow)
	if isNarrow {
		for i := range rows {
			w.Float32s(narrow.Matrix().Row(i))
		}
		return w.Bytes(), nil
	}
	row := make([]float64, cols)
	for i := range rows {
		w.Float64s(set.X.Row(i, row))
	}
	return w.Bytes(), nil
}

// sizeOf is the bytes of a number.
func sizeOf(narrow bool) int {
	if narrow {
		return 4
	}
	return 8
}

var errRows = errors.New("control: rows to predict that do not decode; use the daemon and the command of one version")

// decodeRows reads what encodeRows wrote.
func decodeRows(b []byte) (*dataset.Set, error) {
	r := wire.NewReader(b)
	if v := r.Uint8(); r.Err() == nil && v != rowsFormat {
		return nil, errRows
	}
	set := &dataset.Set{Name: r.String(maxName)}
	set.Columns = r.Strings(dataset.MaxColumns, maxName)
	set.IDs = r.Strings(maxRows, maxName)
	rows, cols, narrow := int(r.Uint32()), int(r.Uint32()), r.Bool()
	size := sizeOf(narrow)
	if r.Err() != nil || rows < 1 || cols < 1 || cols > r.Len() || rows*cols != r.Len()/size || r.Len()%size != 0 || len(set.IDs) > 0 && len(set.IDs) != rows {
		return nil, errRows
	}
	if narrow {
		m := linalg.New[float32](rows, cols)
		r.Float32s(m.Data)
		set.X = dataset.NewDense32(m)
	} else {
		m := linalg.New[float64](rows, cols)
		r.Float64s(m.Data)
		set.X = dataset.NewDense(m)
	}
	if err := r.Close("control: rows to predict"); err != nil {
		return nil, err
	}
	if err := set.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", set.Name, err)
	}
	return set, nil
}
