//go:build slow

package fedcfk

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/fedcfk/fedcfktest"
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
	people, items := fedcfktest.MovieLens(t)
	attackRank(t, someCrowd(items, MarginNone), people, 3)
}
