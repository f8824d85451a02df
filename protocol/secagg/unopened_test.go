package secagg

import (
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// spoil changes what some clients have sealed for the first holders of each, as a
// corrupted client would seal it.
func spoil(t *testing.T, c *cohort, holders int, corrupted ...int) func(protocol.Message) []protocol.Message {
	return func(m protocol.Message) []protocol.Message {
		if m.Round == roundShare && slices.Contains(corrupted, c.index(m.Sender)) {
			list := must(decodeShares(m.Body, len(m.Body)/sealedBytes))(t)
			for i := range list[:min(holders, len(list))] {
				list[i] = sealed{1, 2, 3}
			}
			m.Body = encodeShares(list)
		}
		return []protocol.Message{m}
	}
}

// TestAttackSharesThatDoNotOpen: two corrupted clients of forty seal rubbish for more
// honest clients than may vanish. Nobody ends, and the sum includes all. The attack
// represents clients that leave enough good shares to reconstruct their own secrets.
func TestAttackSharesThatDoNotOpen(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, a := range []Adversary{SemiHonest, Active} {
		s := spec(a)
		s.Corrupted, s.Dropped = .05, .2
		c := newCohort(t, s, 40)
		d := c.params.Degree()
		victims := d.Holders - d.Threshold
		if 2*victims <= 8 {
			t.Fatalf("%+v: no more than may vanish", d)
		}
		r := c.run(t, sim.Schedule{}, spoil(t, c, victims, 11, 29))
		c.checkSum(t, r, 40)
		for _, name := range c.names {
			if o := r.Outcome(name); o.End == nil || o.End.Err != nil {
				t.Errorf("%s: %s ended with %+v", a, name, o.End)
			}
		}
	}
}

// A client that seals only rubbish keeps the session from giving a sum, which no protocol
// of this kind prevents. It is named, and all other clients end well.
func TestAttackNoSharesThatOpen(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	c := newCohort(t, spec(Active), 40)
	r := c.run(t, sim.Schedule{}, spoil(t, c, 40, 11))
	o := r.Outcome("server")
	if o.End == nil || o.End.Err == nil || !strings.Contains(o.End.Err.Error(), "c011") || !strings.Contains(o.End.Err.Error(), "of the client's holders report that its shares do not decrypt") {
		t.Fatalf("the server ended with %+v", o.End)
	}
	for _, name := range c.names {
		if o := r.Outcome(name); o.End == nil || o.End.Err != nil {
			t.Errorf("%s ended with %+v", name, o.End)
		}
	}
}

// TestAttackFalseComplaint: corrupted holders say that a client's shares do not
// open. Its secret comes from the others, and the sum is everybody's.
func TestAttackFalseComplaint(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	s := spec(Active)
	s.Corrupted, s.Dropped = .1, .2
	c := newCohort(t, s, 40)
	c.checkSum(t, c.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
		if m.Round == roundUnmask && slices.Contains([]int{3, 14, 15, 39}, c.index(m.Sender)) {
			list := must(decodeReleases(m.Body, 40))(t)
			m.Body = encodeReleases(slices.DeleteFunc(list, func(r release) bool { return r.owner == 20 || r.owner == 21 }))
		}
		return []protocol.Message{m}
	}), 40)
}

// TestAttackServerSpoilsShares: a server spoils all shares of one client on their way and
// hopes that holders complain with a key to the originals that it has kept. It gets no
// share of that client, of either secret.
func TestAttackServerSpoilsShares(t *testing.T) {
	const victim = 7
	c := newCohort(t, spec(Active), 30)
	_, l := c.lie(t, sim.Schedule{}, func(m protocol.Message) protocol.Message {
		if m.Round == roundShares {
			d := must(decodeDeliveries(m.Body, 30))(t)
			for i := range d.list {
				if d.list[i].owner.client == victim {
					d.list[i].sealed = sealed{1}
				}
			}
			m.Body = d.encode()
		}
		return m
	})
	if len(l.released) != 30 {
		t.Errorf("%d clients have answered, want all", len(l.released))
	}
	for name, list := range l.released {
		if slices.ContainsFunc(list, func(r release) bool { return r.owner == victim }) {
			t.Errorf("%s gives up a share of %s", name, c.names[victim])
		}
	}
}
