package fdskl

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// signed is a request with the active worker's signature, whatever its content.
func (f *federation) signed(q Request, counter uint32, to int) protocol.Message {
	h := f.session.Header(f.names[0], f.names[to], roundRequest, kindOf(roundRequest))
	h.Sequence = counter
	s := signedRequest{request: q}
	hash := q.hash(f.session.ID(), counter, f.params.trees(len(f.names)))
	copy(s.signature[:], ed25519.Sign(f.key, hash[:]))
	return protocol.Message{Header: h, Body: s.encode()}
}

// blamed demands that err blames the party.
func blamed(t *testing.T, err error, party string, kind protocol.Kind, text string) {
	t.Helper()
	var blame *protocol.BlameError
	if !errors.As(err, &blame) || blame.Party != party || blame.Kind != kind || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want %s blamed as %s with %q", err, party, kind, text)
	}
}

// An active worker that asks one worker for other rows than the rest, under one
// counter, is named by every party that sees both requests, which it has signed. What it
// gets is noise: every word that reaches it, and every sum of such words less
// the masks that it shares, is uniform although all phases are equal.
func TestDifferentRowsUnderOneCounter(t *testing.T) {
	for _, topology := range []Topology{Binary, Star, Chain} {
		t.Run(string(topology), func(t *testing.T) {
			const rows, q = 1 << 14, 4
			sources := []Source{equal{8}, equal{8}, equal{8}, equal{8}}
			f := joined(t, Spec{Bits: 8, Topology: topology, Rows: 2 * rows, Directions: 1}, sources)
			usual, other := Request{Rows: []Span{{0, rows}}, Directions: Span{0, 1}}, Request{Rows: []Span{{rows, rows}}, Directions: Span{0, 1}}
			twoFaced := func(m protocol.Message) []protocol.Message {
				if m.Kind == "Request" && m.Receiver == "shop3" {
					m = f.signed(other, 1, 3)
				}
				return []protocol.Message{m}
			}
			_, r := f.run(t, func() Schedule { return &once{request: usual} }, twoFaced)
			blamed(t, r.Outcome("shop3").End.Err, "bank", protocol.KindEquivocation, "request 1 to shop3 differs from the request to shop2, although bank has signed both")

			got := make(map[string][]byte) // without the comparison of witnesses
			f.run(t, func() Schedule { return &once{request: usual} }, func(m protocol.Message) []protocol.Message {
				switch {
				case m.Kind == "Witness":
					return nil
				case m.Kind == "Phases" && m.Receiver == "bank":
					got[m.Sender] = append(got[m.Sender], m.Body...)
				}
				return twoFaced(m)
			})
			f.checkNoise(t, got, []Request{usual, other})
		})
	}
}

// checkNoise takes from words that have reached the active worker, alone and
// added up, the masks that it shares for either request, in every combination.
func (f *federation) checkNoise(t *testing.T, got map[string][]byte, asked []Request) {
	t.Helper()
	a, err := f.active(NewTable(f.params))
	if err != nil {
		t.Fatal(err)
	}
	f.meet(t, a)
	var total []byte
	for sender, words := range got {
		f.checkUnmasked(t, sender, words, a, asked)
		if total == nil {
			total = make([]byte, len(words))
		}
		f.params.ring().add(total, words)
	}
	if total == nil {
		t.Fatal("no words have reached the active worker")
	}
	f.checkUnmasked(t, "all", total, a, asked)
}

// checkUnmasked tries each combination of the masks that a shares with others: for each other
// worker, the mask of the one request, of the other, or none.
func (f *federation) checkUnmasked(t *testing.T, what string, words []byte, a *Active, asked []Request) {
	t.Helper()
	others := len(f.names) - 1
	for choice := range int(math.Pow(3, float64(others))) {
		list := make([]mask, 0, others)
		for w, c := 0, choice; w < others; w, c = w+1, c/3 {
			if c%3 < len(asked) {
				hash := asked[c%3].hash(f.session.ID(), 1, a.mine.trees)
				list = append(list, pairMasks(f.session.ID(), a.self, a.shared, hash)[w])
			}
		}
		bare := bytes.Clone(words)
		f.params.ring().apply(list, 0, bare)
		checkUniform(t, what, bare, f.params.ring())
	}
}

// meet gives a machine the keys of all others.
func (f *federation) meet(t *testing.T, m protocol.Machine) {
	t.Helper()
	self := f.names[0]
	if p, ok := m.(*Passive); ok {
		self = p.setup.Self
	}
	for w, name := range f.names {
		hash := f.inputs[w].Hash
		if name == self {
			if _, err := m.Step(protocol.Start{InputHash: hash}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for w, name := range f.names {
		if name == self {
			continue
		}
		key, err := sessionKey(f.setup(w))
		if err != nil {
			t.Fatal(err)
		}
		hello := protocol.Message{Header: f.session.Header(name, self, roundKeys, kindOf(roundKeys)), Body: key.PublicKey().Bytes()}
		if _, err := m.Step(protocol.Received{Message: hello}); err != nil {
			t.Fatal(err)
		}
	}
}

// once is a schedule of a single request.
type once struct {
	request Request
	asked   bool
	words   []byte
}

func (s *once) Next() (Request, bool) {
	defer func() { s.asked = true }()
	return s.request, !s.asked
}

func (s *once) Answer(_ []int, words []byte) { s.words = append(s.words, words...) }

// Requests that may not be are refused with the active worker's name, and leave
// no trace: the genuine one is answered as if nothing had been.
func TestRequestsThatAreRefused(t *testing.T) {
	f := newFederation(t, Spec{Bits: 16, Topology: Star, Rows: 10, Directions: 4}, 3)
	first, second := Request{Rows: Spans(1, 2, 3, 7), Directions: Span{0, 2}}, Request{Rows: Spans(1, 2), Directions: Span{2, 2}}
	unsigned := f.signed(second, 2, 1)
	unsigned.Body = bytes.Clone(unsigned.Body)
	unsigned.Body[len(unsigned.Body)-1] ^= 1
	for _, tt := range []struct {
		name string
		m    protocol.Message
		kind protocol.Kind
		want string
	}{
		{"the counter again, other rows", f.signed(Request{Rows: Spans(7), Directions: Span{0, 1}}, 1, 1), protocol.KindUnexpected, "is not expected"},
		{"a counter left out", f.signed(second, 3, 1), protocol.KindUnexpected, "is not expected"},
		{"rows that nobody aligned", f.signed(Request{Rows: Spans(10), Directions: Span{0, 1}}, 2, 1), protocol.KindInconsistent, "spans of rows must ascend and end below 10"},
		{"phases that were answered", f.signed(Request{Rows: Spans(0, 2), Directions: Span{1, 1}}, 2, 1), protocol.KindInconsistent, "each direction is answered once"},
		{"phases of a later span that were answered", f.signed(Request{Rows: Spans(7), Directions: Span{1, 1}}, 2, 1), protocol.KindInconsistent, "each direction is answered once"},
		{"directions that nobody agreed to", f.signed(Request{Rows: Spans(0), Directions: Span{3, 2}}, 2, 1), protocol.KindInconsistent, "this active worker may request directions 0 to 3"},
		{"unsigned", unsigned, protocol.KindInconsistent, "does not have a valid signature"},
		{"cut", protocol.Message{Header: unsigned.Header, Body: unsigned.Body[:9]}, protocol.KindMalformed, "too early"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := f.passive(1)
			if err != nil {
				t.Fatal(err)
			}
			f.meet(t, p)
			f.answer(t, p, f.signed(first, 1, 1))
			_, err = p.Step(protocol.Received{Message: tt.m})
			blamed(t, err, "bank", tt.kind, tt.want)
			f.answer(t, p, f.signed(second, 2, 1))
		})
	}
}

// A worker refuses a witness that the active worker has not signed, with the name of the worker that
// shows it: else that worker could blame the active worker for a request of its own making.
func TestWitnessesThatAreRefused(t *testing.T) {
	f := newFederation(t, Spec{Bits: 16, Topology: Star, Rows: 10, Directions: 4}, 3)
	q := Request{Rows: Spans(1, 2), Directions: Span{0, 2}}
	p, err := f.passive(2)
	if err != nil {
		t.Fatal(err)
	}
	f.meet(t, p)
	f.answer(t, p, f.signed(q, 1, 2))
	show := func(shown Request, key ed25519.PrivateKey) error {
		v := witness{hash: shown.hash(f.session.ID(), 1, f.params.trees(len(f.names)))}
		copy(v.signature[:], ed25519.Sign(key, v.hash[:]))
		h := f.session.Header(f.names[1], f.names[2], roundWitness, kindOf(roundWitness))
		h.Sequence = 1
		_, err := p.Step(protocol.Received{Message: protocol.Message{Header: h, Body: v.encode()}})
		return err
	}
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, 32))
	blamed(t, show(Request{Rows: Spans(3), Directions: Span{0, 2}}, other), "shop1", protocol.KindInconsistent, "does not have a valid signature")
	if err := show(q, f.key); err != nil {
		t.Errorf("the genuine witness: %v", err)
	}
}

// answer demands that a leaf of the star answers a request in one chunk.
func (f *federation) answer(t *testing.T, p *Passive, m protocol.Message) {
	t.Helper()
	if e, err := p.Step(protocol.Received{Message: m}); err != nil || !e.Resume || !e.Sync {
		t.Fatalf("a request gives %+v, %v", e, err)
	}
	e, err := p.Step(protocol.Resumed{})
	if err != nil || len(e.Send) != 1 || e.Send[0].Kind != "Phases" || e.Resume {
		t.Fatalf("a leaf answers with %+v, %v", e, err)
	}
}

// A second request before the first is answered is refused.
func TestOneRequestAtATime(t *testing.T) {
	f := newFederation(t, Spec{Rows: 10, Directions: 4, Bits: 16, Topology: Star}, 3)
	p, err := f.passive(1)
	if err != nil {
		t.Fatal(err)
	}
	f.meet(t, p)
	if _, err := p.Step(protocol.Received{Message: f.signed(Request{Rows: Spans(1), Directions: Span{0, 1}}, 1, 1)}); err != nil {
		t.Fatal(err)
	}
	for _, m := range []protocol.Message{
		f.signed(Request{Rows: Spans(2), Directions: Span{0, 1}}, 2, 1),
		{Header: withSequence(f.session.Header("bank", "shop1", roundFinish, "Finish"), 1)},
	} {
		_, err = p.Step(protocol.Received{Message: m})
		blamed(t, err, "bank", protocol.KindUnexpected, "is not expected")
	}
}

func withSequence(h protocol.Header, n uint32) protocol.Header {
	h.Sequence = n
	return h
}

// A key of low order, with which the masks would be public, is refused.
func TestKeysOfLowOrder(t *testing.T) {
	f := newFederation(t, Spec{Rows: 1, Directions: 1, Bits: 8}, 2)
	p, err := f.passive(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Step(protocol.Start{InputHash: f.inputs[1].Hash}); err != nil {
		t.Fatal(err)
	}
	_, err = p.Step(protocol.Received{Message: protocol.Message{Header: f.session.Header("bank", "shop1", roundKeys, "Keys"), Body: make([]byte, keyBytes)}})
	blamed(t, err, "bank", protocol.KindMalformed, "low order")
}

// A worker that vanishes is named.
func TestVanishedWorkerIsNamed(t *testing.T) {
	f := newFederation(t, Spec{Rows: 50, Directions: 2, Bits: 16}, 7)
	f.chunk = 4
	for _, name := range f.names[1:] {
		r, err := sim.Run(sim.Config{Session: f.session, Nodes: f.nodes(f.table), Schedule: sim.Schedule{Gone: map[string]int{name: 9}}})
		if err != nil {
			t.Fatal(err)
		}
		named := false
		for _, o := range r.Nodes {
			var blame *protocol.BlameError
			if o.End != nil && errors.As(o.End.Err, &blame) && blame.Party == name && blame.Kind == protocol.KindSilent {
				named = true
			}
		}
		if !named {
			t.Errorf("nobody names %s", name)
		}
	}
}

// The phases of the same rows in the same directions are answered in one
// training session only; predictions have a parent and may be repeated.
func TestPhasesAreClaimed(t *testing.T) {
	f := newFederation(t, Spec{Rows: 4, Directions: 2, Bits: 16}, 3)
	var ledger memory.Ledger
	run := func(change func(*protocol.Descriptor)) error {
		d := f.session.Descriptor
		change(&d)
		again := *f
		var err error
		if again.session, err = protocol.NewSession(d); err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(sim.Config{Session: again.session, Nodes: again.nodes(again.table), Ledger: &ledger})
		if err != nil {
			t.Fatal(err)
		}
		return r.Err()
	}
	if err := run(func(*protocol.Descriptor) {}); err != nil {
		t.Fatal(err)
	}
	if err := run(func(d *protocol.Descriptor) { d.Attempt++ }); err == nil {
		t.Error("a second session answers the same phases")
	}
	for attempt := range uint32(2) {
		if err := run(func(d *protocol.Descriptor) { d.Parent, d.Attempt = f.session.ID(), attempt }); err != nil {
			t.Errorf("prediction %d: %v", attempt, err)
		}
	}
}

// A party that brings rows in another order than was agreed does not take part.
func TestConstructorsRefuse(t *testing.T) {
	f := newFederation(t, Spec{Rows: 4, Directions: 2, Bits: 16}, 3)
	good := f.inputs[1]
	for name, build := range map[string]func() error{
		"another order of rows": func() error {
			in := good
			in.Alignment = sha256.Sum256([]byte("another"))
			_, err := NewPassive(f.setup(1), in, f.identity(1))
			if !errors.Is(err, protocol.ErrInput) {
				t.Errorf("another order of rows: %v is not of the inputs", err)
			}
			return err
		},
		"another number of rows": func() error {
			in := good
			in.Rows++
			_, err := NewPassive(f.setup(1), in, f.identity(1))
			return err
		},
		"no phases": func() error {
			_, err := NewPassive(f.setup(1), Input{Hash: good.Hash, Rows: 4, Alignment: good.Alignment}, f.identity(1))
			return err
		},
		"no hash": func() error {
			_, err := NewPassive(f.setup(1), Input{Source: good.Source, Rows: 4, Alignment: good.Alignment}, f.identity(1))
			return err
		},
		"no key":                func() error { _, err := NewPassive(f.setup(1), good, Identity{}); return err },
		"no session":            func() error { _, err := NewPassive(protocol.Setup{}, good, f.identity(1)); return err },
		"a passive active one":  func() error { _, err := NewActive(f.setup(1), good, f.identity(0), NewTable(f.params)); return err },
		"an active passive one": func() error { _, err := NewPassive(f.setup(0), good, f.identity(0)); return err },
		"nothing to sign with":  func() error { _, err := NewActive(f.setup(0), good, f.identity(1), NewTable(f.params)); return err },
		"no schedule":           func() error { _, err := NewActive(f.setup(0), good, f.identity(0), nil); return err },
	} {
		if build() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Several active workers need partners, and have no plan.
func TestSeveralActiveWorkersNeedPartners(t *testing.T) {
	c := newCouncil(t, Spec{Bits: 8, Rows: 2, Directions: 4}, 3, 1, 1)
	if _, err := NewActive(c.setup(0), c.inputs[0], c.identity(0), NewTable(c.params)); err == nil || !strings.Contains(err.Error(), "Partner") {
		t.Errorf("a table for one of two active workers: %v", err)
	}
	if _, err := Plan(c.session); err == nil {
		t.Error("a plan for two active workers")
	}
}
