package fdskl

import (
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// weighed is a machine that notes how much it holds of others' words.
type weighed struct {
	protocol.Machine
	worker *worker
	most   int
}

func (w *weighed) Step(e protocol.Event) (protocol.Effects, error) {
	effects, err := w.Machine.Step(e)
	held := 0
	for _, l := range w.worker.queues {
		for i := 0; l.task != nil && i < len(l.task.upstream); i++ {
			for _, s := range l.task.upstream[i].slots {
				held += len(s.words)
			}
		}
	}
	w.most = max(w.most, held)
	return effects, err
}

func weigh(m protocol.Machine) *weighed {
	switch m := m.(type) {
	case *Active:
		return &weighed{Machine: m, worker: &m.worker}
	case *Passive:
		return &weighed{Machine: m, worker: &m.worker}
	}
	panic("fdskl: another machine")
}

// However slow one party is, no party holds more than a window of chunks for each tree, and no more
// than a window from each child is in transit.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const chunk, chunks = 16, 60
	for _, mode := range []Mode{Hardened, Paper} {
		for _, topology := range []Topology{Binary, Star, Chain} {
			f := newFederation(t, Spec{Mode: mode, Topology: topology, Bits: 16, Rows: chunks * 4, Directions: 2}, 5)
			f.chunk = chunk
			trees := len(f.params.trees(5))
			for _, slow := range f.names {
				nodes := f.nodes(f.table)
				for i := range nodes {
					build := nodes[i].New
					nodes[i].New = func() (protocol.Machine, error) {
						m, err := build()
						return weigh(m), err
					}
				}
				r, err := sim.Run(sim.Config{Session: f.session, Nodes: nodes, Schedule: sim.Schedule{Slow: map[string]int64{slow: 50}}})
				if err != nil {
					t.Fatal(err)
				}
				if err := r.Err(); err != nil {
					t.Fatal(err)
				}
				for _, o := range r.Nodes {
					if held := o.Machine.(*weighed).most; held > trees*window*chunk {
						t.Errorf("%s, %s, %s slow: %s holds %d bytes, at most %d are allowed", mode, topology, slow, o.Name, held, trees*window*chunk)
					}
					few := 4*keyBytes + signedBytes + spanBytes + witnessBytes
					if limit := int64(trees*4*window*chunk + few); o.Peak.Bytes > limit {
						t.Errorf("%s, %s, %s slow: %d bytes are on their way to %s, at most %d are allowed", mode, topology, slow, o.Peak.Bytes, o.Name, limit)
					}
				}
			}
		}
	}
}
