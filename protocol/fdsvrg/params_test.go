package fdsvrg

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

func TestParamsThatAreRefused(t *testing.T) {
	good := Spec{Rows: 10, HeldOut: 2, Outputs: 1, Batch: 4, Epochs: 3}
	if p, err := NewParams(good); err != nil || p.Steps() != 13 || p.Words() != 72 {
		t.Errorf("%d steps, %d words, %v", p.Steps(), p.Words(), err)
	}
	for name, change := range map[string]func(*Spec){
		"no rows": func(s *Spec) { s.Rows = 0 }, "held out below 0": func(s *Spec) { s.HeldOut = -1 }, "no output": func(s *Spec) { s.Outputs = 0 },
		"many words": func(s *Spec) { s.Outputs = MaxWords / 2 }, "no batch": func(s *Spec) { s.Batch = 0 }, "no epoch": func(s *Spec) { s.Epochs = 0 },
		"many epochs": func(s *Spec) { s.Epochs = MaxEpochs + 1 }, "many steps": func(s *Spec) { s.Rows, s.Batch, s.Epochs = 1<<20, 1, 1<<12 },
	} {
		s := good
		if change(&s); func() bool { _, err := NewParams(s); return err == nil }() {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestSessionsThatAreRefused(t *testing.T) {
	f := newFederation(t, 3, Spec{Rows: 4, Outputs: 1, Batch: 2, Epochs: 1}, 100)
	setup := func(at int) protocol.Setup { return protocol.Setup{Session: f.session, Self: f.names[at]} }
	_, noJudge := NewLeader(setup(0), new(counter), nil)
	_, noWorker := NewWorker(setup(1), nil)
	_, leads := NewWorker(setup(0), new(counter))
	_, follows := NewLeader(setup(1), new(counter), new(teller))
	for _, err := range []error{noJudge, noWorker, leads, follows} {
		if err == nil {
			t.Error("a machine of another role, or without an input, is built")
		}
	}
	for name, members := range map[string][]protocol.Member{
		"no leader": protocol.Members(protocol.RoleParty, "a", "b"), "nobody else": protocol.Members(protocol.RoleLeader, "a"),
		"a server": append(slices.Clone(f.session.Members), protocol.Member{Name: "hub", Role: protocol.RoleServer}),
	} {
		s, err := protocol.NewSession(protocol.Descriptor{Protocol: Name, Version: Version, Params: f.params.Encode(), Members: members})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ValidateSession(s); err == nil {
			t.Errorf("%s: the session is taken", name)
		}
	}
}

func FuzzDecodeParams(f *testing.F) {
	for _, s := range []Spec{{Rows: 1, Outputs: 1, Batch: 1, Epochs: 1}, {Rows: 9, HeldOut: 3, Outputs: 10, Batch: 4, Epochs: 20}} {
		p, err := NewParams(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(p.Encode())
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := DecodeParams(b); err == nil && !bytes.Equal(p.Encode(), b) {
			t.Errorf("%x is a second encoding of %+v", b, p.Spec())
		}
	})
}

func FuzzDecodeSlopes(f *testing.F) {
	f.Add(encodeSlopes([]float64{1, -0.5}))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0xf0, 0x7f})
	f.Fuzz(func(t *testing.T, b []byte) {
		b = b[:len(b)/wordBytes*wordBytes] // no other length is taken
		slopes := make([]float64, len(b)/wordBytes)
		if decodeSlopes(slopes, b) == nil && !bytes.Equal(encodeSlopes(slopes), b) {
			t.Errorf("%x is a second encoding of %v", b, slopes)
		}
	})
}

// Whatever a child or the leader sends to a worker, it is taken, has to wait, or is refused
// with blame.
func FuzzMessages(f *testing.F) {
	fed := newFederation(f, 4, Spec{Rows: 4, Outputs: 1, Batch: 2, Epochs: 1}, 3)
	f.Add(roundMargins, uint32(0), uint32(0), uint32(2), make([]byte, 24), true)
	f.Add(roundMargins, uint32(1), uint32(0), uint32(1), make([]byte, 16), true)
	f.Add(roundSlopes, uint32(0), uint32(0), uint32(2), make([]byte, 24), false)
	f.Fuzz(func(t *testing.T, round uint16, sequence, chunk, chunks uint32, body []byte, child bool) {
		m, err := fed.member(1) // whose child is the last worker
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Step(protocol.Start{InputHash: m.InputHash()}); err != nil {
			t.Fatal(err)
		}
		from := fed.names[0]
		if child {
			from = fed.names[3]
		}
		bent := protocol.Message{Header: fed.session.Header(from, fed.names[1], round, kindOf(round)), Body: body}
		bent.Sequence, bent.Chunk, bent.Chunks = sequence, chunk, chunks
		_, err = m.Step(protocol.Received{Message: bent})
		var blame *protocol.BlameError
		if err != nil && !errors.Is(err, protocol.ErrLater) && (!errors.As(err, &blame) || blame.Party != from) {
			t.Fatalf("refused without blame: %v", err)
		}
	})
}
