package sealed

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// The cost of a session states every message of it.
func TestCostStatesTheMessages(t *testing.T) {
	for name := range trios {
		for _, features := range []int{1, 260} { // a message of a square in one chunk, and in two
			if features > 1 && testing.Short() {
				continue
			}
			g := newGroup(t, name, features)
			var meter protocoltest.Meter
			if err := g.run(t, sim.Schedule{}, meter.Count).Err(); err != nil {
				t.Fatal(err)
			}
			cost := mustCost(t, g.session)
			meter.Check(t, cost, nil)
			if len(cost.Members) != len(g.session.Members) {
				t.Errorf("%s: loads of %d members", name, len(cost.Members))
			}
		}
	}
}

func mustCost(t *testing.T, s *protocol.Session) protocol.Cost {
	t.Helper()
	c, err := Cost(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The cost states the longest chain of messages that wait for one another. A run has a longer one if a member receives
// messages before it needs them, so it is the shortest of many runs. Even then a dealing that comes ahead adds one.
func TestCostStatesTheChain(t *testing.T) {
	for name := range trios {
		g, shortest := newGroup(t, name, 1), math.MaxInt
		for seed := range uint64(60) {
			var chain protocoltest.Chain
			nodes := g.nodes(t)
			for i := range nodes {
				nodes[i] = chain.Watch(nodes[i])
			}
			r, err := sim.Run(sim.Config{Session: g.session, Nodes: nodes, Schedule: sim.Schedule{Seed: seed, Reorder: float64(seed%4) / 3, MaxDelay: int64(seed)}})
			if err == nil {
				err = r.Err()
			}
			if err != nil {
				t.Fatal(err)
			}
			shortest = min(shortest, chain.Longest)
		}
		if cost := mustCost(t, g.session); shortest != cost.Rounds && shortest != cost.Rounds+1 {
			t.Errorf("%s: the cost states %d messages in a row; of all runs, the shortest chain has %d", name, cost.Rounds, shortest)
		}
	}
}
