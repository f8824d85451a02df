package fdskl

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

func TestLeakage(t *testing.T) {
	usual := Facts{Mode: Hardened, Workers: 4, Active: 1, Rows: 500, Directions: 1024}
	two, several, paper, measured := usual, usual, usual, usual
	several.Active = 2
	equations := several
	equations.Mode = Paper
	two.Workers, paper.Mode, measured.Exposure = 2, Paper, Exposure{780, .9912, .0081}
	for _, tt := range []struct {
		name       string
		facts      Facts
		role, want string
		without    string
	}{
		{"distances", usual, "active", "each value to about 0.022", "Measured"},
		{"two workers", two, "active", "the passive worker's own phases", "Mode paper"},
		{"more workers", usual, "active", "1024 directions", "passive worker's own phases"},
		{"several active", several, "active", "Each of the 2 active workers learns this for its own directions", "Mode paper"},
		{"parts of the model's value", several, "active", "estimate the norm of another one's coefficients", "linear equations"},
		{"parts in mode paper", equations, "active", "these parts are linear equations for the other workers' coefficients", "estimate the norm"},
		{"no parts", usual, "active", "the active worker learns", "coefficients"},
		{"one active", usual, "active", "the active worker learns", "active workers"},
		{"measured", measured, "active", "Measured on 780 pairs of this job's rows: a correlation of 0.991 with the true kernel values, and a deviation of 0.0081", "Mode paper"},
		{"mode paper", paper, "active", "solves them for every column of every other worker", "two workers"},
		{"mode paper, coalition", paper, "coalition", "single workers only", "nothing else about them"},
		{"coalition", usual, "coalition", "all but one of the 4 workers", "single workers only"},
		{"coalition of two", two, "coalition", "nothing else about them", "all but one"},
		{"passive", usual, "passive", "(500)", "all directions"},
		{"broker", usual, "broker", "It sees no content", "label"},
	} {
		text := strings.Join(Leakage(tt.facts)[tt.role], "\n")
		if !strings.Contains(text, tt.want) || strings.Contains(text, tt.without) {
			t.Errorf("%s: the %s is told\n%s\nwant %q and not %q", tt.name, tt.role, text, tt.want, tt.without)
		}
	}
}

// Whoever reads only the exposures reads sentences of the statement. The attacks on values on a grid succeed, so
// no exposure is less than they read.
func TestExposuresFollowTheAttacks(t *testing.T) {
	for _, f := range []Facts{{Mode: Hardened, Workers: 2, Active: 1}, {Mode: Hardened, Workers: 4, Active: 2}, {Mode: Paper, Workers: 3, Active: 1}} {
		list, lines := Exposures(f), Leakage(f)
		want := map[string]protocol.Reach{"active": protocol.ReachAll, "passive": protocol.ReachNone, "coalition": protocol.ReachAll}
		for role, reach := range want {
			if e := list[role]; e.Reach != reach || !strings.Contains(strings.Join(lines[role], "\n"), e.Why) {
				t.Errorf("%+v: %s: %+v, want %s by a sentence of the statement", f, role, e, reach)
			}
		}
	}
}
