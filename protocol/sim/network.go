package sim

import (
	"crypto/sha256"

	"github.com/mercer-fl/mercer/protocol"
)

// send hands a message to the network.
func (s *simulation) send(m protocol.Message) {
	s.result.Sent[m.Header] = sha256.Sum256(m.Body)
	e := s.edge(m.Sender, m.Receiver)
	e.Messages++
	e.Bytes += int64(len(m.Body))
	arrives := []protocol.Message{m}
	if s.config.Intercept != nil {
		arrives = s.config.Intercept(m)
	}
	to := s.byName[m.Receiver]
	if to == nil || to.gone || to.ended() {
		return
	}
	for _, a := range arrives {
		s.post(e, to, a)
	}
}

// post queues a message for to, perhaps twice.
func (s *simulation) post(e *Edge, to *node, m protocol.Message) {
	p := &parcel{edge: e, to: to, size: len(m.Body), digest: m.Digest()}
	e.waiting++
	s.flight.add(1, p.size)
	s.result.Peak.raise(s.flight)
	to.outcome.flight.add(1, p.size)
	to.outcome.Peak.raise(to.outcome.flight)
	it := item{to: to, event: protocol.Received{Message: m}, parcel: p}
	s.push(it)
	if s.chance(s.config.Duplicate) {
		s.push(it)
	}
}

// settle takes a parcel off the count of undelivered messages.
func (s *simulation) settle(p *parcel) {
	if p.done {
		return
	}
	p.done = true
	p.edge.waiting--
	s.flight.add(-1, -p.size)
	p.to.outcome.flight.add(-1, -p.size)
}

// edge returns the count of what from has sent to to.
func (s *simulation) edge(from, to string) *Edge {
	key := [2]string{from, to}
	e := s.edges[key]
	if e == nil {
		e = &Edge{From: from, To: to}
		s.edges[key] = e
		s.byName[from].edges = append(s.byName[from].edges, e)
		s.result.edges = append(s.result.edges, e)
	}
	return e
}
