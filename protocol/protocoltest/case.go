package protocoltest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// Protocol is the protocol that Run tests.
type Protocol struct {
	Name string
	// New builds the case; it is called once for each property.
	New func(testing.TB) Case
}

// Case is one session that the suite runs many times.
type Case struct {
	Session *protocol.Session
	// Nodes are all members, in any order. Given Timers, property silent removes one node
	// and expects the others to notice.
	Nodes []sim.Node
	// Check returns an error if the result of a machine that ended without an error
	// is wrong, given the name of its node.
	Check func(name string, m protocol.Machine) error
	// InFlight bounds the bytes of all undelivered bodies while one node is slow and the
	// network's window is Window messages from each sender to each receiver.
	InFlight int64
	// Trusts reports whether the body of a message with this header is an unverifiable
	// statement of its sender, so that a lie in it may change results. Nil trusts none.
	Trusts func(protocol.Header) bool
	// Runs bounds the runs for one property; 0 means 200. If all cases of a property need
	// more, the suite takes a fixed sample.
	Runs int

	pace pace
}

// Window is the window of property slow.
const Window = 4

const defaultRuns = 200

// property is a requirement on every protocol. It returns the first violation, so that the
// suite's own tests can check that it finds one.
type property struct {
	name  string
	holds func(*Case) error
}

func properties() []property {
	return []property{
		{"plain", plain},
		{"schedules", schedules},
		{"crashes", crashes},
		{"input", input},
		{"forged", forged},
		{"hostile", hostile},
		{"slow", slow},
		{"pace", steps},
		{"ended", ended},
		{"silent", silent},
	}
}

// errNothing reports that a case has nothing that a property could test.
var errNothing = errors.New("protocoltest: nothing to test")

// Run tests every property of p as a subtest.
func Run(t *testing.T, p Protocol) {
	t.Run(p.Name, func(t *testing.T) {
		for _, prop := range properties() {
			t.Run(prop.name, func(t *testing.T) {
				c := p.New(t)
				err := c.test(prop)
				if errors.Is(err, errNothing) {
					t.Skip(err)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// test fills in the defaults of c and tests one property.
func (c *Case) test(p property) error {
	if c.Check == nil || c.InFlight <= 0 {
		return errors.New("protocoltest: a case needs Check and InFlight")
	}
	if c.Runs == 0 {
		c.Runs = defaultRuns
	}
	if c.Trusts == nil {
		c.Trusts = func(protocol.Header) bool { return false }
	}
	if c.pace == (pace{}) {
		c.pace = defaultPace()
	}
	return p.holds(c)
}

// run runs the case once.
func (c *Case) run(s sim.Schedule, intercept func(protocol.Message) []protocol.Message) (*sim.Result, error) {
	return c.runNodes(c.Nodes, s, intercept)
}

func (c *Case) runNodes(nodes []sim.Node, s sim.Schedule, intercept func(protocol.Message) []protocol.Message) (*sim.Result, error) {
	r, err := sim.Run(sim.Config{Session: c.Session, Nodes: nodes, Schedule: s, Intercept: intercept})
	if err != nil {
		return nil, found(r, err)
	}
	return r, nil
}

// found adds the end of r's transcript to err.
func found(r *sim.Result, err error) error {
	if r == nil {
		return err
	}
	const tail = 2000
	text := r.Transcript()
	if len(text) > tail {
		text = "..." + text[len(text)-tail:]
	}
	return fmt.Errorf("%w\ntranscript:\n%s", err, text)
}

func plain(c *Case) error {
	_, err := c.baseline()
	return err
}

// schedules disturbs the network in every way at once.
func schedules(c *Case) error {
	b, err := c.baseline()
	if err != nil {
		return err
	}
	for seed := range uint64(c.Runs) {
		r, err := c.run(weather(seed), nil)
		if err == nil {
			err = c.unchanged(b, r)
		}
		if err != nil {
			return fmt.Errorf("schedule %d: %w", seed, err)
		}
	}
	return nil
}

// weather returns a schedule that depends on the seed in more than its random numbers:
// short and long delays, small and no windows.
func weather(seed uint64) sim.Schedule {
	level := float64(seed%4) / 4
	return sim.Schedule{
		Seed: seed, Loss: level, Duplicate: 1 - level, Reorder: 1 - level/2,
		MaxDelay: []int64{0, 3, 100}[seed%3], Window: []int{0, 1, 8}[seed%3], CrashRate: level / 8,
	}
}

// crashes loses every machine once after each of its events.
func crashes(c *Case) error {
	b, err := c.baseline()
	if err != nil {
		return err
	}
	var all []sim.Crash
	for _, o := range b.Nodes {
		for event := range o.Events {
			all = append(all, sim.Crash{Node: o.Name, Event: event})
		}
	}
	for _, i := range sample(len(all), c.Runs) {
		r, err := c.run(sim.Schedule{Crash: all[i : i+1]}, nil)
		if err == nil {
			err = c.unchanged(b, r)
		}
		if err != nil {
			return fmt.Errorf("crash of %s after event %d: %w", all[i].Node, all[i].Event, err)
		}
	}
	return nil
}

// slow delays each node in turn by more than a whole run takes.
func slow(c *Case) error {
	b, err := c.baseline()
	if err != nil {
		return err
	}
	for _, n := range c.Nodes {
		r, err := c.run(sim.Schedule{Slow: map[string]int64{n.Name: 1 << 20}, Window: Window}, nil)
		if err == nil {
			err = c.unchanged(b, r)
		}
		if err == nil && r.Peak.Bytes > c.InFlight {
			err = found(r, fmt.Errorf("%d bytes in %d messages are undelivered; at most %d bytes are allowed", r.Peak.Bytes, r.Peak.Messages, c.InFlight))
		}
		if err != nil {
			return fmt.Errorf("%s is slow: %w", n.Name, err)
		}
	}
	return nil
}
