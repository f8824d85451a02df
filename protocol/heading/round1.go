package heading

import (
	"github.com/mercer-fl/mercer/protocol"
)

// sendHeading sends as much as a step may, chunk by chunk to all parties.
func (l *Leader) sendHeading() protocol.Effects {
	var eff protocol.Effects
	n := len(l.others) * l.layout.chunks()
	for range min(l.layout.batch, n-l.sent) {
		at, to := l.sent/len(l.others), l.others[l.sent%len(l.others)]
		body := l.layout.encode(l.key, l.digests.span(l.layout.span(at)))
		eff.Send = append(eff.Send, l.setup.Message(to, roundHeading, kindHeading, body).Piece(at, l.layout.chunks()))
		l.sent++
	}
	eff.Resume = l.sent < n
	eff.Progress = protocol.Progress{Stage: "heading", Done: int64(l.sent), Total: int64(n)}
	return eff
}

// takeHeading takes a chunk, and answers after the last.
func (p *Party) takeHeading(m protocol.Message) (protocol.Effects, error) {
	c, err := decodeHeading(m, p.size)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if err := p.fits(m.Header, c); err != nil {
		return protocol.Effects{}, err
	}
	if p.got == nil {
		p.begin(c)
	}
	lo, _ := c.layout.span(int(m.Chunk))
	copy(p.theirs.exact[lo:], c.exact)
	copy(p.theirs.folded[lo:], c.folded)
	p.got[m.Chunk] = true
	p.missing--
	if p.missing > 0 {
		return protocol.Effects{Arm: []protocol.Timer{TimerHeading}}, nil
	}
	return p.answer(), nil
}

// fits refuses a chunk that does not go with the ones before.
func (p *Party) fits(h protocol.Header, c chunk) error {
	switch {
	case p.got == nil:
		return nil
	case c.layout != p.layout || c.key != p.key:
		return h.Inconsistent("another heading than in an earlier chunk")
	case p.got[h.Chunk]:
		return h.Unexpected()
	}
	return nil
}

// begin notes what all chunks have in common.
func (p *Party) begin(c chunk) {
	p.layout, p.key = c.layout, c.key
	p.missing = c.layout.chunks()
	p.got = make([]bool, p.missing)
	_, width := c.layout.span(p.missing - 1)
	p.theirs = digests{make([]exact, width), make([]folded, width)}
}
