package sim_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

func TestIntercept(t *testing.T) {
	elsewhere := func(m protocol.Message) []protocol.Message {
		forged := m
		forged.Receiver = "sender"
		return []protocol.Message{forged, m}
	}
	cfg := counting(t, 1, 1)
	cfg.Intercept = elsewhere
	r := mustRun(t, cfg)
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	var blame *protocol.BlameError
	if len(r.Refusals) != 1 || !errors.As(r.Refusals[0].Err, &blame) || blame.Kind != protocol.KindForeign {
		t.Errorf("refusals %v, want one as foreign", r.Refusals)
	}
	if !strings.Contains(r.Transcript(), "delivered to receiver: refused: sender (foreign)") {
		t.Errorf("the transcript does not show the forgery:\n%s", r.Transcript())
	}
}

func TestEquivocationEndsTheReceiver(t *testing.T) {
	cfg := counting(t, 2, 2)
	cfg.Intercept = func(m protocol.Message) []protocol.Message {
		other := m
		other.Body = []byte{9, 9, 9, 9}
		return []protocol.Message{m, other}
	}
	var blame *protocol.BlameError
	err := mustRun(t, cfg).Err()
	if !errors.As(err, &blame) || blame.Kind != protocol.KindEquivocation || blame.Party != "sender" {
		t.Errorf("Err = %v, want the sender blamed for equivocation", err)
	}
}

func TestContract(t *testing.T) {
	s := session(t, 1)
	big := func(i uint32, n int) protocol.Message {
		m := number(s, i)
		m.Body = make([]byte, n)
		return m
	}
	sending := func(ms ...protocol.Message) func() stepper {
		return func() stepper {
			return func(protocol.Event) (protocol.Effects, error) { return protocol.Effects{Send: ms, Resume: true}, nil }
		}
	}
	changed := func(change func(*protocol.Message)) func() stepper {
		m := number(s, 0)
		change(&m)
		return sending(m)
	}
	var fullStep []protocol.Message
	for i := range uint32(9) {
		fullStep = append(fullStep, big(i, protocol.MaxChunkBytes))
	}
	tests := []struct {
		name, want string
		sender     func() stepper
	}{
		{"body", "the body has 524289 bytes", sending(big(0, protocol.MaxChunkBytes+1))},
		{"step", "the step sends 4718592 bytes", sending(fullStep...)},
		{"header twice in a step", "the step uses the header twice", sending(number(s, 0), number(s, 0))},
		{"header twice in two steps", "the header was used before", sending(number(s, 0))},
		{"foreign session", "which is not this session", changed(func(m *protocol.Message) { m.Session[0]++ })},
		{"foreign protocol", `of protocol "x", which is not this session`, changed(func(m *protocol.Message) { m.Protocol = "x" })},
		{"another sender", `the header's sender is not "sender", the node that sends the message`, changed(func(m *protocol.Message) { m.Sender = "receiver" })},
		{"to itself", "the header's receiver is not another member of the session", changed(func(m *protocol.Message) { m.Receiver = "sender" })},
		{"to a stranger", "the header's receiver is not another member of the session", changed(func(m *protocol.Message) { m.Receiver = "x" })},
		{"no kind", "the header's kind has 0 bytes", changed(func(m *protocol.Message) { m.Kind = "" })},
		{"no chunks", "the header's chunk is 0 of 0; it must be below the number of chunks", changed(func(m *protocol.Message) { m.Chunks = 0 })},
		{"panic", "the machine panicked: oops", func() stepper {
			return func(protocol.Event) (protocol.Effects, error) { panic("oops") }
		}},
		{"start later", "the machine answered the event start with ErrLater", func() stepper {
			return func(protocol.Event) (protocol.Effects, error) { return protocol.Effects{}, protocol.ErrLater }
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := sim.Run(sim.Config{Session: s, Nodes: []sim.Node{node("sender", tt.sender)}})
			wantContractError(t, err, tt.want)
		})
	}
}

func wantContractError(t *testing.T, err error, want string) {
	t.Helper()
	var broken *sim.ContractError
	if !errors.As(err, &broken) || broken.Node != "sender" || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want a ContractError of the sender with %q", err, want)
	}
}

func TestReplayMustRepeat(t *testing.T) {
	s := session(t, 1)
	builds := uint32(0) // survives the crash, like a clock or crypto/rand
	tests := []struct {
		name, want string
		step       func(build uint32) (protocol.Effects, error)
	}{
		{"body", "differs from the first time", func(b uint32) (protocol.Effects, error) {
			m := number(s, 0)
			m.Body[0] = byte(b)
			return protocol.Effects{Send: []protocol.Message{m}}, nil
		}},
		{"header", "differs from the first time", func(b uint32) (protocol.Effects, error) {
			return protocol.Effects{Send: []protocol.Message{number(s, b)}}, nil
		}},
		{"number of messages", "the replayed step sends 1 messages; the first time it sent 0", func(b uint32) (protocol.Effects, error) {
			return protocol.Effects{Send: []protocol.Message{number(s, 0)}[:b]}, nil
		}},
		{"timer", "timers", func(b uint32) (protocol.Effects, error) {
			return protocol.Effects{Arm: []protocol.Timer{"a", "b"}[:b]}, nil
		}},
		{"claim", "claims", func(b uint32) (protocol.Effects, error) {
			return protocol.Effects{Claim: []string{"a", "b"}[b:]}, nil
		}},
		{"end", "in sync, claims, timers, resume or end", func(b uint32) (protocol.Effects, error) {
			return protocol.Effects{End: &protocol.End{Err: []error{nil, errors.New("x")}[b]}}, nil
		}},
		{"refusal", "other input", func(b uint32) (protocol.Effects, error) {
			return protocol.Effects{}, []error{nil, errors.New("other input")}[b]
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			builds = 0
			n := node("sender", func() stepper {
				build := builds
				builds++
				return func(protocol.Event) (protocol.Effects, error) { return tt.step(build) }
			})
			_, err := sim.Run(sim.Config{Session: s, Nodes: []sim.Node{n}, Schedule: sim.Schedule{Crash: []sim.Crash{{Node: "sender", Event: 0}}}})
			wantContractError(t, err, "replay of start: ")
			wantContractError(t, err, tt.want)
		})
	}
}

// A sender that changes a body after sending it would send other bytes than it journalled.
func TestBodyChangedAfterSending(t *testing.T) {
	cfg := counting(t, 1, 1)
	s := cfg.Session
	cfg.Nodes[0] = node("sender", func() stepper {
		m := number(s, 0)
		return func(e protocol.Event) (protocol.Effects, error) {
			if _, ok := e.(protocol.Start); ok {
				return protocol.Effects{Send: []protocol.Message{m}, Resume: true}, nil
			}
			m.Body[0]++
			return protocol.Effects{}, nil
		}
	})
	cfg.Slow = map[string]int64{"receiver": 10}
	_, err := sim.Run(cfg)
	wantContractError(t, err, "the sender changed the body after it had sent the message")
}

// A receiver may overwrite its messages without disturbing the replay.
func TestReceiverOwnsTheBody(t *testing.T) {
	cfg := counting(t, 4, 4)
	inner := cfg.Nodes[1].New
	cfg.Nodes[1].New = func() (protocol.Machine, error) {
		m, err := inner()
		return stepper(func(e protocol.Event) (protocol.Effects, error) {
			eff, err := m.Step(e)
			if r, ok := e.(protocol.Received); ok && err == nil {
				clear(r.Message.Body)
				r.Message.Body[0] = 99
			}
			return eff, err
		}), err
	}
	cfg.CrashRate, cfg.Duplicate = 1, 1
	if err := mustRun(t, cfg).Err(); err != nil {
		t.Error(err)
	}
}

func TestEndlessRunIsStopped(t *testing.T) {
	s := session(t, 1)
	endless := node("sender", func() stepper {
		return func(protocol.Event) (protocol.Effects, error) { return protocol.Effects{Resume: true}, nil }
	})
	_, err := sim.Run(sim.Config{Session: s, Nodes: []sim.Node{endless}, MaxSteps: 100})
	if err == nil || !strings.Contains(err.Error(), "not ended after 100 steps") {
		t.Errorf("error %v, want the bound on steps", err)
	}
}

func TestBadConfig(t *testing.T) {
	tests := []struct {
		name, want string
		change     func(*sim.Config)
	}{
		{"no session", "the session is missing", func(c *sim.Config) { c.Session = nil }},
		{"no nodes", "at least one node", func(c *sim.Config) { c.Nodes = nil }},
		{"no constructor", `node "sender" has no constructor`, func(c *sim.Config) { c.Nodes[0].New = nil }},
		{"stranger", `node "x" is not a member`, func(c *sim.Config) { c.Nodes[0].Name = "x" }},
		{"twice", `the name "receiver" is used by two nodes`, func(c *sim.Config) { c.Nodes[0].Name = "receiver" }},
		{"probability", "the probability Loss is 2", func(c *sim.Config) { c.Loss = 2 }},
		{"delay", "MaxDelay is -1", func(c *sim.Config) { c.MaxDelay = -1 }},
		{"crash", `Crash names "x"`, func(c *sim.Config) { c.Crash = []sim.Crash{{Node: "x"}} }},
		{"slow", `Slow names "x"`, func(c *sim.Config) { c.Slow = map[string]int64{"x": 1} }},
		{"gone", `Gone names "x"`, func(c *sim.Config) { c.Gone = map[string]int{"x": 1} }},
		{"failing constructor", "the machine of sender cannot be built: out of order", func(c *sim.Config) {
			c.Nodes[0].New = func() (protocol.Machine, error) { return nil, errors.New("out of order") }
		}},
		{"no machine", "the machine of sender cannot be built: New returned nil", func(c *sim.Config) {
			c.Nodes[0].New = func() (protocol.Machine, error) { return nil, nil }
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := counting(t, 1, 1)
			tt.change(&cfg)
			if _, err := sim.Run(cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
