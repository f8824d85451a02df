package protocoltest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// Protocol describes the protocol that [Run] tests.
type Protocol struct {
	Name string
	// New returns the case to test. It is called once for each property.
	New func(testing.TB) Case
}

// Case describes one session, which the suite runs many times.
type Case struct {
	Session *protocol.Session
	// Nodes lists all members, in any order. If nodes have Timers, property silent removes one node
	// and expects the others to notice.
	Nodes []sim.Node
	// Check returns an error if the result of a node's machine is wrong. It is called for machines
	// that ended without an error.
	Check func(name string, m protocol.Machine) error
	// InFlight is the largest allowed size, in bytes, of all undelivered bodies together while one
	// node is slow. In these runs the network's window is [Window] messages from each sender to
	// each receiver.
	InFlight int64
	// Trusts reports whether a message contains a statement that its receiver cannot verify. A lie
	// in the statement can change results. Nil means that there are no such messages.
	Trusts func(protocol.Header) bool
	// Runs limits how many schedules, crashes, forgeries, alterations or disappearances one property
	// tries; 0 means 200. If there are more, the suite takes a fixed sample of them.
	Runs int

	pace pace
}

// Window limits the undelivered messages from each sender to each receiver in the runs of property
// slow.
const Window = 4

const defaultRuns = 200

// property is a requirement on every protocol. The function check returns an error that describes
// the first violation. The suite's own tests show that these functions find violations.
type property struct {
	name  string
	check func(*Case) error
}

func properties() []property {
	return []property{
		{"plain", checkPlain},
		{"schedules", checkSchedules},
		{"crashes", checkCrashes},
		{"input", checkInput},
		{"forged", checkForged},
		{"hostile", checkHostile},
		{"slow", checkSlow},
		{"pace", checkPace},
		{"ended", checkEnded},
		{"silent", checkSilent},
	}
}

// errNothing reports that a property does not apply to a case, for example because no node has
// timers.
var errNothing = errors.New("protocoltest: the case has nothing that this property can test")

// Run tests protocol p for every property of the suite, with a subtest for each property.
func Run(t *testing.T, p Protocol) {
	t.Run(p.Name, func(t *testing.T) {
		for _, prop := range properties() {
			t.Run(prop.name, func(t *testing.T) {
				c := p.New(t)
				err := c.testProperty(prop)
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

// testProperty fills in the defaults of the case and tests one property.
func (c *Case) testProperty(p property) error {
	if c.Check == nil || c.InFlight <= 0 {
		return errors.New("protocoltest: Check or InFlight is missing; a case needs both")
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
	return p.check(c)
}

// run runs the case once with the given schedule and interception.
func (c *Case) run(s sim.Schedule, intercept func(protocol.Message) []protocol.Message) (*sim.Result, error) {
	return c.runNodes(c.Nodes, s, intercept)
}

func (c *Case) runNodes(nodes []sim.Node, s sim.Schedule, intercept func(protocol.Message) []protocol.Message) (*sim.Result, error) {
	r, err := sim.Run(sim.Config{Session: c.Session, Nodes: nodes, Schedule: s, Intercept: intercept})
	if err != nil {
		return nil, withTranscript(r, err)
	}
	return r, nil
}

// withTranscript adds the end of the run's transcript to an error.
func withTranscript(r *sim.Result, err error) error {
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

func checkPlain(c *Case) error {
	_, err := c.baseline()
	return err
}

// checkSchedules tests that delays, losses, duplicates, reordering and crashes together change
// neither results nor messages.
func checkSchedules(c *Case) error {
	b, err := c.baseline()
	if err != nil {
		return err
	}
	for seed := range uint64(c.Runs) {
		r, err := c.run(scheduleOf(seed), nil)
		if err == nil {
			err = c.checkUnchanged(b, r)
		}
		if err != nil {
			return fmt.Errorf("schedule %d: %w", seed, err)
		}
	}
	return nil
}

// scheduleOf returns the schedule for a seed. Probabilities, delays and windows of the schedule
// also vary with the seed.
func scheduleOf(seed uint64) sim.Schedule {
	level := float64(seed%4) / 4
	return sim.Schedule{
		Seed: seed, Loss: level, Duplicate: 1 - level, Reorder: 1 - level/2,
		MaxDelay: []int64{0, 3, 100}[seed%3], Window: []int{0, 1, 8}[seed%3], CrashRate: level / 8,
	}
}

// checkCrashes tests that a crash of any machine after any of its events changes neither results
// nor messages.
func checkCrashes(c *Case) error {
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
			err = c.checkUnchanged(b, r)
		}
		if err != nil {
			return fmt.Errorf("crash of %s after event %d: %w", all[i].Node, all[i].Event, err)
		}
	}
	return nil
}

// checkSlow tests that undelivered messages stay within InFlight even if one node is extremely slow.
func checkSlow(c *Case) error {
	b, err := c.baseline()
	if err != nil {
		return err
	}
	for _, n := range c.Nodes {
		r, err := c.run(sim.Schedule{Slow: map[string]int64{n.Name: 1 << 20}, Window: Window}, nil)
		if err == nil {
			err = c.checkUnchanged(b, r)
		}
		if err == nil && r.Peak.Bytes > c.InFlight {
			err = withTranscript(r, fmt.Errorf("the run has %d bytes in %d messages undelivered at one time; at most %d bytes are allowed", r.Peak.Bytes, r.Peak.Messages, c.InFlight))
		}
		if err != nil {
			return fmt.Errorf("in the run with slow node %s: %w", n.Name, err)
		}
	}
	return nil
}
