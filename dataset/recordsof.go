package dataset

import (
	"io"
	"strconv"
)

// RecordsOf returns the rows of a set as text, for readers that give cells a meaning. Labels
// and ids are columns of these names, where the set has them; columns without names are called
// as [WriteCSV] calls them.
func RecordsOf(s *Set, label, id string) Records {
	r := &setRecords{set: s, columns: s.names(), row: make([]float64, s.X.Cols())}
	if s.Labels != nil && label != "" {
		r.columns, r.extra = append(r.columns, label), append(r.extra, s.Labels)
	}
	if s.IDs != nil && id != "" {
		r.columns, r.extra = append(r.columns, id), append(r.extra, s.IDs)
	}
	r.fields = make([]string, len(r.columns))
	return r
}

// setRecords are the rows of a set.
type setRecords struct {
	set     *Set
	columns []string
	extra   [][]string // labels and ids
	next    int
	row     []float64
	fields  []string
}

// Columns implements [Records].
func (r *setRecords) Columns() []string { return r.columns }

// Next implements [Records].
func (r *setRecords) Next() (Record, error) {
	if r.next == r.set.X.Rows() {
		return Record{}, io.EOF
	}
	r.set.X.Row(r.next, r.row)
	for j, v := range r.row {
		r.fields[j] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	for k, list := range r.extra {
		r.fields[len(r.row)+k] = list[r.next]
	}
	r.next++
	return Record{Line: r.next, Fields: r.fields}, nil
}
