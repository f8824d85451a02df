package secagg

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// A server whose first session dies after the vectors were sent runs it again with another
// cohort: two sums of the same vectors would give the difference. But every client finds
// that its contribution for this epoch and purpose is spent, and refuses.
func TestPitfall07OneContributionPerEpoch(t *testing.T) {
	c := newCohort(t, spec(Active), 12)
	ledger := &memory.Ledger{}
	run := func(nonce byte, gone map[string]int) *sim.Result {
		again := c.again(t, nonce)
		return must(sim.Run(sim.Config{Session: again.session, Nodes: again.nodes(t), Ledger: ledger, Schedule: sim.Schedule{Gone: gone}}))(t)
	}
	all := make(map[string]int)
	for _, name := range c.names {
		all[name] = afterMasked
	}
	if first := run(1, all); first.Outcome("server").Machine.(*Server).Sums() != nil {
		t.Fatal("the first session was to die")
	}
	second := run(2, map[string]int{c.names[3]: neverThere})
	if second.Outcome("server").Machine.(*Server).Sums() != nil {
		t.Error("the same vectors are summed over another cohort")
	}
	for h := range second.Sent {
		if h.Round == roundMasked {
			t.Fatalf("%s sends a vector again", h.Sender)
		}
	}
	for i, name := range c.names {
		o := second.Outcome(name)
		if i != 3 && (o.End == nil || o.End.Err == nil || !strings.Contains(o.End.Err.Error(), `secagg/masked-input/\"2026\"/\"test\"`)) {
			t.Errorf("%s ended with %+v", name, o.End)
		}
	}
	third := run(1, nil) // the first session itself may continue
	c.checkSum(t, third, 12)
}

// A sum of fewer vectors than agreed is not unmasked.
func TestPitfall09TheMinimumIsTheClients(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	s := spec(Active)
	s.Minimum = 38
	c := newCohort(t, s, 40)
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
	blames(t, r, c.names[20], "the sum has 34 vectors; the agreed minimum is 38")
}

// The limits of secure aggregation, as in the package comment: an entry to which only one
// client contributes is in the sum unchanged, and two sums over groups of devices that
// differ by one client differ by its vector. Against the first, callers leave out entries
// of few clients (the recommender's threshold); against the second, a client contributes
// once for each epoch and purpose. No client agrees to a sum of one.
func TestPitfall10SumsTellOfThoseWhoStandAlone(t *testing.T) {
	s := spec(Active)
	s.Groups = []Group{{Entries: 20, Bound: 7}}
	c := newCohort(t, s, 12)
	const victim, alone = 5, 13
	for i, v := range c.vectors {
		if v[0][alone] = 0; i == victim {
			v[0][alone] = 6
		}
	}
	sums := func(r *sim.Result) []int64 { return r.Outcome("server").Machine.(*Server).Sums()[0] }
	with := c.run(t, sim.Schedule{}, nil)
	c.checkSum(t, with, 12)
	if sums(with)[alone] != 6 {
		t.Error("the entry of one is not that one's")
	}
	other := c.again(t, 2) // another epoch, for all that the clients know
	without := other.run(t, sim.Schedule{Gone: map[string]int{c.names[victim]: neverThere}}, nil)
	other.checkSum(t, without, 11)
	for i, x := range c.vectors[victim][0] {
		if d := sums(with)[i] - sums(without)[i]; d != x {
			t.Errorf("entry %d: the sums differ by %d, the victim has %d", i, d, x)
		}
	}
	for _, minimum := range []int{0, 1} {
		s.Minimum = minimum
		if _, err := NewParams(s, 12); err == nil {
			t.Errorf("a sum of at least %d is agreed to", minimum)
		}
	}
}
