package model

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// maxColumnName bounds the name of a column.
const maxColumnName = 1024

// Named returns the model with the names of its rows' columns, by which the columns of
// new rows are found; nil for a model that takes them by position.
func (m *Model) Named(columns []string) (*Model, error) {
	if err := checkColumns(columns, m.width); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	named := *m
	named.columns = columns
	return &named, nil
}

// Columns returns the names of a row's columns, nil if the model does not know them.
// The caller must not change them.
func (m *Model) Columns() []string { return m.columns }

func checkColumns(columns []string, width int) error {
	if columns == nil {
		return nil
	}
	if len(columns) != width || width == 0 {
		return fmt.Errorf("%d names of %d columns", len(columns), width)
	}
	seen := make(map[string]bool, len(columns))
	for j, name := range columns {
		if len(name) > maxColumnName || seen[name] {
			return fmt.Errorf("column %d (from 0) has a name of more than %d bytes, or one that stood before: %.40q", j, maxColumnName, name)
		}
		seen[name] = true
	}
	return nil
}

// writeColumns writes nothing where there are no names: the version says so.
func writeColumns(w *wire.Writer, columns []string) {
	for _, name := range columns {
		w.String(name)
	}
}

func readColumns(r *wire.Reader, width int) []string {
	if !room(r, width, 2) {
		return nil
	}
	columns := make([]string, width)
	for j := range columns {
		columns[j] = r.String(maxColumnName)
	}
	return columns
}
