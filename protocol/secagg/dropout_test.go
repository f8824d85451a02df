package secagg

import (
	"errors"
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// The events of a client, counted as the network does: it is gone after that
// many of them.
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
	for _, a := range []Adversary{SemiHonest, Active} {
		for _, tt := range []struct {
			name string
			gone int
			in   int // of 30 clients, 3 of whom vanish
		}{
			{"never there", neverThere, 27},
			{"after AdvertiseKeys", afterAdvertise, 27},
			{"after Holders", afterCohort, 27},
			{"after ShareKeys", afterHolderKeys, 27},
			{"before MaskedInput", afterShares, 27},
			{"after MaskedInput", afterMasked, 30},
			{"before Unmask", afterSurvivors, 30},
		} {
			t.Run(fmt.Sprintf("%s/%s", a, tt.name), func(t *testing.T) {
				c := newCrowd(t, spec(a), 30)
				r := c.run(t, sim.Schedule{Gone: map[string]int{"c003": tt.gone, "c011": tt.gone, "c029": tt.gone}}, nil)
				c.checkSum(t, r, tt.in)
			})
		}
	}
}

// Clients that vanish one after the other, one in each round.
func TestDropoutsInEveryRound(t *testing.T) {
	s := spec(Active)
	s.Dropped, s.Corrupted = .2, .03
	c := newCrowd(t, s, 40)
	gone := map[string]int{"c000": neverThere, "c001": afterAdvertise, "c002": afterCohort, "c003": afterHolderKeys, "c004": afterShares, "c005": afterMasked, "c006": afterSurvivors}
	c.checkSum(t, c.run(t, sim.Schedule{Gone: gone, Reorder: .3, Duplicate: .1, MaxDelay: 9}, nil), 35)
}

// Pitfall 18: with exactly a threshold of clients left there is a sum, with one
// fewer there is none, and the error says so.
func TestPitfall18ExactlyTheThreshold(t *testing.T) {
	s := spec(Active)
	s.Dropped, s.Corrupted = .4, 0
	for _, left := range []int{3, 2} { // of 4; the complete graph's threshold is 3
		c := newCrowd(t, s, 4)
		if d := c.params.Degree(); d.Threshold != 3 || !d.Complete {
			t.Fatalf("degree %+v", d)
		}
		gone := make(map[string]int)
		for _, name := range c.names[left:] {
			gone[name] = afterMasked
		}
		r := c.run(t, sim.Schedule{Gone: gone}, nil)
		if left == 3 {
			c.checkSum(t, r, 4)
			continue
		}
		var blame *protocol.BlameError
		if o := r.Outcome("server"); o.End == nil || !errors.As(o.End.Err, &blame) || blame.Kind != protocol.KindSilent {
			t.Errorf("with %d of 4 clients left the server ended with %+v", left, o.End)
		}
		if r.Outcome("server").Machine.(*Server).Sums() != nil {
			t.Error("there is a sum all the same")
		}
	}
}
