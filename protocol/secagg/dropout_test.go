package secagg

import (
	"errors"
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// The events of a client, as the network counts them: the client vanishes after that many.
const (
	neverThere      = 0
	afterAdvertise  = 1 // Start
	afterCohort     = 2
	afterHolderKeys = 3
	afterShares     = 4 // nothing of the vector is sent
	afterMasked     = 5 // one piece: all of it
	afterSurvivors  = 6
)

// Pitfall 18: dropouts between every two rounds, up to as many as were agreed.
func TestPitfall18DropoutsBetweenAnyTwoRounds(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, a := range []Adversary{SemiHonest, Active} {
		for _, m := range moments {
			t.Run(fmt.Sprintf("%s/%s", a, m.name), func(t *testing.T) {
				c := newCohort(t, spec(a), 30)
				r := c.run(t, sim.Schedule{Gone: map[string]int{"c003": m.gone, "c011": m.gone, "c029": m.gone}}, nil)
				if m.in {
					c.checkSum(t, r, 30)
				} else {
					c.checkSum(t, r, 27)
				}
			})
		}
	}
}

// Clients that vanish one after the other, one in each round.
func TestDropoutsInEveryRound(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	s := spec(Active)
	s.Dropped, s.Corrupted = .2, .03
	c := newCohort(t, s, 40)
	gone := map[string]int{"c000": neverThere, "c001": afterAdvertise, "c002": afterCohort, "c003": afterHolderKeys, "c004": afterShares, "c005": afterMasked, "c006": afterSurvivors}
	c.checkSum(t, c.run(t, sim.Schedule{Gone: gone, Reorder: .3, Duplicate: .1, MaxDelay: 9}, nil), 35)
}

// moments lists the moments between every two rounds.
var moments = []struct {
	name string
	gone int
	in   bool // whether the vector of a client that vanishes then is in the sum
}{
	{"never there", neverThere, false},
	{"after AdvertiseKeys", afterAdvertise, false},
	{"after Holders", afterCohort, false},
	{"after ShareKeys", afterHolderKeys, false},
	{"before MaskedInput", afterShares, false},
	{"after MaskedInput", afterMasked, true},
	{"before Unmask", afterSurvivors, true},
}

// Pitfall 18: between any two rounds, with exactly a threshold of clients left the session
// gives a sum. With one fewer it gives none, and the error says so.
func TestPitfall18ExactlyTheThreshold(t *testing.T) {
	s := spec(Active)
	s.Dropped, s.Corrupted = .4, 0
	c := newCohort(t, s, 4)
	if d := c.params.Degree(); d.Threshold != 3 || !d.Complete {
		t.Fatalf("degree %+v", d)
	}
	for _, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			in := 3
			if m.in {
				in = 4
			}
			c.checkSum(t, c.run(t, sim.Schedule{Gone: map[string]int{"c003": m.gone}}, nil), in)
			c.checkNoSum(t, c.run(t, sim.Schedule{Gone: map[string]int{"c003": m.gone, "c001": m.gone}}, nil))
		})
	}
}

// checkNoSum demands that the server gave up because somebody was silent.
func (c *cohort) checkNoSum(t *testing.T, r *sim.Result) {
	t.Helper()
	o := r.Outcome("server")
	if o.End == nil {
		t.Fatal("the server has not ended")
	}
	if blame, ok := errors.AsType[*protocol.BlameError](o.End.Err); !ok || blame.Kind != protocol.KindSilent {
		t.Errorf("the server ended with %v", o.End.Err)
	}
	if o.Machine.(*Server).Sums() != nil {
		t.Error("there is a sum all the same")
	}
}

// Pitfall 18: in a sparse graph the threshold counts the holders of one client. That client
// vanishes after its shares are dealt, and so many of its holders before they release
// theirs that a threshold is left, or one fewer.
func TestPitfall18ExactlyTheThresholdOfHolders(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const victim = 7
	c := newCohort(t, spec(Active), 60)
	d := c.params.Degree()
	if d.Complete {
		t.Fatalf("degree %+v", d)
	}
	holders := c.params.holders(c.session.ID(), victim, everybody(60), c.setup(c.names[victim]).Seed)
	for _, left := range []int{d.Threshold, d.Threshold - 1} {
		gone := map[string]int{c.names[victim]: afterShares}
		for _, h := range holders[left:] {
			gone[c.names[h]] = afterSurvivors
		}
		r := c.run(t, sim.Schedule{Gone: gone}, nil)
		if left == d.Threshold {
			c.checkSum(t, r, 59)
		} else {
			c.checkNoSum(t, r)
		}
	}
}
