package okra

import (
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// Round 3, Rows (section 3.2.3 of the paper): each party encodes its rows panel by panel and sends
// them to the server in chunks.
const (
	roundRows = 3
	kindRows  = "Rows"
)

// RowsKind is the kind of the messages that carry encoded rows.
const RowsKind = kindRows

// panelBytes limits the memory of the encoded rows of one panel, before they are divided into chunks.
const panelBytes = 64 << 20

// upload encodes rows and divides them into the bodies of chunks. It holds one panel of rows at a
// time.
type upload struct {
	encoder Encoder
	rows    linalg.Rows
	layout  layout
	plain   linalg.Matrix[float64] // the panel's rows before they are encoded; reused
	panel   linalg.Matrix[float64] // the panel's encoded rows; reused
	first   int                    // index of the panel's first row
	end     int                    // index of the first row not yet encoded
	ready   bool                   // whether the encoder is prepared
	piece   int                    // next piece of the panel that is being encoded
	next    int                    // index of the first chunk not yet sent
}

func newUpload(e Encoder, rows linalg.Rows, word int) *upload {
	n, f := rows.Shape()
	u := &upload{encoder: e, rows: rows, layout: layout{n, e.Width(), word}}
	size := min(n, u.rowsAtOnce())
	u.plain, u.panel = linalg.New[float64](size, f), linalg.New[float64](size, e.Width())
	return u
}

// rowsAtOnce returns the number of rows in a panel. It is the number that the encoder prefers and
// memory allows, in whole chunks. It depends on parameters and shapes alone, so a replay sends the
// same messages in the same steps.
func (u *upload) rowsAtOnce() int {
	rows := max(1, min(u.encoder.panel(), panelBytes/(8*u.layout.width)))
	if whole := u.layout.perChunk(); whole > 0 {
		return whole * max(1, rows/whole)
	}
	return rows
}

func (u *upload) done() bool { return u.next == u.layout.chunks() }

// batch returns the bodies of the chunks to send in one step, and the index of the first of these
// chunks. If no encoded rows are left to send, it encodes a piece of the next panel; it returns no
// bodies before that panel is complete. The bodies have at most MaxStepBytes.
func (u *upload) batch() (first int, bodies [][]byte) {
	first = u.next
	if u.layout.span(u.next).row >= u.end && !u.encode() {
		return first, nil
	}
	for size := 0; !u.done(); u.next++ {
		s := u.layout.span(u.next)
		if size += u.layout.bytes(s); size > protocol.MaxStepBytes || s.row >= u.end {
			break
		}
		bodies = append(bodies, u.body(s))
	}
	if u.done() {
		u.plain, u.panel = linalg.Matrix[float64]{}, linalg.Matrix[float64]{}
	}
	return first, bodies
}

// encode does the next piece of the work: a piece of the encoder's preparation, or else of the
// encoding of the next panel. It reports whether the panel is complete.
func (u *upload) encode() bool {
	if p, is := u.encoder.(preparer); is && !u.ready {
		u.ready = p.prepare()
		return false
	}
	rows := min(u.panel.Rows, u.layout.rows-u.end)
	plain := u.plain.Panel(0, rows)
	if u.piece == 0 {
		linalg.Gather(plain, u.rows, u.end)
	}
	u.encoder.piece(u.panel.Panel(0, rows), plain, u.piece)
	if u.piece++; u.piece < u.encoder.pieces(rows) {
		return false
	}
	u.first, u.end, u.piece = u.end, u.end+rows, 0
	return true
}

// body returns the body of the chunk with span s: its encoded numbers, row by row.
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
