package prepare

import (
	"errors"
	"io"

	"github.com/mercer-fl/mercer/dataset"
)

// People returns whom each row of a table is about, in the order of the records: the cell of the group's
// column or, without one, the id. It is nil of a table without both.
func (t Table) People(from dataset.Records) ([]string, error) {
	t.Schema, t.Label, t.Cut = Schema{}, "", ""
	r, err := t.reader(from.Columns())
	if err != nil {
		return nil, t.refuse(1, err)
	}
	for {
		row, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := errors.Join(r.addID(row), r.addBeside(row.Fields)); err != nil {
			return nil, t.refuse(row.Line, err)
		}
	}
	if t.Group != "" {
		return r.groups, nil
	}
	return r.keys, nil
}
