package protocoltest

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// checkInput tests that each machine with an input refuses to start with the hash of another input.
func checkInput(c *Case) error {
	tested := false
	for i, n := range c.Nodes {
		if n.InputHash == ([32]byte{}) {
			continue
		}
		tested = true
		nodes := append([]sim.Node(nil), c.Nodes...)
		nodes[i].InputHash[0] ^= 1
		r, err := c.runNodes(nodes, sim.Schedule{}, nil)
		if err != nil {
			return err
		}
		if o := r.Outcome(n.Name); o.Events > 0 {
			return withTranscript(r, fmt.Errorf("node %s starts with a hash that is not the hash of its input", n.Name))
		}
	}
	if !tested {
		return fmt.Errorf("%w: no node has an InputHash", errNothing)
	}
	return nil
}

// pace is the time limit for a step, and the number of times that a step is measured. A step counts
// as slow only if every measurement exceeds the limit.
type pace struct {
	limit time.Duration
	tries int
}

func defaultPace() pace { return pace{limit: time.Second, tries: 3} }

// checkPace tests that no step exceeds the time limit. On a busy computer any step can take a
// second once, so a step is slow only if it is slow each time.
func checkPace(c *Case) error {
	var fastest map[step]time.Duration
	for range c.pace.tries {
		log := newProbe()
		if _, err := c.runNodes(log.watch(c.Nodes), sim.Schedule{}, nil); err != nil {
			return err
		}
		if fastest == nil {
			fastest = log.took
		}
		slow := false
		for s, took := range log.took {
			fastest[s] = min(fastest[s], took)
			slow = slow || fastest[s] > c.pace.limit
		}
		if !slow {
			return nil
		}
	}
	for s, took := range fastest {
		if took > c.pace.limit {
			return fmt.Errorf("step %d of node %s takes %v; at most %v is allowed; split the work with Resume", s.index, s.node, took, c.pace.limit)
		}
	}
	return nil
}

// checkEnded tests that machines that have ended refuse all kinds of events.
func checkEnded(c *Case) error {
	b, err := c.baseline()
	if err != nil {
		return err
	}
	for i, o := range b.Nodes {
		for _, e := range b.events(c.Nodes[i]) {
			if err := checkRefuses(o.Machine, e); err != nil {
				return withTranscript(b.Result, fmt.Errorf("node %s has ended, but it does not refuse %T correctly: %w", o.Name, e, err))
			}
		}
	}
	if err := c.checkResults(b.Result); err != nil {
		return fmt.Errorf("after events that nodes received after their end: %w", err)
	}
	return nil
}

// events returns every message that a node has received, a start, a Resumed, and the expiry of each
// of its timers.
func (b *baseline) events(n sim.Node) []protocol.Event {
	events := []protocol.Event{protocol.Start{InputHash: n.InputHash}, protocol.Resumed{}}
	for _, m := range b.messages {
		if m.Receiver == n.Name {
			m.Body = bytes.Clone(m.Body)
			events = append(events, protocol.Received{Message: m})
		}
	}
	for t := range n.Timers {
		events = append(events, protocol.Expired{Timer: t})
	}
	return events
}

// checkRefuses returns an error unless machine m refuses event e, without messages and without an end.
func checkRefuses(m protocol.Machine, e protocol.Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the machine panics: %v", p)
		}
	}()
	eff, refusal := m.Step(e)
	switch {
	case refusal == nil:
		return errors.New("the machine accepts the event")
	case len(eff.Send) > 0 || eff.End != nil:
		return errors.New("the machine refuses the event, but returns effects")
	}
	return nil
}
