package sealed

import (
	"slices"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// kindShare is the kind of a server's messages with its share of the weights.
const kindShare = "Share"

// check is a PLACEHOLDER: it opens the weights by exchanging the shares, and checks nothing. A single keeper that lies
// can make all others accept any weights.
type check struct {
	computation
	self    role
	said    [2]*inflow // the servers' shares
	waiting []outflow
}

// newCheck returns the check of a keeper. The share is nil at the dealer. The links are the sources that the keeper has
// in common with each other one, by role.
func newCheck(c computation, self role, _ inputs, share []ring128.Word, _ [3]*covers) (*check, error) {
	k := &check{computation: c, self: self}
	for r := range k.said {
		k.said[r] = newInflow(c.vectors())
	}
	if self == dealerC {
		return k, nil
	}
	k.said[self] = &inflow{words: share}
	for _, to := range []role{1 - self, dealerC} {
		k.waiting = append(k.waiting, newOutflow(c.header(self, to, 0, kindShare), share))
	}
	return k, nil
}

// expectsInCheck reports whether an honest keeper sends such a message of the check to this one.
func (c computation) expectsInCheck(from, _ role, h protocol.Header) bool {
	return h.Kind == kindShare && from != dealerC && h.Round == 0 && int64(h.Chunks) == int64(chunks(c.vectors()))
}

func (k *check) send() (protocol.Message, bool) {
	for i := range k.waiting {
		if m, ok := k.waiting[i].take(); ok {
			return m, true
		}
	}
	return protocol.Message{}, false
}

func (k *check) receive(m protocol.Message) error {
	from, err := k.admitKeeper(m.Header, k.self)
	if err != nil {
		return err
	}
	if m.Kind != kindShare || from == dealerC || m.Round != 0 {
		return m.Unexpected()
	}
	return k.said[from].accept(m)
}

func (k *check) work() (bool, error) { return false, nil }

func (k *check) done() bool {
	sent := !slices.ContainsFunc(k.waiting, func(o outflow) bool { return !o.empty() })
	return sent && k.waits() == (wait{})
}

func (k *check) waits() wait {
	for r, in := range k.said {
		if !in.complete() {
			return wait{TimerKeeper, k.keepers[r], "its share of the weights"}
		}
	}
	return wait{}
}

// weights returns the opened words.
func (k *check) weights() []ring128.Word {
	sum := slices.Clone(k.said[serverA].words)
	ring128.Add(sum, k.said[serverB].words)
	return sum
}

// addCheck adds the messages of the check to a session's cost, and returns the number of messages in its longest chain.
func (c computation) addCheck(cost *protocol.Cost) int {
	for _, from := range []role{serverA, serverB} {
		for _, to := range []role{1 - from, dealerC} {
			c.addWords(cost, c.header(from, to, 0, kindShare), c.vectors())
		}
	}
	return 1
}
