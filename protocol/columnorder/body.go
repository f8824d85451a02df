package columnorder

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

const (
	// minSlots is the smallest number of columns to which a list of columns is padded.
	minSlots     = 64
	columnBytes  = exactBytes + foldedBytes
	columnsBytes = keyBytes + 1 + 4
	// minMatch is the smallest number of bytes to which an answer or a verdict is padded.
	minMatch = 1 << 10
	// maxListed limits the number of columns that an answer or an error text lists.
	maxListed = 8
	// maxVerdict limits the number of bytes of the leader's verdict.
	maxVerdict = 4 << 10
)

// sizing limits the columns in a message and the messages in a step.
type sizing struct {
	chunk int // columns in a message, a power of two
	batch int // messages that one step sends
}

// bulk returns the limits that real sessions use. Tests use lower limits.
func bulk() sizing {
	const chunk = 1 << 14
	return sizing{chunk: chunk, batch: protocol.MaxStepBytes / (columnsBytes + columnBytes*chunk)}
}

// layout pads a table's columns to a power of two and divides them into messages. If the columns
// have no names, none are sent.
type layout struct {
	named bool
	width int // number of columns of the table
	slots int // number of columns after padding, in all messages together
	sizing
}

func newLayout(named bool, width int, s sizing) layout {
	slots := minSlots
	for named && slots < width {
		slots *= 2
	}
	s.chunk = min(s.chunk, slots)
	return layout{named, width, slots, s}
}

func (l layout) chunks() int { return l.slots / l.chunk }

// span returns the range of the table's columns in chunk i. The range is empty if the chunk
// holds only padding.
func (l layout) span(i int) (lo, hi int) {
	if !l.named {
		return 0, 0
	}
	return min(i*l.chunk, l.width), min((i+1)*l.chunk, l.width)
}

// digests holds two digests of each column name. The folded digest ignores case, blanks and Unicode
// form.
type digests struct {
	exact  []exact
	folded []folded
}

func (d digests) span(lo, hi int) digests { return digests{d.exact[lo:hi], d.folded[lo:hi]} }

// encode returns the body of a chunk with the key and the digests d, padded with zeros.
func (l layout) encode(key [keyBytes]byte, d digests) []byte {
	var w wire.Writer
	w.Grow(columnsBytes + columnBytes*l.chunk)
	w.Fixed(key[:])
	w.Bool(l.named)
	w.Uint32(uint32(l.width))
	for i := range d.exact {
		w.Fixed(d.exact[i][:])
		w.Fixed(d.folded[i][:])
	}
	w.Fixed(make([]byte, columnBytes*(l.chunk-len(d.exact))))
	return w.Bytes()
}

// chunk is a decoded chunk of the leader's list of columns.
type chunk struct {
	key    [keyBytes]byte
	layout layout // layout of the leader's table
	digests
}

func decodeColumns(m protocol.Message, s sizing) (chunk, error) {
	r := wire.NewReader(m.Body)
	var c chunk
	r.Fixed(c.key[:])
	named, width := r.Bool(), int(r.Uint32())
	most := MaxNumbered
	if named {
		most = MaxNamed
	}
	switch {
	case r.Err() != nil:
		return chunk{}, r.Err()
	case width < 1 || width > most:
		return chunk{}, fmt.Errorf("the table has %d columns; 1 to %d are allowed", width, most)
	}
	c.layout = newLayout(named, width, s)
	if int64(m.Chunks) != int64(c.layout.chunks()) || m.Chunk >= m.Chunks || r.Len() != columnBytes*c.layout.chunk {
		return chunk{}, fmt.Errorf("the digests have %d bytes, which is wrong for chunk %d of %d of a table with %d columns", r.Len(), m.Chunk+1, m.Chunks, width)
	}
	lo, hi := c.layout.span(int(m.Chunk))
	c.digests = digests{make([]exact, hi-lo), make([]folded, hi-lo)}
	for i := range c.exact {
		r.Fixed(c.exact[i][:])
		r.Fixed(c.folded[i][:])
	}
	return c, requireZeros(r)
}

// requireZeros returns an error if the rest of r, which is padding, is not all zero.
func requireZeros(r *wire.Reader) error {
	for _, b := range r.Rest() {
		if b != 0 {
			r.Fail(errors.New("the padding is not zero"))
		}
	}
	return r.Err()
}

// match is a party's answer to the leader's list of columns.
type match struct {
	named   bool
	width   int   // number of columns of the party's table
	missing int   // number of the leader's columns that the party lacks
	listed  []gap // the first missing columns, in the leader's order
	classes []string
}

// gap is a column of the leader that a party lacks.
type gap struct {
	place int  // index in the leader's table, from 0
	near  bool // whether a column of the party that the leader lacks has a similar name, different only in case, blanks or Unicode form
}

func (m match) encode() []byte {
	var w wire.Writer
	w.Bool(m.named)
	w.Uint32(uint32(m.width))
	w.Uint32(uint32(m.missing))
	w.Uint32(uint32(len(m.listed)))
	for _, g := range m.listed {
		w.Uint32(uint32(g.place))
		w.Bool(g.near)
	}
	w.Strings(m.classes)
	return padded(w.Bytes())
}

// padded encodes content with its length, and pads the result with zeros to a power of two.
func padded(content []byte) []byte {
	var w wire.Writer
	w.Bytes32(content)
	w.Fixed(make([]byte, sizeOf(len(content))-len(w.Bytes())))
	return w.Bytes()
}

// unpadded returns the content of a body that padded has returned.
func unpadded(body []byte) ([]byte, error) {
	r := wire.NewReader(body)
	content := r.Bytes32(protocol.MaxChunkBytes)
	if err := requireZeros(r); err != nil {
		return nil, err
	}
	if len(body) != sizeOf(len(content)) {
		return nil, fmt.Errorf("the body has %d bytes, which is not the padded size of %d bytes of content", len(body), len(content))
	}
	return content, nil
}

// sizeOf returns the padded size of a body whose content has the given number of bytes.
func sizeOf(content int) int {
	size := minMatch
	for size < 4+content {
		size *= 2
	}
	return size
}

// decodeMatch decodes an answer to a leader whose table has the given width.
func decodeMatch(body []byte, leader int) (match, error) {
	content, err := unpadded(body)
	if err != nil {
		return match{}, err
	}
	r := wire.NewReader(content)
	m := match{named: r.Bool(), width: int(r.Uint32()), missing: int(r.Uint32())}
	m.listed = make([]gap, r.Count(maxListed, 5))
	for i := range m.listed {
		m.listed[i] = gap{int(r.Uint32()), r.Bool()}
	}
	if n := r.Count(MaxClasses, 2); n > 0 {
		m.classes = make([]string, n)
	}
	for i := range m.classes {
		m.classes[i] = r.String(MaxNameBytes)
	}
	if err := r.Close("answer"); err != nil {
		return match{}, err
	}
	return m, m.check(leader)
}

// check returns an error if an answer contradicts itself or the number of the leader's columns.
func (m match) check(leader int) error {
	if m.width < 1 || m.width > MaxNumbered || m.missing > leader || len(m.listed) != min(m.missing, maxListed) {
		return fmt.Errorf("the answer is contradictory: a table with %d columns lacks %d of the leader's %d columns and lists %d missing columns", m.width, m.missing, leader, len(m.listed))
	}
	for i, g := range m.listed {
		if g.place >= leader || i > 0 && g.place <= m.listed[i-1].place {
			return fmt.Errorf("the answer lists column %d of %d, which does not exist or is out of order", g.place, leader)
		}
	}
	return checkClasses(m.classes)
}
