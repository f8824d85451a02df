package secagg

import (
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// A second session for the same epoch and purpose finds the contribution spent,
// even if the first gave no sum.
func TestPitfall07OneContributionPerEpoch(t *testing.T) {
	c := newCrowd(t, spec(Active), 5)
	ledger := &sim.Ledger{}
	run := func(nonce byte, gone map[string]int) *sim.Result {
		d := c.session.Descriptor
		d.Nonce = [32]byte{nonce}
		again := *c
		var err error
		if again.session, err = protocol.NewSession(d); err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(sim.Config{Session: again.session, Nodes: again.nodes(t), Ledger: ledger, Schedule: sim.Schedule{Gone: gone}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	all := make(map[string]int)
	for _, name := range c.names {
		all[name] = afterMasked // the first session dies after the vectors are sent
	}
	run(1, all)
	second := run(2, nil)
	if second.Outcome("server").Machine.(*Server).Sums() != nil {
		t.Error("the same vectors are summed over another session")
	}
	for h := range second.Sent {
		if h.Round == roundMasked {
			t.Fatalf("%s sends a vector again", h.Sender)
		}
	}
}

// A sum of fewer vectors than agreed is not unmasked.
func TestPitfall09TheMinimumIsTheClients(t *testing.T) {
	s := spec(Active)
	s.Minimum = 38
	c := newCrowd(t, s, 40)
	r, l := c.lie(t, sim.Schedule{}, func(m protocol.Message) protocol.Message {
		if m.Round != roundSurvivors {
			return m
		}
		return c.rewrite(t, m, func(told set) {
			for i := range 6 {
				if c.names[i] != m.Receiver {
					remove(told, i)
				}
			}
		})
	})
	nobodyReleases(t, l)
	blames(t, r, c.names[20], "a sum of 34 vectors, fewer than the agreed minimum of 38")
}
