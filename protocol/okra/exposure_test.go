package okra

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

// Whoever reads only the exposures reads sentences of the statement, and the server's reach follows
// from the facts.
func TestExposuresFollowTheFacts(t *testing.T) {
	for _, tt := range []struct {
		facts Facts
		want  protocol.Reach
	}{
		{Facts{Parties: 3, TotalRows: 1797, Features: 64, Grid: true, Labels: true}, protocol.ReachAll},
		{Facts{Parties: 3, TotalRows: 60, Features: 64, Grid: true, Labels: true}, protocol.ReachPart},
		{Facts{Parties: 3, TotalRows: 60, Grid: true}, protocol.ReachPart},
		// 52 images of 64 pixels, of which 51 vary (TestLatticeAttackNeedsRows)
		{Facts{Parties: 2, TotalRows: 52, Dependent: true, Grid: true}, protocol.ReachAll},
		{Facts{Parties: 2, TotalRows: 51, Grid: true}, protocol.ReachPart},
		{Facts{Parties: 2, TotalRows: 52, Dependent: true}, protocol.ReachPart},
		{Facts{Parties: 3, TotalRows: 400, Features: 512, Grid: true, Encoder: Block}, protocol.ReachAll},
		{Facts{Parties: 3, TotalRows: 60, Grid: true, Encoder: Block}, protocol.ReachPart},
		{Facts{Parties: 3, TotalRows: 60, Grid: true, Encoder: Block, BlockWidth: 64}, protocol.ReachAll},
		{Facts{Parties: 3, TotalRows: 400, Features: 512, Encoder: Block}, protocol.ReachPart},
		{Facts{Parties: 2, TotalRows: 569, Features: 30, Mixed: true}, protocol.ReachPart},
		{Facts{Parties: 2, TotalRows: 569, Features: 30}, protocol.ReachPart},
	} {
		list, lines := Exposures(tt.facts), Leakage(tt.facts)
		if got := list["server"].Reach; got != tt.want {
			t.Errorf("%+v: the server's reach is %q, want %q", tt.facts, got, tt.want)
		}
		if list["party"].Reach != protocol.ReachNone || list["coalition"].Reach != protocol.ReachAll {
			t.Errorf("%+v: %v", tt.facts, list)
		}
		for role, e := range list {
			if e.Why == "" || !strings.Contains(strings.Join(lines[role], "\n"), e.Why) {
				t.Errorf("%+v: the statement of %s lacks %q", tt.facts, role, e.Why)
			}
		}
	}
}
