package psi

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/ristretto"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// intercepted runs a session in which messages are changed on their way.
func intercepted(t *testing.T, parties int, size sizing, bend func(*protocol.Message)) *sim.Result {
	t.Helper()
	p, sets := params(t, Spec{}), testSets(parties)
	s := newSession(t, p, parties)
	r, err := sim.Run(sim.Config{Session: s, Nodes: cast(s, p, size, sets...), Intercept: func(m protocol.Message) []protocol.Message {
		m.Body = bytes.Clone(m.Body)
		bend(&m)
		return []protocol.Message{m}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ends demands that a member ends with that error, blaming somebody for it.
func ends(t *testing.T, r *sim.Result, name, blamed string, kind protocol.Kind, want string) {
	t.Helper()
	end := r.Outcome(name).End
	if end == nil || end.Err == nil {
		t.Fatalf("%s ends well or not at all: %v", name, end)
	}
	blames(t, end.Err, blamed, kind, want)
}

func blames(t *testing.T, err error, blamed string, kind protocol.Kind, want string) {
	t.Helper()
	var blame *protocol.BlameError
	if !errors.As(err, &blame) || blame.Party != blamed || blame.Kind != kind || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s blamed as %s with %q", err, blamed, kind, want)
	}
}

const wrongOrder = "are in another order than this party's rows; check that no table has changed"

// swap exchanges two entries of a body.
func swap(b []byte, i, j, width int) {
	x := bytes.Clone(b[i*width : (i+1)*width])
	copy(b[i*width:], b[j*width:(j+1)*width])
	copy(b[j*width:], x)
}

// A peer that returns the owner's elements in another order moves matches to other rows.
func TestMisplacedTokens(t *testing.T) {
	r := intercepted(t, 2, bulk(), func(m *protocol.Message) {
		if m.Kind == kindTokens && m.Sender == "south" {
			slices.Reverse(m.Body)
			for i := 0; i < len(m.Body); i += tokenBytes {
				slices.Reverse(m.Body[i : i+tokenBytes])
			}
		}
	})
	ends(t, r, "north", "south", protocol.KindInconsistent, wrongOrder)
	ends(t, r, "south", "north", protocol.KindInconsistent, wrongOrder)
}

// A peer that returns its own tokens in place of the owner's makes all rows match, although
// it knows no id of theirs. It learns nothing with which to test guesses, and is named.
func TestEchoedTokens(t *testing.T) {
	collect := func(into map[string]bool, m *protocol.Message) {
		for entry := range slices.Chunk(m.Body, tokenBytes) {
			into[string(entry)] = true
		}
	}
	norths, souths := make(map[string]bool), make(map[string]bool) // tokens of either set
	intercepted(t, 2, small(), func(m *protocol.Message) {
		if m.Kind == kindTokens {
			collect(map[string]map[string]bool{"north": souths, "south": norths}[m.Sender], m)
		}
	})
	heard, echoed := make(map[string]bool), 0
	r := intercepted(t, 2, small(), func(m *protocol.Message) {
		if m.Kind == kindTokens && m.Sender == "north" {
			collect(heard, m)
		}
		if m.Kind != kindTokens || m.Sender != "south" {
			return
		}
		for entry := range slices.Chunk(m.Body, tokenBytes) {
			for token := range heard {
				if !souths[string(entry)] && !norths[token] {
					copy(entry, token)
					delete(heard, token)
					echoed++
					break
				}
			}
		}
	})
	if rows, honest := len(party(r, 0).Order()), len(common(testSets(2)...)); echoed == 0 || rows != honest+echoed {
		t.Fatalf("%d tokens are echoed, and north has %d common rows beside %d", echoed, rows, honest)
	}
	ends(t, r, "north", "south", protocol.KindInconsistent, wrongOrder)
}

func TestPlacesThatAreExchanged(t *testing.T) {
	for _, who := range []string{"hub", "south"} {
		r := intercepted(t, 3, bulk(), func(m *protocol.Message) {
			if m.Kind == kindCommon && m.Sender == who && m.Sequence == 0 {
				swap(m.Body[countBytes:], 0, 1, countBytes)
			}
		})
		for _, name := range []string{"south", "east"} {
			ends(t, r, name, "north", protocol.KindInconsistent, wrongOrder)
		}
		var odd *OrderError
		if end := r.Outcome("north").End; end == nil || !errors.As(end.Err, &odd) || odd.Party != "north" {
			t.Errorf("%s exchanges places, and north ends with %v", who, end)
		}
	}
}

// A party whose table has changed its order since the session started is named by all
// others, and finds that it is the only one.
func TestWrongRowOrder(t *testing.T) {
	p, sets := params(t, Spec{}), testSets(3)
	s := newSession(t, p, 3)
	nodes := cast(s, p, bulk(), sets...)
	nodes[2].New = func() (protocol.Machine, error) {
		m, err := newParty(setup(s, "south"), p, slices.Clone(sets[1]), bulk())
		if err == nil { // rows 0 and 2 are common
			m.ids[0], m.ids[2] = m.ids[2], m.ids[0]
			i, j := slices.Index(m.own.shuffle, 0), slices.Index(m.own.shuffle, 2)
			m.own.shuffle[i], m.own.shuffle[j] = 2, 0
			m.exchange.(*ring).relays[m.self].order = slices.Clone(m.own.shuffle)
			swapped := m.exchange.(*ring).relays[m.self].order
			swapped[i], swapped[j] = swapped[j], swapped[i]
		}
		return m, err
	}
	r, err := sim.Run(sim.Config{Session: s, Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	ends(t, r, "north", "south", protocol.KindInconsistent, "psi: the rows of south "+wrongOrder)
	ends(t, r, "east", "south", protocol.KindInconsistent, "psi: the rows of south "+wrongOrder)
	var odd *OrderError
	if end := r.Outcome("south").End; !errors.As(end.Err, &odd) || odd.Party != "south" {
		t.Errorf("south ends with %v", end.Err)
	}
}

// Later sessions compare alignments: any other order of any party gives another.
func TestAlignFindsEveryExchange(t *testing.T) {
	sets := testSets(2)
	r := run(t, bulk(), sim.Schedule{}, sets...)
	p := party(r, 1)
	if Align(p.Key(), sets[1], p.Order()) != party(r, 0).Alignment() {
		t.Fatal("the agreed order gives another alignment")
	}
	for i := range p.Order() {
		for j := range i {
			order := slices.Clone(p.Order())
			order[i], order[j] = order[j], order[i]
			if Align(p.Key(), sets[1], order) == p.Alignment() {
				t.Errorf("places %d and %d exchanged give the same alignment", i, j)
			}
		}
	}
	if key := p.Key(); Align(key, sets[1], p.Order()[1:]) == p.Alignment() || Align([32]byte{}, sets[1], p.Order()) == p.Alignment() {
		t.Error("fewer rows or another key give the same alignment")
	}
}

func TestDifferentPartsOfTheKey(t *testing.T) {
	r := intercepted(t, 2, bulk(), func(m *protocol.Message) {
		if m.Kind == kindAnnounce && m.Sender == "south" {
			m.Body[countBytes] ^= 1
		}
	})
	ends(t, r, "north", "south", protocol.KindInconsistent, wrongOrder)
}

func TestRepeatedElements(t *testing.T) {
	twice := func(m *protocol.Message, width int) { copy(m.Body[width:2*width], m.Body[:width]) }
	for _, c := range []struct {
		parties int
		bend    func(*protocol.Message)
		who     string
		blamed  string
	}{
		{2, func(m *protocol.Message) {
			if m.Kind == kindBlinded && m.Sender == "south" {
				twice(m, ristretto.Size)
			}
		}, "north", "south"},
		{2, func(m *protocol.Message) {
			if m.Kind == kindTokens && m.Sender == "south" {
				twice(m, tokenBytes)
			}
		}, "north", "south"},
		{3, func(m *protocol.Message) {
			if m.Kind == kindBlinded && m.Sender == "south" && m.Sequence == 0 {
				twice(m, ristretto.Size)
			}
		}, "east", "south"},
		{3, func(m *protocol.Message) {
			if m.Kind == kindTokens && m.Sender == "east" {
				twice(m, tokenBytes)
			}
		}, "hub", "east"},
	} {
		r := intercepted(t, c.parties, bulk(), c.bend)
		ends(t, r, c.who, c.blamed, protocol.KindInconsistent, "the set repeats an element")
	}
}

// A comparer may report that nothing is common. Then the session ends without rows, but not
// before the comparer can know.
func TestNoneTooEarly(t *testing.T) {
	p, sets := params(t, Spec{}), testSets(3)
	s := newSession(t, p, 3)
	north, err := NewParty(setup(s, "north"), p, sets[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := north.Step(protocol.Start{InputHash: north.InputHash()}); err != nil {
		t.Fatal(err)
	}
	_, err = north.Step(protocol.Received{Message: setup(s, "hub").Message("north", roundCommon, kindNone, nil)})
	blames(t, err, "hub", protocol.KindUnexpected, "None of round 4 is not expected from hub")
}

// A refused chunk of places changes no state: the genuine chunk is accepted after it.
func TestPlacesThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		body []byte
		kind protocol.Kind
		want string
	}{
		{encodePlaces(2, []uint32{1, 1}), protocol.KindInconsistent, "the message repeats a position"},
		{encodePlaces(2, []uint32{1, 7}), protocol.KindMalformed, "position 7 is outside the set of 7 elements"},
		{encodePlaces(8, []uint32{0, 1, 2, 3, 4, 5, 6, 6}), protocol.KindMalformed, "8 common rows, but the set has 7 elements"},
		{encodePlaces(0, nil), protocol.KindMalformed, "0 common rows, but the set has 7 elements"},
		{encodePlaces(9000, []uint32{1}), protocol.KindMalformed, "9000 common rows"},
		{encodePlaces(2, []uint32{1}), protocol.KindMalformed, "the bytes end too early"},
		{encodePlaces(2, []uint32{1, 2, 3}), protocol.KindMalformed, "4 bytes are left over"},
		{nil, protocol.KindMalformed, "the bytes end too early"},
	} {
		p, sets := params(t, Spec{}), testSets(3)
		s := newSession(t, p, 3)
		refused := false
		nodes := cast(s, p, bulk(), sets...)
		r, err := sim.Run(sim.Config{Session: s, Nodes: nodes, Intercept: func(m protocol.Message) []protocol.Message {
			if m.Kind != kindCommon || m.Sender != "hub" || m.Sequence != 0 {
				return []protocol.Message{m}
			}
			bad := m
			bad.Body, refused = c.body, true
			return []protocol.Message{bad, m}
		}})
		if err != nil || !refused || len(r.Refusals) != 1 {
			t.Fatalf("%d refusals, error %v", len(r.Refusals), err)
		}
		blames(t, r.Refusals[0].Err, "hub", c.kind, c.want)
		checkAligned(t, r, sets)
	}
}
