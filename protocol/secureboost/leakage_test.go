package secureboost

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

// Whoever reads only the exposures reads sentences of the statement. The attacks on nodes and bins succeed, so
// no exposure is less than they read.
func TestExposuresFollowTheAttacks(t *testing.T) {
	for _, f := range []Facts{{Encryption: Paillier}, {Encryption: None}} {
		list, lines := Exposures(f), Leakage(f)
		want := map[string]protocol.Reach{"active": protocol.ReachAll, "passive": protocol.ReachPart, "coalition": protocol.ReachAll}
		for role, reach := range want {
			if e := list[role]; e.Reach != reach || !strings.Contains(strings.Join(lines[role], "\n"), e.Why) {
				t.Errorf("%+v: %s: %+v, want %s by a sentence of the statement", f, role, e, reach)
			}
		}
	}
}
