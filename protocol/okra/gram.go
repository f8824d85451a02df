package okra

import (
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// Round 4, Receipt: the server multiplies the encoded rows (Theorem 3.1 of the
// paper), tells every party how many rows there are in all, and ends. A party
// ends only then, so that nothing is destroyed before the server has
// everything.
const (
	roundReceipt = 4
	kindReceipt  = "Receipt"
)

func encodeReceipt(rows int) []byte {
	var w wire.Writer
	w.Uint64(uint64(rows))
	return w.Bytes()
}

func decodeReceipt(body []byte) (uint64, error) {
	r := wire.NewReader(body)
	rows := r.Uint64()
	return rows, r.Close("okra: receipt")
}

// The shape of the server's work: tiles of the Gram matrix, panels of rows
// against panels of rows, and each tile in slices of coordinates, so that a
// step stays near 100 ms whatever the width. Slices are added in order.
const (
	panelRows  = 512
	sliceWidth = 2048
	stepWork   = panelRows * panelRows * sliceWidth // multiply-adds
)

// assembly is a linear Gram matrix in the making.
type assembly struct {
	rows  store
	width int
	gram  linalg.Matrix[float64]
	tiles []tile // not yet complete
	total int
	lo    int // first coordinate that the first tile lacks
	part  []float64
}

// step does slices until about stepWork is done.
func (a *assembly) step() {
	for work := 0; len(a.tiles) > 0 && work < stepWork; {
		t := a.tiles[0]
		hi := min(a.lo+sliceWidth, a.width)
		a.slice(t, hi)
		work += (t.iEnd - t.i) * (t.jEnd - t.j) * (hi - a.lo)
		if a.lo = hi; hi == a.width {
			a.mirror(t)
			a.tiles, a.lo = a.tiles[1:], 0
		}
	}
}

func (a *assembly) done() bool { return len(a.tiles) == 0 }

// slice adds the coordinates from a.lo to hi-1 to t.
func (a *assembly) slice(t tile, hi int) {
	dst := columns(a.gram.Panel(t.i, t.iEnd), t.j, t.jEnd)
	if a.lo == 0 {
		a.rows.gram(dst, t, 0, hi)
		return
	}
	if a.part == nil {
		a.part = make([]float64, panelRows*panelRows)
	}
	part := shaped(a.part, dst.Rows, dst.Cols)
	a.rows.gram(part, t, a.lo, hi)
	for i := range dst.Rows {
		axpy(dst.Row(i), 1, part.Row(i))
	}
}

// mirror copies t to the other side of the diagonal.
func (a *assembly) mirror(t tile) {
	if t.i == t.j {
		return
	}
	for i := t.i; i < t.iEnd; i++ {
		for j, v := range a.gram.Row(i)[t.j:t.jEnd] {
			a.gram.Row(t.j + j)[i] = v
		}
	}
}

func (a *assembly) progress() protocol.Progress {
	return protocol.Progress{Stage: "gram", Done: int64(a.total - len(a.tiles)), Total: int64(a.total)}
}
