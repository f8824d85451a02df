package moments

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol"
)

// A party that holds the solution is never said to reconstruct nothing: it reads the last row that it
// does not know (TestAttackSolutionGivesTheLastRow in learn/moments).
func TestExposuresOfASolution(t *testing.T) {
	s := &server{Instance: methodtest.Instance(momentsJob(t, "none")), sums: &moments.Sums{Rows: 800}}
	lines := s.leakage()
	for role, e := range s.exposures() {
		if e.Reach != protocol.ReachPart || !strings.Contains(strings.Join(lines[role], "\n"), e.Why) {
			t.Errorf("%s: %+v, want in part by a sentence of the statement", role, e)
		}
	}
}
