//go:build slow

package fedcfk

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/fedcfk/fedcfktest"
)

// The attack by rank on larger groups of devices, up to all of MovieLens' people.
func TestAttackRankOnDevicess(t *testing.T) {
	for _, n := range []int{283, 471, 943} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { attackRankOn(t, n) })
	}
}

// With as many items as the least cut leaves, even 943 devices have fewer people
// than items, and the attack reads whom it likes.
func TestAttackRankOnEverybodyByCutAlone(t *testing.T) {
	people, items := fedcfktest.MovieLens(t)
	attackRank(t, someDevices(items, MarginNone), people, 3)
}
