package sim

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
)

// Node is one member of the session together with its machine.
type Node struct {
	Name string
	// New returns a machine that has received no event yet. It is called once at the beginning and
	// once for every crash, and must use the same seed and the same input each time.
	New func() (protocol.Machine, error)
	// InputHash is the hash of the input that [protocol.Start] carries.
	InputHash [sha256.Size]byte
	// Timers holds the duration of each timer in ticks. A timer that is not in the map never fires.
	Timers map[protocol.Timer]int64
}

// Crash names a node and the moment at which its machine is lost. It is lost after the event with
// this index, counted from 0, is journalled and before the event's effects are carried out.
type Crash struct {
	Node  string
	Event int
}

// Schedule controls the simulated network. The zero value delivers every message once, in the order
// of sending, or again later if the receiver answers ErrLater. Probabilities are between 0 and 1.
type Schedule struct {
	Seed uint64
	// Loss is the probability that the first delivery of a message is lost. The message is
	// delivered again later.
	Loss float64
	// Duplicate is the probability that the network delivers a message twice.
	Duplicate float64
	// Reorder is the probability that a step takes a random deliverable event instead of the oldest
	// one.
	Reorder float64
	// MaxDelay is the longest delay of a delivery in ticks.
	MaxDelay int64
	// Slow holds, for each slow node, the extra delay of every delivery to the node, in ticks.
	Slow map[string]int64
	// Window is the number of undelivered messages from one sender to one receiver at which the
	// sender gets no Resumed event; 0 means no limit. If messages were counted for each
	// receiver only, one fast sender could use up the limit with messages that must wait for
	// another sender's messages.
	Window int
	// Crash lists the crashes of the run. CrashRate is the probability of a further crash after
	// each event.
	Crash     []Crash
	CrashRate float64
	// Gone holds, for each node that vanishes, the number of events that the node accepts before it
	// is removed permanently. With 0 the node never starts.
	Gone map[string]int
	// Hasty is the probability that a step fires an armed timer although other events are possible.
	Hasty float64
	// Prompt makes timers fire at their tick, like a clock, even if messages are undelivered. A
	// message that has arrived by this tick is delivered before the timer fires.
	Prompt bool
}

// Config describes one run of a session.
type Config struct {
	Session *protocol.Session
	// Nodes lists the members that take part, each once. Messages to a member without a node are
	// lost.
	Nodes []Node
	Schedule
	// Ledger holds the names that nodes have claimed before the run; nil means an empty ledger.
	Ledger *memory.Ledger
	// Intercept, if set, is called once with every message that is sent. It returns the messages
	// that the receiver gets instead, whatever their headers say: none, a changed message, or
	// several. It must not change its argument's body.
	Intercept func(protocol.Message) []protocol.Message
	// MaxSteps is the number of steps after which a run is stopped with an error; 0 means
	// 1,000,000.
	MaxSteps int
}

const defaultMaxSteps = 1_000_000

func (c *Config) validate() error {
	if c.Session == nil {
		return errors.New("sim: the session is missing; set Session")
	}
	if len(c.Nodes) == 0 {
		return errors.New("sim: the run has no nodes; it needs at least one node")
	}
	nodes := make(map[string]bool, len(c.Nodes))
	for _, n := range c.Nodes {
		switch {
		case n.New == nil:
			return fmt.Errorf("sim: node %q has no constructor; set New", n.Name)
		case c.Session.Index(n.Name) < 0:
			return fmt.Errorf("sim: node %q is not a member of the session", n.Name)
		case nodes[n.Name]:
			return fmt.Errorf("sim: the name %q is used by two nodes; each node needs its own member", n.Name)
		}
		nodes[n.Name] = true
	}
	return c.validateSchedule(nodes)
}

// validateSchedule returns an error for invalid values and for names that are not names of nodes.
// With a misspelt name in a crash, a test would pass without testing anything.
func (s *Schedule) validateSchedule(nodes map[string]bool) error {
	for i, p := range []float64{s.Loss, s.Duplicate, s.Reorder, s.CrashRate, s.Hasty} {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("sim: the probability %s is %v; it must be between 0 and 1", [...]string{"Loss", "Duplicate", "Reorder", "CrashRate", "Hasty"}[i], p)
		}
	}
	if s.MaxDelay < 0 {
		return fmt.Errorf("sim: MaxDelay is %d; it must be at least 0", s.MaxDelay)
	}
	if s.Window < 0 {
		return fmt.Errorf("sim: Window is %d; it must be at least 0", s.Window)
	}
	for _, c := range s.Crash {
		if !nodes[c.Node] {
			return fmt.Errorf("sim: Crash names %q, which is not a node", c.Node)
		}
	}
	for name := range s.Slow {
		if !nodes[name] {
			return fmt.Errorf("sim: Slow names %q, which is not a node", name)
		}
	}
	for name := range s.Gone {
		if !nodes[name] {
			return fmt.Errorf("sim: Gone names %q, which is not a node", name)
		}
	}
	return nil
}
