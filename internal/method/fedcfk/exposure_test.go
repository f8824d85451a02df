package fedcfk

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
)

// TestExposures: all devices but one, with the server, read the remaining list. In a semi-honest job
// a server that does not follow the protocol reads single lists alone.
func TestExposures(t *testing.T) {
	for adversary, want := range map[sums.Adversary]protocol.Reach{sums.Active: protocol.ReachPart, sums.SemiHonest: protocol.ReachAll} {
		c := someDevices(50, MarginCorrupted)
		job.As[*Keys](c.Job.Protocol).Adversary = adversary
		list, lines := c.exposures(100), c.leakage(facts{people: 100, likes: make([]int64, 50)})
		for role, reach := range map[string]protocol.Reach{"server": want, "party": protocol.ReachPart, "coalition": protocol.ReachAll} {
			if e := list[role]; e.Reach != reach || !strings.Contains(strings.Join(lines[role], "\n"), e.Why) {
				t.Errorf("%s, %s: %+v, want %s by a sentence of the statement", adversary, role, e, reach)
			}
		}
	}
}
