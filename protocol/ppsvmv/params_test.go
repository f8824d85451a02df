package ppsvmv

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

func TestParamsThatAreRefused(t *testing.T) {
	for name, groups := range map[string][]int{
		"no group": nil, "an empty group": {3, 0}, "many groups": slices.Repeat([]int{1}, MaxGroups+1),
		"a large group": {MaxWords + 1}, "large groups": {MaxWords, 1},
	} {
		if _, err := NewParams(groups, [sha256.Size]byte{}); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if p, err := NewParams([]int{MaxWords - 1, 1}, [sha256.Size]byte{}); err != nil || p.Words() != MaxWords {
		t.Errorf("%d words, %v", p.Words(), err)
	}
}

func TestSessionsThatAreRefused(t *testing.T) {
	p, err := NewParams([]int{4}, [sha256.Size]byte{})
	if err != nil {
		t.Fatal(err)
	}
	server, leader, sites := protocol.Member{Name: hub, Role: protocol.RoleServer}, protocol.Member{Name: "a", Role: protocol.RoleLeader}, protocol.Members(protocol.RoleParty, "b", "c")
	for name, c := range map[string]struct {
		members []protocol.Member
		params  []byte
	}{
		"no server": {append([]protocol.Member{leader}, sites...), p.Encode()}, "no leader": {append([]protocol.Member{server}, sites...), p.Encode()},
		"no other site": {[]protocol.Member{server, leader}, p.Encode()}, "no parameters": {append([]protocol.Member{server, leader}, sites...), nil},
		"a stranger": {append([]protocol.Member{server, leader, {Name: "x", Role: "guest"}}, sites...), p.Encode()},
	} {
		s, err := protocol.NewSession(protocol.Descriptor{Protocol: Name, Version: Version, Params: c.params, Members: c.members})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ValidateSession(s); err == nil {
			t.Errorf("%s: the session is taken", name)
		}
	}
	setup := protocol.Setup{Session: newSession(t, []int{4}, []string{"a", "b"}), Self: "a"}
	_, nobody := NewLeader(setup, nil)
	_, noSite := NewSite(setup, nil)
	_, noServer := NewServer(setup)
	if nobody == nil || noSite == nil || noServer == nil {
		t.Errorf("machines of other roles, or without a matrix: %v, %v, %v", nobody, noSite, noServer)
	}
}

func FuzzDecodeParams(f *testing.F) {
	for _, groups := range [][]int{{1}, {4096, 12, 3}} {
		p, err := NewParams(groups, sha256.Sum256(nil))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(p.Encode())
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := DecodeParams(b); err == nil && !bytes.Equal(p.Encode(), b) {
			t.Errorf("%x is a second encoding of %+v", b, p)
		}
	})
}

// Whatever a neighbour sends to a site, it is taken, or refused with blame; after what is
// refused a true tile is taken.
func FuzzMessages(f *testing.F) {
	fed := newFederation(f, 3, 5, 2, 10)
	_, all := fed.run(f)
	var tiles []protocol.Message // to the second site
	for _, m := range all {
		if m.Receiver == fed.names[1] {
			tiles = append(tiles, m)
			f.Add(m.Round, m.Kind, m.Sequence, m.Chunk, m.Chunks, m.Body)
		}
	}
	f.Add(roundSum, kindOf(roundSum), uint32(0), uint32(0), uint32(1), []byte{})
	f.Fuzz(func(t *testing.T, round uint16, kind string, sequence, chunk, chunks uint32, body []byte) {
		m, hash, err := fed.machine(fed.names[1])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Step(protocol.Start{InputHash: hash}); err != nil {
			t.Fatal(err)
		}
		bent := protocol.Message{Header: fed.session.Header(fed.names[0], fed.names[1], round, kind), Body: body}
		bent.Sequence, bent.Chunk, bent.Chunks = sequence, chunk, chunks
		_, err = m.Step(protocol.Received{Message: bent})
		var blame *protocol.BlameError
		if err != nil && (!errors.As(err, &blame) || blame.Party != fed.names[0]) {
			t.Fatalf("refused without blame: %v", err)
		}
		for _, genuine := range tiles {
			if err == nil && genuine.Chunk == chunk {
				continue
			}
			if _, err := m.Step(protocol.Received{Message: genuine}); err != nil {
				t.Errorf("a true tile after it: %v", err)
			}
		}
	})
}
