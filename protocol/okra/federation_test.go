package okra

import (
	"testing"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

var hospitals = []protocol.Member{
	{Name: "hub", Role: protocol.RoleServer}, {Name: "north", Role: protocol.RoleLeader},
	{Name: "south", Role: protocol.RoleParty}, {Name: "east", Role: protocol.RoleParty},
}

// timers end the server's waits before the waits of the parties, who wait for it.
var timers = map[protocol.Timer]int64{TimerAnnounce: 1000, TimerRows: 1000, TimerSeed: 2000, TimerReceipt: 2000, TimerDecisions: 2000, TimerConsent: 500}

func newSession(t testing.TB, p Params, members ...protocol.Member) *protocol.Session {
	t.Helper()
	s, err := protocol.NewSession(protocol.Descriptor{Protocol: Name, Version: Version, Params: p.Encode(), Members: members, Purpose: "train"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// training is a session of the given inputs, one for each hospital but the hub.
func training(t testing.TB, spec Spec, inputs ...Input) sim.Config {
	t.Helper()
	p := mustParams(t, spec)
	session := newSession(t, p, hospitals[:1+len(inputs)]...)
	hub := sim.Node{Name: "hub", Timers: timers, New: func() (protocol.Machine, error) {
		return NewServer(protocol.Setup{Session: session, Self: "hub"}, p, Limits{})
	}}
	cfg := sim.Config{Session: session, Nodes: []sim.Node{hub}}
	for i, in := range inputs {
		setup := protocol.Setup{Session: session, Self: hospitals[1+i].Name, Seed: [32]byte{byte(i)}}
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: setup.Self, InputHash: in.Hash(), Timers: timers,
			New: func() (protocol.Machine, error) { return NewParty(setup, p, in) }})
	}
	return cfg
}

// query is a prediction under the seed of a training session.
type query struct {
	spec   Spec
	epoch  Seed
	rows   linalg.Matrix[float64]
	answer Answer
	limits Limits
}

// prediction is a session of south and the hub.
func (o *outcome) prediction(t testing.TB, q query) sim.Config {
	t.Helper()
	p, s := mustParams(t, q.spec), o.server()
	session := predictSession(t, p, s.setup.Session.ID())
	return sim.Config{Session: session, Nodes: []sim.Node{
		{Name: "hub", Timers: timers, New: func() (protocol.Machine, error) {
			return NewPredictServer(protocol.Setup{Session: session, Self: "hub"}, p, s.Tag(), s.Width(), q.answer, q.limits)
		}},
		{Name: "south", Timers: timers, InputHash: Input{Rows: q.rows}.Hash(), New: func() (protocol.Machine, error) {
			return NewPredictParty(protocol.Setup{Session: session, Self: "south"}, p, q.epoch, q.rows)
		}},
	}}
}

func predictSession(t testing.TB, p Params, parent protocol.SessionID) *protocol.Session {
	t.Helper()
	s, err := protocol.NewSession(protocol.Descriptor{Protocol: Name, Version: Version, Params: p.Encode(),
		Members: []protocol.Member{hospitals[0], hospitals[2]}, Purpose: "predict", Parent: parent})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// outcome describes how a session went.
type outcome struct {
	*sim.Result
	sent []protocol.Message // in order
}

func run(t testing.TB, cfg sim.Config) *outcome {
	t.Helper()
	o := &outcome{}
	change := cfg.Intercept
	cfg.Intercept = func(m protocol.Message) []protocol.Message {
		o.sent = append(o.sent, m)
		if change != nil {
			return change(m)
		}
		return []protocol.Message{m}
	}
	var err error
	if o.Result, err = sim.Run(cfg); err != nil {
		t.Fatal(err)
	}
	return o
}

// mustRun runs a session to its good end.
func mustRun(t testing.TB, cfg sim.Config) *outcome {
	t.Helper()
	o := run(t, cfg)
	if err := o.Err(); err != nil || len(o.Refusals) > 0 {
		t.Fatalf("%v, refusals %v\n%s", err, o.Refusals, o.Transcript())
	}
	return o
}

func train(t testing.TB, spec Spec, inputs ...Input) *outcome {
	t.Helper()
	return mustRun(t, training(t, spec, inputs...))
}

// machine returns a member's machine, below whatever watches it.
func (o *outcome) machine(name string) protocol.Machine {
	if w, ok := o.Outcome(name).Machine.(watched); ok {
		return w.Machine
	}
	return o.Outcome(name).Machine
}

func (o *outcome) server() *Server { return o.machine("hub").(*Server) }

func (o *outcome) party(name string) *Party { return o.machine(name).(*Party) }

// wantEnd checks with which error a member ended.
func (o *outcome) wantEnd(t testing.TB, name, want string) {
	t.Helper()
	if err := o.end(name); err == nil || err.Error() != want {
		t.Fatalf("%s: %v, want %s\n%s", name, err, want, o.Transcript())
	}
}

// end returns with which error a member ended, if it did.
func (o *outcome) end(name string) error {
	if end := o.Outcome(name).End; end != nil {
		return end.Err
	}
	return nil
}

// watched passes a machine's effects to a function.
type watched struct {
	protocol.Machine
	see func(m protocol.Machine, e protocol.Event, eff protocol.Effects, err error)
}

func (w watched) Step(e protocol.Event) (protocol.Effects, error) {
	eff, err := w.Machine.Step(e)
	w.see(w.Machine, e, eff, err)
	return eff, err
}

func watch(cfg sim.Config, see func(protocol.Machine, protocol.Event, protocol.Effects, error)) sim.Config {
	nodes := make([]sim.Node, len(cfg.Nodes))
	for i, n := range cfg.Nodes {
		nodes[i] = n
		nodes[i].New = func() (protocol.Machine, error) {
			m, err := n.New()
			return watched{m, see}, err
		}
	}
	cfg.Nodes = nodes
	return cfg
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
