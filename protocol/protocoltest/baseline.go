package protocoltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// baseline is the undisturbed run, with which the other runs are compared.
type baseline struct {
	*sim.Result
	messages []protocol.Message // the accepted ones, in the order of sending
	senders  map[line]bool      // the lines of all messages
}

// line identifies a kind of message: a header without its numbers.
type line struct {
	sender, receiver string
	round            uint16
	kind             string
}

func lineOf(h protocol.Header) line { return line{h.Sender, h.Receiver, h.Round, h.Kind} }

// baseline runs the case undisturbed and checks its results.
func (c *Case) baseline() (*baseline, error) {
	b := &baseline{senders: make(map[line]bool)}
	log := newProbe()
	r, err := c.runNodes(log.watch(c.Nodes), sim.Schedule{}, func(m protocol.Message) []protocol.Message {
		b.messages = append(b.messages, m)
		b.senders[lineOf(m.Header)] = true
		return []protocol.Message{m}
	})
	if err != nil {
		return nil, err
	}
	if len(r.Refusals) > 0 {
		first := r.Refusals[0]
		return nil, found(r, fmt.Errorf("%s refuses %s in an undisturbed run: %w", first.Node, describe(first.Event), first.Err))
	}
	b.Result = r
	b.messages = slices.DeleteFunc(b.messages, func(m protocol.Message) bool { return !log.accepted[m.Header] })
	return b, c.succeeded(r)
}

// describe returns a short text for e.
func describe(e protocol.Event) string {
	if r, ok := e.(protocol.Received); ok {
		return r.Message.Header.String()
	}
	return fmt.Sprintf("%T", e)
}

// succeeded reports whether every machine ended with the right result.
func (c *Case) succeeded(r *sim.Result) error {
	if err := r.Err(); err != nil {
		return found(r, err)
	}
	return c.correct(r)
}

// correct reports whether every machine that ended without an error has the
// right result.
func (c *Case) correct(r *sim.Result) error {
	for _, o := range r.Nodes {
		if o.End == nil || o.End.Err != nil {
			continue
		}
		if err := c.Check(o.Name, machine(o.Machine)); err != nil {
			return found(r, fmt.Errorf("%s ends without an error, but with a wrong result: %w", o.Name, err))
		}
	}
	return nil
}

// unchanged reports whether r has the results of the baseline and the same bytes in every
// message.
func (c *Case) unchanged(b *baseline, r *sim.Result) error {
	if err := r.Err(); err != nil {
		return found(r, err)
	}
	if odd := b.odd(r); odd != "" {
		return found(r, errors.New(odd))
	}
	return c.correct(r)
}

// odd names the first message of r, in alphabetical order, that differs from the
// undisturbed run.
func (b *baseline) odd(r *sim.Result) string {
	var odd []string
	for h, digest := range r.Sent {
		want, ok := b.Sent[h]
		switch {
		case !ok:
			odd = append(odd, fmt.Sprintf("message %v is not sent in an undisturbed run", h))
		case digest != want:
			odd = append(odd, fmt.Sprintf("message %v has other bytes than in an undisturbed run", h))
		}
	}
	if len(odd) > 0 {
		return slices.Min(odd)
	}
	if len(r.Sent) < len(b.Sent) {
		return "fewer messages are sent than in an undisturbed run"
	}
	return ""
}

// sample returns at most n of the indices below total: all of them if there are no more,
// else always the same.
func sample(total, n int) []int {
	all := rand.New(rand.NewPCG(uint64(total), 1)).Perm(total)
	all = all[:min(n, total)]
	slices.Sort(all)
	return all
}

// probe observes the machines of one run.
type probe struct {
	accepted map[protocol.Header]bool
	took     map[step]time.Duration
}

// step is one call of Step, counted from 0 for each node.
type step struct {
	node  string
	index int
}

func newProbe() *probe {
	return &probe{accepted: make(map[protocol.Header]bool), took: make(map[step]time.Duration)}
}

// watch returns nodes whose machines report to p.
func (p *probe) watch(nodes []sim.Node) []sim.Node {
	watched := make([]sim.Node, len(nodes))
	for i, n := range nodes {
		watched[i] = n
		watched[i].New = func() (protocol.Machine, error) {
			m, err := n.New()
			if err != nil || m == nil {
				return m, err
			}
			return &watchedMachine{Machine: m, name: n.Name, probe: p}, nil
		}
	}
	return watched
}

type watchedMachine struct {
	protocol.Machine
	name  string
	calls int
	probe *probe
}

func (w *watchedMachine) Step(e protocol.Event) (protocol.Effects, error) {
	begin := time.Now()
	eff, err := w.Machine.Step(e)
	w.probe.took[step{w.name, w.calls}] = time.Since(begin)
	w.calls++
	if r, ok := e.(protocol.Received); ok && err == nil {
		w.probe.accepted[r.Message.Header] = true
	}
	return eff, err
}

// machine returns the machine below the probe.
func machine(m protocol.Machine) protocol.Machine {
	if w, ok := m.(*watchedMachine); ok {
		return w.Machine
	}
	return m
}
