//go:build slow

package secagg

import (
	"testing"

	"github.com/mercer-fl/mercer/protocol/sim"
)

// As many clients as ml-100k has users, with the parameters that their session
// gets, a tenth of whom vanish: some at each moment.
func TestOneTenthOf943Vanishes(t *testing.T) {
	c := newCohort(t, spec(Active), 943)
	if d := c.params.Degree(); d != (Degree{Holders: 74, Threshold: 49}) {
		t.Fatalf("degree %+v", d)
	}
	gone := make(map[string]int)
	moments := []int{neverThere, afterAdvertise, afterCohort, afterHolderKeys, afterShares, afterMasked, afterSurvivors}
	late := 0
	for i := range 94 {
		moment := moments[i%len(moments)]
		gone[c.names[10*i]] = moment
		if moment >= afterMasked {
			late++ // its vector is in the sum
		}
	}
	r := c.run(t, sim.Schedule{Gone: gone}, nil)
	c.checkSum(t, r, 943-94+late)
	for _, name := range c.names {
		if _, vanished := gone[name]; !vanished {
			if o := r.Outcome(name); o.End == nil || o.End.Err != nil {
				t.Errorf("%s ended with %+v", name, o.End)
			}
		}
	}
}
