//go:build slow

package psi

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/mercer-fl/mercer/protocol/sim"
)

// Ids as in the default-credit table, 1 to 30,000, shuffled and with a
// tenth missing at each party.
func TestThirtyThousandRows(t *testing.T) {
	for parties := 2; parties <= 3; parties++ {
		random := rand.New(rand.NewPCG(7, uint64(parties)))
		sets := make([][][]byte, parties)
		for i := range sets {
			for _, row := range random.Perm(30_000)[:27_000] {
				sets[i] = append(sets[i], strconv.AppendInt(nil, int64(row+1), 10))
			}
		}
		checkAligned(t, run(t, bulk(), sim.Schedule{}, sets...), sets)
	}
}
