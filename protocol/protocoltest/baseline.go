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

// baseline holds the result of the undisturbed run, with which all other runs are compared.
type baseline struct {
	*sim.Result
	messages []protocol.Message // the accepted messages, in the order of sending
	senders  map[line]bool      // the senders, receivers, rounds and kinds of all messages
}

// line identifies all messages with the same sender, receiver, round and kind.
type line struct {
	sender, receiver string
	round            uint16
	kind             string
}

func lineOf(h protocol.Header) line { return line{h.Sender, h.Receiver, h.Round, h.Kind} }

// baseline runs the case without disturbance and checks its results.
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
		return nil, withTranscript(r, fmt.Errorf("node %s refuses %s in an undisturbed run: %w", first.Node, describe(first.Event), first.Err))
	}
	b.Result = r
	b.messages = slices.DeleteFunc(b.messages, func(m protocol.Message) bool { return !log.accepted[m.Header] })
	return b, c.checkSuccess(r)
}

// describe returns a short text that names the event e.
func describe(e protocol.Event) string {
	if r, ok := e.(protocol.Received); ok {
		return r.Message.Header.String()
	}
	return fmt.Sprintf("%T", e)
}

// checkSuccess returns nil if every machine ended without an error and with the right result.
func (c *Case) checkSuccess(r *sim.Result) error {
	if err := r.Err(); err != nil {
		return withTranscript(r, err)
	}
	return c.checkResults(r)
}

// checkResults returns nil if every machine that ended without an error has the right result.
func (c *Case) checkResults(r *sim.Result) error {
	for _, o := range r.Nodes {
		if o.End == nil || o.End.Err != nil {
			continue
		}
		if err := c.Check(o.Name, machine(o.Machine)); err != nil {
			return withTranscript(r, fmt.Errorf("node %s ends without an error, but with a wrong result: %w", o.Name, err))
		}
	}
	return nil
}

// checkUnchanged returns nil if r has the right results and sent the same messages as the baseline,
// byte for byte.
func (c *Case) checkUnchanged(b *baseline, r *sim.Result) error {
	if err := r.Err(); err != nil {
		return withTranscript(r, err)
	}
	if odd := b.firstDifferent(r); odd != "" {
		return withTranscript(r, errors.New(odd))
	}
	return c.checkResults(r)
}

// firstDifferent describes a difference between the messages of r and of the undisturbed run. If
// several messages differ, it returns the first description in alphabetical order. It returns "" if
// there is no difference.
func (b *baseline) firstDifferent(r *sim.Result) string {
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

// sample returns n of the indices below total, or all indices if total is at most n. It returns the
// same indices at every call.
func sample(total, n int) []int {
	all := rand.New(rand.NewPCG(uint64(total), 1)).Perm(total)
	all = all[:min(n, total)]
	slices.Sort(all)
	return all
}

// probe records which messages the machines of a run accept and how long their steps take.
type probe struct {
	accepted map[protocol.Header]bool
	took     map[step]time.Duration
}

// step identifies one call of a node's Step by the index of the call, counted from 0.
type step struct {
	node  string
	index int
}

func newProbe() *probe {
	return &probe{accepted: make(map[protocol.Header]bool), took: make(map[step]time.Duration)}
}

// watch returns copies of the nodes whose machines report their steps to p.
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

// machine returns the protocol's own machine, without the wrapper by which a probe watches it.
func machine(m protocol.Machine) protocol.Machine {
	if w, ok := m.(*watchedMachine); ok {
		return w.Machine
	}
	return m
}
