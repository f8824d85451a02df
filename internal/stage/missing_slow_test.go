//go:build slow

package stage

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
)

// The attack by rank on larger crowds, up to all of MovieLens' people.
func TestAttackRankOnCrowds(t *testing.T) {
	for _, n := range []int{283, 471, 943} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { attackRankOn(t, n) })
	}
}

// With as many items as the least cut leaves, even a crowd of 943 has fewer people
// than items, and the attack reads whom it likes.
func TestAttackRankOnEverybodyByCutAlone(t *testing.T) {
	people, items := movieLens(t)
	attackRank(t, crowdOf(items, job.MarginNone), people, 3)
}
