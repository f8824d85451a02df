package psi

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// partial is a comparer that works with one party: it sends that party the places of ids
// that all have, as far as keep allows, and of ids that only some have.
type partial struct {
	*Server
	friend int
	keep   int // of the common places
	more   int // of the others, at most
}

func (c *partial) Step(e protocol.Event) (protocol.Effects, error) { return c.step(c, e) }

func (c *partial) resume() (protocol.Effects, error) {
	if c.ranks == nil || c.sorted < len(c.sets) {
		return c.Server.resume()
	}
	eff := protocol.Effects{Sync: true}
	for owner := range c.sets {
		places := c.places(owner)
		n := chunks(len(places), c.sizing.positions)
		for i := range n {
			some := places[i*c.sizing.positions : min((i+1)*c.sizing.positions, len(places))]
			eff.Send = append(eff.Send, c.message(c.last(owner), roundCommon, kindCommon, owner, i, n, encodePlaces(len(places), some)))
		}
	}
	return protocol.Finish(eff, nil)
}

// places returns the places to send about a set, true ones for every party except the
// friend.
func (c *partial) places(owner int) []uint32 {
	set, places := c.sets[owner], []uint32(nil)
	for _, rank := range c.ranks[owner] {
		places = append(places, set.order[rank])
	}
	if owner != c.friend {
		return places
	}
	places = places[:min(c.keep, len(places))]
	for rank := range set.n {
		if len(places) < c.keep+c.more && !slices.Contains(c.ranks[owner], uint32(rank)) && c.elsewhere(owner, set.at(rank)) {
			places = append(places, set.order[rank])
		}
	}
	return places
}

// elsewhere reports whether another set has a token too.
func (c *partial) elsewhere(owner int, token []byte) bool {
	for o, set := range c.sets {
		for rank := range set.n {
			if o != owner && bytes.Equal(set.at(rank), token) {
				return true
			}
		}
	}
	return false
}

// accomplice is the party that works with the comparer. It hides the rows that it receives
// and does not believe to be common. If it knows all common rows, from an earlier session,
// it puts those that it did not receive in their places.
type accomplice struct {
	*Party
	believes []int // rows that are common if they are shown
	before   bool  // believes are all common rows
	extra    []int
}

func (a *accomplice) Step(e protocol.Event) (protocol.Effects, error) {
	c := a.exchange.(*ring)
	c.total = 0 // it blames nobody
	if c.rows() != nil && a.extra == nil {
		c.common = a.sift(c.common)
	}
	return a.Party.Step(e)
}

func (a *accomplice) sift(shown []int) (kept []int) {
	hidden := slices.DeleteFunc(slices.Clone(a.believes), func(row int) bool { return slices.Contains(shown, row) })
	for _, row := range shown {
		switch {
		case slices.Contains(a.believes, row):
			kept = append(kept, row)
			continue
		case a.before:
			kept, hidden = append(kept, hidden[0]), hidden[1:]
		}
		a.extra = append(a.extra, row)
	}
	return kept
}

// forgetful is an honest party that does not remember the number of common rows, as parties
// were before the first number bound all owners.
type forgetful struct{ *Party }

func (f forgetful) Step(e protocol.Event) (protocol.Effects, error) {
	f.exchange.(*ring).total = 0
	return f.Party.Step(e)
}

// collusion is a session of three parties, in which the comparer and south work together
// and four ids are common to all.
func collusion(t *testing.T, comparer partial, south accomplice, wrap func(*Party) protocol.Machine) (r *sim.Result, learnt []string) {
	t.Helper()
	p := params(t, Spec{})
	sets := [][][]byte{
		ids("a", "b", "c", "d", "n1", "ns1", "ns2"),
		ids("a", "b", "c", "d", "s1", "ns1", "ns2", "se1"),
		ids("a", "b", "c", "d", "e1", "e2", "se1"),
	}
	s := newSession(t, p, 3)
	nodes := cast(s, p, bulk(), sets...)
	nodes[0].New = func() (protocol.Machine, error) {
		m, err := newServer(setup(s, "hub"), p, bulk())
		comparer.Server, comparer.friend = m, 1
		return &comparer, err
	}
	nodes[2].New = func() (protocol.Machine, error) {
		m, err := newParty(setup(s, "south"), p, sets[1], bulk())
		south.Party = m
		return &south, err
	}
	for _, i := range []int{1, 3} {
		honest := nodes[i].New
		nodes[i].New = func() (protocol.Machine, error) {
			m, err := honest()
			return wrap(m.(*Party)), err
		}
	}
	r, err := sim.Run(sim.Config{Session: s, Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range south.extra {
		learnt = append(learnt, string(sets[1][row]))
	}
	slices.Sort(learnt)
	return r, learnt
}

// alone and careless are honest parties: unchanged, and without memory of the number of
// common rows.
func alone(p *Party) protocol.Machine    { return p }
func careless(p *Party) protocol.Machine { return forgetful{p} }

func allEndWell(t *testing.T, r *sim.Result) {
	t.Helper()
	for _, name := range []string{"north", "south", "east", "hub"} {
		if end := r.Outcome(name).End; end == nil || end.Err != nil {
			t.Errorf("%s ends with %v, not well", name, end)
		}
	}
}

// The comparer and one party together, who know each other's secrets and answer as they
// like, cannot read partial matches unnoticed by sending that party more rows than are
// common: the honest parties end the session, and one names the comparer. If no party
// remembers the first number, all end well and every partial match is read.
func TestComparerAndPartyShowMore(t *testing.T) {
	comparer, south := partial{keep: 4, more: 3}, accomplice{believes: []int{0, 1, 2, 3}}
	r, learnt := collusion(t, comparer, south, careless)
	allEndWell(t, r)
	if !slices.Equal(learnt, []string{"ns1", "ns2", "se1"}) {
		t.Errorf("the attack reads %q where nobody remembers a number", learnt)
	}
	r, _ = collusion(t, comparer, south, alone)
	named := false
	for _, name := range []string{"north", "east"} {
		end := r.Outcome(name).End
		if end == nil || end.Err == nil {
			t.Fatalf("%s ends well, or not at all", name)
		}
		named = named || strings.Contains(end.Err.Error(), "the numbers must be equal")
	}
	if !named {
		t.Error("nobody names the comparer")
	}
}

// The same with as many rows as are common and others among them: the party does not know
// which common rows are missing, and has one guess.
func TestComparerAndPartyShowOthers(t *testing.T) {
	r, _ := collusion(t, partial{keep: 3, more: 1}, accomplice{believes: []int{0, 1, 2, 3, 4, 5, 6, 7}}, alone)
	for _, name := range []string{"north", "east"} {
		ends(t, r, name, "south", protocol.KindInconsistent, wrongOrder)
	}
}

// They can run one session honestly, and then others over the same sets, each with one
// common row replaced by another: south knows which is missing, and the comparer its place
// in the order. If two are missing, neither knows which belongs where. A party's ledger
// bounds the number of sessions.
func TestComparerAndPartyWithASessionBefore(t *testing.T) {
	r, learnt := collusion(t, partial{keep: 3, more: 1}, accomplice{believes: []int{0, 1, 2, 3}, before: true}, alone)
	allEndWell(t, r)
	if len(learnt) != 1 {
		t.Errorf("the attack reads %q", learnt)
	}
}
