package sim

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
)

// Node is one member of the session with its machine.
type Node struct {
	Name string
	// New builds the machine in its state before its first event. It is called once at the
	// beginning and once for every crash, and must use the same seed and the same input
	// each time.
	New func() (protocol.Machine, error)
	// InputHash is the hash in protocol.Start.
	InputHash [sha256.Size]byte
	// Timers holds the number of ticks of each timer. A timer that is not in the map never
	// fires.
	Timers map[protocol.Timer]int64
}

// Crash names the moment at which a machine is lost: after its event with this index,
// counted from 0, is journalled and before its effects are carried out.
type Crash struct {
	Node  string
	Event int
}

// Schedule controls the network. The zero value delivers every message once, in the order
// of sending. Probabilities are between 0 and 1.
type Schedule struct {
	Seed uint64
	// Loss is the probability that the first delivery of a message is lost; it
	// is tried again later.
	Loss float64
	// Duplicate is the probability that a message arrives twice.
	Duplicate float64
	// Reorder is the probability that a step takes any deliverable item
	// instead of the oldest.
	Reorder float64
	// MaxDelay is the longest delay of a delivery in ticks.
	MaxDelay int64
	// Slow adds ticks to every delivery to a node.
	Slow map[string]int64
	// Window holds back Resumed while any receiver has this number of the sender's messages
	// undelivered; 0 means no limit. It is counted for each sender and receiver: if it were
	// counted for each receiver, one fast sender could fill it with messages that must wait
	// for another sender's messages.
	Window int
	// Crash lists crashes; CrashRate adds one after each event with that
	// probability.
	Crash     []Crash
	CrashRate float64
	// Gone removes a node permanently after it has accepted this number of events; with 0
	// it never starts.
	Gone map[string]int
	// Hasty is the probability that a step fires one of the armed timers although other
	// events are possible.
	Hasty float64
	// Prompt lets timers fire at their tick, like a clock, even if messages are
	// undelivered. Messages that have arrived by then come first.
	Prompt bool
}

// Config describes one run.
type Config struct {
	Session *protocol.Session
	// Nodes are the members that take part, each once. Messages to a member without a node
	// are lost.
	Nodes []Node
	Schedule
	// Ledger holds the names claimed so far; nil starts with an empty one.
	Ledger *memory.Ledger
	// Intercept, if set, is called once with every message as it is sent. It returns the
	// messages that arrive instead, at the same receiver whatever the headers say: none, a
	// changed one, or several. It must not change its argument's body.
	Intercept func(protocol.Message) []protocol.Message
	// MaxSteps ends a run that does not end by itself; 0 means 1,000,000.
	MaxSteps int
}

const defaultMaxSteps = 1_000_000

func (c *Config) validate() error {
	if c.Session == nil || len(c.Nodes) == 0 {
		return errors.New("sim: a run needs a session and at least one node")
	}
	nodes := make(map[string]bool, len(c.Nodes))
	for _, n := range c.Nodes {
		switch {
		case n.New == nil:
			return fmt.Errorf("sim: node %q has no constructor", n.Name)
		case c.Session.Index(n.Name) < 0:
			return fmt.Errorf("sim: node %q is not a member of the session", n.Name)
		case nodes[n.Name]:
			return fmt.Errorf("sim: two nodes are called %q", n.Name)
		}
		nodes[n.Name] = true
	}
	return c.validateSchedule(nodes)
}

// validateSchedule refuses names that no node has: with a misspelt crash a test would pass
// without testing anything.
func (s *Schedule) validateSchedule(nodes map[string]bool) error {
	for _, p := range []float64{s.Loss, s.Duplicate, s.Reorder, s.CrashRate, s.Hasty} {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("sim: probability %v is not between 0 and 1", p)
		}
	}
	if s.MaxDelay < 0 || s.Window < 0 {
		return errors.New("sim: MaxDelay and Window must not be negative")
	}
	for _, c := range s.Crash {
		if !nodes[c.Node] {
			return fmt.Errorf("sim: Crash names %q, which is no node", c.Node)
		}
	}
	for name := range s.Slow {
		if !nodes[name] {
			return fmt.Errorf("sim: Slow names %q, which is no node", name)
		}
	}
	for name := range s.Gone {
		if !nodes[name] {
			return fmt.Errorf("sim: Gone names %q, which is no node", name)
		}
	}
	return nil
}
