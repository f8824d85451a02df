package scale

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/protocol"
)

// sendStatistics sends as many chunks as a step may.
func (p *Party) sendStatistics() protocol.Effects {
	var eff protocol.Effects
	n := p.layout.chunks()
	for range min(p.layout.batch, n-p.sent) {
		body := p.layout.encode(p.own.Rows, columns{p.own.First, p.own.Second}.span(p.layout.span(p.sent)))
		eff.Send = append(eff.Send, p.message(p.leader, roundStatistics, kindStatistics, p.sent, body))
		p.sent++
	}
	eff.Resume = p.sent < n
	eff.Progress = protocol.Progress{Stage: "statistics", Done: int64(p.sent), Total: int64(n)}
	return eff
}

// takeStatistics takes a chunk from a party. Another width ends the session,
// because no later message could mend it.
func (l *Leader) takeStatistics(m protocol.Message) (protocol.Effects, error) {
	if err := l.expect(m.Header, roundStatistics, kindStatistics, protocol.RoleParty); err != nil {
		return protocol.Effects{}, err
	}
	c, err := decode(m, l.sizing)
	if err == nil {
		err = check(l.own.Method, c.rows, c.columns)
	}
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if f := c.layout.columns; f != l.layout.columns {
		return protocol.Effects{End: &protocol.End{Err: &WidthError{m.Sender, f, l.setup.Self, l.layout.columns}}}, nil
	}
	return l.collect(m.Header, c)
}

// collect puts a chunk of the right width into its block.
func (l *Leader) collect(h protocol.Header, c chunk) (protocol.Effects, error) {
	member, at := slices.Index(l.members, h.Sender), int(h.Chunk)
	b := &l.blocks[at]
	switch {
	case b.missing == 0 || b.parts != nil && b.parts[member] != nil:
		return protocol.Effects{}, protocol.Blame(h.Sender, protocol.KindUnexpected, fmt.Errorf("scale: %v: it is here already", h))
	case l.rows[member] != unknownRows && l.rows[member] != c.rows:
		return protocol.Effects{}, h.Inconsistent("%d rows, %d in an earlier chunk", c.rows, l.rows[member])
	case at >= l.merged+aheadBlocks:
		return protocol.Effects{}, protocol.ErrLater
	}
	if b.parts == nil {
		b.parts = make([]*columns, len(l.members))
	}
	l.rows[member] = c.rows
	b.parts[member] = &c.columns
	b.missing--
	if b.missing == 0 {
		l.mergeBlock(at)
	}
	if l.complete() {
		if l.total.Rows == 0 {
			return protocol.Effects{End: &protocol.End{Err: fmt.Errorf("scale: no party has rows to scale by: %w", protocol.ErrInput)}}, nil
		}
		return l.finish(), nil
	}
	return protocol.Effects{Progress: protocol.Progress{Stage: "statistics", Done: int64(l.merged), Total: int64(len(l.blocks))}}, nil
}

// mergeBlock combines one block of all members in their order, and frees it.
func (l *Leader) mergeBlock(at int) {
	lo, hi := l.layout.span(at)
	total := columns{l.total.First, l.total.Second}.span(lo, hi)
	n := 0
	for i, name := range l.members {
		part := columns{l.own.First, l.own.Second}
		if name == l.setup.Self {
			part = part.span(lo, hi)
		} else {
			part = *l.blocks[at].parts[i]
		}
		merge(l.own.Method, total, n, part, l.rows[i])
		n += l.rows[i]
	}
	l.total.Rows = n
	l.blocks[at].parts = nil
	for l.merged < len(l.blocks) && l.blocks[l.merged].missing == 0 {
		l.merged++
	}
}

// finish turns the total into the scaling and begins round 2.
func (l *Leader) finish() protocol.Effects {
	l.result = l.total.scaling()
	eff := l.sendCombined()
	eff.Sync = true
	return eff
}

// expire ends the session if statistics are still missing. To blame are those
// who hold up the block that is next to be merged; others may be held back by
// the leader itself.
func (l *Leader) expire(t protocol.Timer) (protocol.Effects, error) {
	if t != TimerStatistics || l.complete() {
		return protocol.Effects{}, nil
	}
	var missing []string
	next := l.blocks[l.merged]
	for i, name := range l.members {
		if name != l.setup.Self && (next.parts == nil || next.parts[i] == nil) {
			missing = append(missing, name)
		}
	}
	return protocol.Finish(protocol.Effects{}, protocol.Blame(missing[0], protocol.KindSilent, fmt.Errorf("scale: no complete statistics in time from %s", strings.Join(missing, ", "))))
}
