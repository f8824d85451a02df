package okra

import (
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// world runs machines in one goroutine, messages in order.
type world struct {
	machines map[string]protocol.Machine
	hashes   map[string][sha256.Size]byte
	order    []string
	queue    []protocol.Message
	sent     []protocol.Message
	ends     map[string]error
	effects  []protocol.Effects
	tamper   func(*protocol.Message) // sees every message on its way
}

func (w *world) step(t testing.TB, name string, e protocol.Event) error {
	t.Helper()
	effects, err := w.machines[name].Step(e)
	if err != nil {
		return err
	}
	w.effects = append(w.effects, effects)
	size := 0
	for _, m := range effects.Send {
		size += len(m.Body)
		if len(m.Body) > protocol.MaxChunkBytes || m.Chunk >= m.Chunks || m.Sender != name {
			t.Errorf("%v has %d bytes", m.Header, len(m.Body))
		}
		if w.tamper != nil {
			w.tamper(&m)
		}
		w.queue, w.sent = append(w.queue, m), append(w.sent, m)
	}
	if size > protocol.MaxStepBytes {
		t.Errorf("%s sends %d bytes in a step", name, size)
	}
	if effects.End != nil {
		w.ends[name] = effects.End.Err
	} else if effects.Resume {
		return w.step(t, name, protocol.Resumed{})
	}
	return nil
}

// start steps all machines, in the descriptor's order.
func (w *world) start(t testing.TB) {
	t.Helper()
	for _, name := range w.order {
		if err := w.step(t, name, protocol.Start{InputHash: w.hashes[name]}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// deliver hands over messages until none is left that is wanted.
func (w *world) deliver(t testing.TB) {
	t.Helper()
	for refused := 0; refused < len(w.queue); {
		m := w.queue[0]
		w.queue = w.queue[1:]
		if _, over := w.ends[m.Receiver]; over {
			continue
		}
		switch err := w.step(t, m.Receiver, protocol.Received{Message: m}); {
		case errors.Is(err, protocol.ErrLater):
			w.queue = append(w.queue, m)
			refused++
		case err != nil:
			t.Fatalf("%v: %v", m.Header, err)
		default:
			refused = 0
		}
	}
}

var hospitals = []protocol.Member{
	{Name: "hub", Role: protocol.RoleServer}, {Name: "north", Role: protocol.RoleLeader},
	{Name: "south", Role: protocol.RoleParty}, {Name: "east", Role: protocol.RoleParty},
}

func newSession(t testing.TB, p Params, members ...protocol.Member) *protocol.Session {
	t.Helper()
	s, err := protocol.NewSession(protocol.Descriptor{Protocol: Name, Version: Version, Params: p.Encode(), Members: members, Purpose: "train"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newWorld is a training session of the given inputs, one for each hospital
// but the hub.
func newWorld(t testing.TB, spec Spec, inputs ...Input) *world {
	t.Helper()
	p := mustParams(t, spec)
	session := newSession(t, p, hospitals[:1+len(inputs)]...)
	server, err := NewServer(protocol.Setup{Session: session, Self: "hub"}, p, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{machines: map[string]protocol.Machine{"hub": server}, order: []string{"hub"},
		hashes: make(map[string][sha256.Size]byte), ends: make(map[string]error)}
	for i, in := range inputs {
		name := hospitals[1+i].Name
		party, err := NewParty(protocol.Setup{Session: session, Self: name, Seed: [32]byte{byte(i)}}, p, in)
		if err != nil {
			t.Fatal(err)
		}
		w.machines[name], w.hashes[name], w.order = party, in.Hash(), append(w.order, name)
	}
	return w
}

func (w *world) server() *Server { return w.machines["hub"].(*Server) }

func (w *world) party(name string) *Party { return w.machines[name].(*Party) }

// train runs a session to its good end.
func train(t testing.TB, spec Spec, inputs ...Input) *world {
	t.Helper()
	w := newWorld(t, spec, inputs...)
	w.start(t)
	w.deliver(t)
	for _, name := range w.order {
		if err, over := w.ends[name]; !over || err != nil {
			t.Fatalf("%s: over %v, error %v", name, over, err)
		}
	}
	return w
}

// share cuts x into inputs of the given numbers of rows, with labels and every
// fourth row held out.
func share(x linalg.Matrix[float64], sizes ...int) (inputs []Input) {
	at := 0
	for _, n := range sizes {
		in := Input{Rows: x.Panel(at, at+n)}
		for i := range n {
			in.Labels = append(in.Labels, []string{"benign", "malignant"}[(at+i)%3%2])
			in.Test = append(in.Test, (at+i)%4 == 0)
		}
		inputs = append(inputs, in)
		at += n
	}
	return inputs
}
