package fdskl

import (
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// decider asks for the phases of new rows, some rows at a time, and keeps the
// decisions only.
type decider struct {
	coefficients     linalg.Matrix[float64]
	mean             float64
	rows, directions int
	most             int                     // directions of one request
	table            *linear.Phases[float64] // of as many rows as are asked for at a time
	batch            fdskl.Span              // rows under way
	last             fdskl.Span              // directions of the last request
	decisions        linalg.Matrix[float64]  // rows x outputs
}

// phasesAtOnce bounds the bytes of phases that a decider holds, or its rows.
const (
	phasesAtOnce  = 1 << 26
	deciderAtOnce = 1 << 12
)

// Next implements [fdskl.Schedule].
func (d *decider) Next() (fdskl.Request, bool) {
	next := d.last.First + d.last.Count
	if d.batch.Count == 0 || next == d.directions {
		d.decide()
		first := d.batch.First + d.batch.Count
		d.batch, next = fdskl.Span{First: first, Count: min(d.table.Rows(), d.rows-first)}, 0
	}
	d.last = fdskl.Span{First: next, Count: min(d.most, d.directions-next)}
	return fdskl.Request{Rows: []fdskl.Span{d.batch}, Directions: d.last}, d.batch.Count > 0
}

// Answer implements [fdskl.Schedule].
func (d *decider) Answer(rows []int, words []byte) {
	d.table.Put(words, rows[0]-d.batch.First, len(rows), d.last.First, d.last.Count)
}

// decide reads the decisions of the rows under way.
func (d *decider) decide() {
	u := linear.Decide(part[float64]{d.table, 0, d.batch.Count}, d.coefficients)
	for i := range d.batch.Count {
		for k := range u.Rows {
			d.decisions.Row(d.batch.First + i)[k] = u.Row(k)[i] + d.mean
		}
	}
}
