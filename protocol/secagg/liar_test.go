package secagg

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// liar is a server that follows the protocol except where it lies: tell may change a
// client's message, and it accepts every signature.
type liar struct {
	*Server
	tell     func(protocol.Message) protocol.Message
	released map[string][]release // what it has got out of the clients
}

func (l *liar) Step(e protocol.Event) (protocol.Effects, error) {
	if r, ok := e.(protocol.Received); ok {
		switch r.Message.Round {
		case roundConsistency:
			return l.swallow(r.Message)
		case roundUnmask:
			list, err := decodeReleases(r.Message.Body, l.params.clients)
			if err != nil {
				return protocol.Effects{}, err
			}
			l.released[r.Message.Sender] = list
		}
	}
	effects, err := l.Server.Step(e)
	for i, m := range effects.Send {
		effects.Send[i] = l.tell(m)
	}
	return effects, err
}

// swallow keeps a signature that the honest server would refuse.
func (l *liar) swallow(m protocol.Message) (protocol.Effects, error) {
	from, _ := l.clientOf(m.Sender)
	l.peers[from].signature = signature{from, [64]byte(m.Body)}
	l.agreed.add(from)
	if l.agreed.count() < l.survivors.count() {
		return protocol.Effects{}, nil
	}
	return l.advance()
}

// lie runs a session whose server lies, and returns the liar with the released shares.
func (c *cohort) lie(t *testing.T, s sim.Schedule, tell func(protocol.Message) protocol.Message) (*sim.Result, *liar) {
	t.Helper()
	nodes := c.nodes(t)
	var l *liar
	nodes[0].New = func() (protocol.Machine, error) {
		server, err := NewServer(c.setup("server"), c.params, c.public(), Limits{})
		l = &liar{server, tell, make(map[string][]release)}
		return l, err
	}
	r, err := sim.Run(sim.Config{Session: c.session, Nodes: nodes, Schedule: s})
	if err != nil {
		t.Fatal(err)
	}
	return r, l
}

// checkHonest checks that the liar gives a sum if it does not lie.
func (c *cohort) checkHonest(t *testing.T, l *liar) {
	t.Helper()
	if l.Sums() == nil {
		t.Fatal("without a lie there is no sum")
	}
}

// blames demands that a client ended with, or refused a message with, an error
// that blames the server.
func blames(t *testing.T, r *sim.Result, client, words string) {
	t.Helper()
	var all []error
	if o := r.Outcome(client); o.End != nil {
		all = append(all, o.End.Err)
	}
	for _, refusal := range r.Refusals {
		if refusal.Node == client {
			all = append(all, refusal.Err)
		}
	}
	for _, err := range all {
		if blame, ok := errors.AsType[*protocol.BlameError](err); ok && strings.Contains(err.Error(), words) && strings.Contains(blame.Error(), "server") {
			return
		}
	}
	t.Errorf("%s does not blame the server for %q: %v", client, words, all)
}

// nobodyReleases demands that the server got no share of anybody.
func nobodyReleases(t *testing.T, l *liar) {
	t.Helper()
	for name := range l.released {
		t.Errorf("%s has released shares", name)
	}
}

// rewrite changes the set in a server's message.
func (c *cohort) rewrite(t *testing.T, m protocol.Message, change func(set)) protocol.Message {
	t.Helper()
	told, err := decodeSet(m.Body, len(c.names))
	if err != nil {
		t.Fatal(err)
	}
	change(told)
	m.Body = encodeSets(told)
	return m
}

func remove(s set, i int) { s.bits[i/8] &^= 1 << (i % 8) }

func (c *cohort) index(name string) int { return slices.Index(c.names, name) }
