package okra

import (
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// Round 3, Rows (the paper's 3.2.3): each party encodes its rows panel by
// panel and sends them to the server in chunks.
const (
	roundRows = 3
	kindRows  = "Rows"
)

// upload encodes rows and cuts them into the bodies of chunks. It holds one
// panel at a time.
type upload struct {
	encoder Encoder
	rows    linalg.Matrix[float64]
	layout  layout
	panel   linalg.Matrix[float64] // encoded rows, reused
	first   int                    // row of the data at which panel begins
	end     int                    // first row of the data not yet encoded
	next    int                    // first chunk not yet sent
}

func newUpload(e Encoder, rows linalg.Matrix[float64], word int) *upload {
	u := &upload{encoder: e, rows: rows, layout: layout{rows.Rows, e.Width(), word}}
	u.panel = linalg.New[float64](min(rows.Rows, u.batchRows()), e.Width())
	return u
}

// batchRows is how many rows are encoded at once: what takes about 50 ms and
// fits into a step, in whole chunks. The count depends on parameters and
// shapes alone, so that a replay sends the same messages.
func (u *upload) batchRows() int {
	whole := u.layout.perChunk()
	if whole == 0 {
		return 1
	}
	const chunks = protocol.MaxStepBytes / protocol.MaxChunkBytes
	return whole * max(1, min(chunks, u.encoder.panel()/whole))
}

func (u *upload) done() bool { return u.next == u.layout.chunks() }

// batch returns the bodies of the next chunks, from chunk first on: at most
// MaxStepBytes, and not beyond the panel that is at hand.
func (u *upload) batch() (first int, bodies [][]byte) {
	first = u.next
	for size := 0; !u.done(); u.next++ {
		s := u.layout.span(u.next)
		size += u.layout.bytes(s)
		if size > protocol.MaxStepBytes || s.row >= u.end && len(bodies) > 0 {
			break
		}
		if s.row >= u.end {
			u.encodePanel()
		}
		bodies = append(bodies, u.body(s))
	}
	return first, bodies
}

func (u *upload) encodePanel() {
	u.first = u.end
	u.end = min(u.first+u.panel.Rows, u.rows.Rows)
	u.encoder.Encode(u.panel.Panel(0, u.end-u.first), u.rows.Panel(u.first, u.end))
}

// body is the numbers of s, row by row.
func (u *upload) body(s span) []byte {
	var w wire.Writer
	w.Grow(u.layout.bytes(s))
	narrow := make([]float32, s.cols)
	for i := s.row; i < s.row+s.rows; i++ {
		row := u.panel.Row(i - u.first)[s.col : s.col+s.cols]
		if u.layout.word == 8 {
			w.Float64s(row)
			continue
		}
		for j, v := range row {
			narrow[j] = float32(v)
		}
		w.Float32s(narrow)
	}
	return w.Bytes()
}
