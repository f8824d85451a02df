package psi

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/ristretto"
	"github.com/mercer-fl/mercer/protocol"
)

// begun returns one of two parties, which has started and received the announcement of a
// set of two ids.
func begun(t testing.TB) (*Party, *protocol.Session) {
	t.Helper()
	p := params(t, Spec{MaxIDs: 100})
	s := newSession(t, p, 2)
	north, err := NewParty(setup(s, "north"), p, ids("a", "b", "c"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := north.Step(protocol.Start{InputHash: north.InputHash()}); err != nil {
		t.Fatal(err)
	}
	announce := setup(s, "south").Message("north", roundAnnounce, kindAnnounce, append([]byte{2, 0, 0, 0}, make([]byte, 32)...))
	if _, err := north.Step(protocol.Received{Message: announce}); err != nil {
		t.Fatal(err)
	}
	return north, s
}

func blinded(s *protocol.Session, body []byte) protocol.Message {
	m := setup(s, "south").Message("north", roundBlind, kindBlinded, body)
	m.Sequence = 1
	return m
}

func elements(t testing.TB, codes ...string) []byte {
	t.Helper()
	var b []byte
	for _, c := range codes {
		e, err := hex.DecodeString(c)
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, e...)
	}
	return b
}

// The generator and its double, and encodings that are no element: RFC 9496, appendix A.
const (
	generator    = "e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76"
	twice        = "6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919"
	identity     = "0000000000000000000000000000000000000000000000000000000000000000"
	notCanonical = "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
	negative     = "0100000000000000000000000000000000000000000000000000000000000000"
	notSquare    = "26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371"
)

func TestBadElements(t *testing.T) {
	good := elements(t, generator, twice)
	for _, c := range []struct {
		name string
		body []byte
		want string
	}{
		{"none", nil, "the body has 0 bytes; 64 are required"},
		{"one too few", good[:ristretto.Size], "the body has 32 bytes; 64 are required"},
		{"one byte more", append(bytes.Clone(good), 0), "the body has 65 bytes; 64 are required"},
		{"the identity", elements(t, generator, identity), "the bytes encode the identity"},
		{"not canonical", elements(t, notCanonical, twice), "the bytes do not encode an element"},
		{"negative", elements(t, negative, twice), "the bytes do not encode an element"},
		{"no square", elements(t, generator, notSquare), "the bytes do not encode an element"},
	} {
		t.Run(c.name, func(t *testing.T) {
			north, s := begun(t)
			_, err := north.Step(protocol.Received{Message: blinded(s, c.body)})
			blames(t, err, "south", protocol.KindMalformed, c.want)
			eff, err := north.Step(protocol.Received{Message: blinded(s, good)})
			if err != nil || len(eff.Send) != 1 || len(eff.Send[0].Body) != 2*tokenBytes || !eff.Sync {
				t.Errorf("the genuine message after the bad one: %d messages, error %v", len(eff.Send), err)
			}
			_, err = north.Step(protocol.Received{Message: blinded(s, good)})
			blames(t, err, "south", protocol.KindUnexpected, "not expected")
		})
	}
}

func TestMessagesOutOfPlace(t *testing.T) {
	good := elements(t, generator, twice)
	for _, c := range []struct {
		name string
		bend func(*protocol.Message)
		kind protocol.Kind
		want string
	}{
		{"more chunks", func(m *protocol.Message) { m.Chunks = 2 }, protocol.KindInconsistent, "the message has 2 chunks for 2 ids; 1 are required"},
		{"billions of chunks", func(m *protocol.Message) { m.Chunk, m.Chunks = 1<<32-2, 1<<32-1 }, protocol.KindInconsistent, "chunks for 2 ids"},
		{"the party's own set", func(m *protocol.Message) { m.Sequence = 0 }, protocol.KindUnexpected, "not expected"},
		{"nobody's set", func(m *protocol.Message) { m.Sequence = 1<<32 - 1 }, protocol.KindUnexpected, "not expected"},
		{"tokens never asked for", func(m *protocol.Message) { m.Round, m.Kind, m.Sequence = roundTokens, kindTokens, 0 }, protocol.KindUnexpected, "not expected"},
		{"a proof too early", func(m *protocol.Message) { m.Round, m.Kind, m.Sequence = roundProof, kindProof, 0 }, protocol.KindUnexpected, "not expected"},
		{"places between two", func(m *protocol.Message) { m.Round, m.Kind = roundCommon, kindCommon }, protocol.KindUnexpected, "not expected"},
		{"a second announcement", func(m *protocol.Message) { m.Round, m.Kind, m.Sequence = roundAnnounce, kindAnnounce, 0 }, protocol.KindUnexpected, "not expected"},
	} {
		north, s := begun(t)
		m := blinded(s, good)
		c.bend(&m)
		_, err := north.Step(protocol.Received{Message: m})
		t.Run(c.name, func(t *testing.T) { blames(t, err, "south", c.kind, c.want) })
	}
}

func TestAnnouncementsThatAreRefused(t *testing.T) {
	p := params(t, Spec{MaxIDs: 100})
	s := newSession(t, p, 2)
	for want, body := range map[string][]byte{
		"the set has 0 ids; the session allows 1 to 100":          make([]byte, announceBytes),
		"the set has 101 ids; the session allows 1 to 100":        append([]byte{101, 0, 0, 0}, make([]byte, 32)...),
		"the set has 4294967295 ids; the session allows 1 to 100": append([]byte{255, 255, 255, 255}, make([]byte, 32)...),
		"the body has 35 bytes; 36 are required":                  make([]byte, announceBytes-1),
	} {
		north, err := NewParty(setup(s, "north"), p, ids("a"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := north.Step(protocol.Start{InputHash: north.InputHash()}); err != nil {
			t.Fatal(err)
		}
		_, err = north.Step(protocol.Received{Message: setup(s, "south").Message("north", roundAnnounce, kindAnnounce, body)})
		blames(t, err, "south", protocol.KindMalformed, want)
		early := blinded(s, elements(t, generator))
		if _, err := north.Step(protocol.Received{Message: early}); !errors.Is(err, protocol.ErrLater) {
			t.Errorf("a set before its announcement: %v", err)
		}
	}
}

func TestSessionsThatAreRefused(t *testing.T) {
	p := params(t, Spec{})
	member := func(name string, r protocol.Role) protocol.Member { return protocol.Member{Name: name, Role: r} }
	hub, north, south, east := member("hub", protocol.RoleServer), member("north", protocol.RoleLeader), member("south", protocol.RoleParty), member("east", protocol.RoleParty)
	for _, c := range []struct {
		want    string
		members []protocol.Member
		params  []byte
	}{
		{"", []protocol.Member{north, south}, p.Encode()},
		{"", []protocol.Member{hub, north, south, east}, p.Encode()},
		{"psi: two parties compare their sets themselves; leave the server out", []protocol.Member{hub, north, south}, p.Encode()},
		{"psi: 3 parties require one server to compare their sets; this session has 0", []protocol.Member{north, south, east}, p.Encode()},
		{"psi: a session requires 2 to 64 parties and no other member but a server; this session has 1 parties among 1 members", []protocol.Member{north}, p.Encode()},
		{"psi: the parameters differ from the session's descriptor", []protocol.Member{north, south}, params(t, Spec{MaxIDs: 7}).Encode()},
	} {
		s, err := protocol.NewSession(protocol.Descriptor{Protocol: Name, Version: Version, Params: c.params, Members: c.members})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewParty(setup(s, "north"), p, ids("a")); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	s := newSession(t, p, 3)
	if _, err := NewServer(setup(s, "north"), p); err == nil {
		t.Error("a party compares")
	}
	if _, err := NewParty(setup(s, "hub"), p, ids("a")); err == nil {
		t.Error("the comparer has a set")
	}
	for _, n := range []int{-1, MaxIDs + 1} {
		if _, err := NewParams(Spec{MaxIDs: n}); err == nil {
			t.Errorf("max_ids may be %d", n)
		}
	}
}
