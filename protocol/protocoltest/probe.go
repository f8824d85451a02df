package protocoltest

import (
	"time"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// probe watches the machines of one run from outside.
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
