package escaped

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

// The statement warns, names who can read whom, and mentions labels and grids if there are any.
func TestLeakage(t *testing.T) {
	bare := Leakage(Facts{Parties: []string{"north", "south", "east"}, TotalRows: 569})
	party := strings.Join(bare["party"], "\n")
	for _, want := range []string{"for comparison only", "One value", "read the rows of north", "No party can read the rows of east by this attack"} {
		if !strings.Contains(party, want) {
			t.Errorf("a party is not told %q:\n%s", want, party)
		}
	}
	server := strings.Join(bare["server"], "\n")
	if !strings.Contains(server, "all 569 rows") || strings.Contains(server, "label") || strings.Contains(server, "grid") {
		t.Errorf("the server:\n%s", server)
	}
	if c := strings.Join(bare["coalition"], "\n"); !strings.Contains(c, "of all parties before that party") || !strings.Contains(c, "the rows of all parties from the Gram matrix") {
		t.Errorf("the server and a party:\n%s", c)
	}
	more := strings.Join(Leakage(Facts{Parties: []string{"north", "south"}, Labels: true, Grid: true})["server"], "\n")
	if !strings.Contains(more, "the label of every row") || !strings.Contains(more, "lattice reduction") {
		t.Errorf("the server, with labels on a grid:\n%s", more)
	}
}

// The server's matrix is that of protocol okra: rows on a grid that outnumber the features that vary
// are read from it.
func TestExposuresFollowTheFacts(t *testing.T) {
	for _, tt := range []struct {
		grid, dependent bool
		want            protocol.Reach
	}{{false, false, protocol.ReachPart}, {true, false, protocol.ReachPart}, {true, true, protocol.ReachAll}} {
		f := Facts{Parties: []string{"north", "south"}, TotalRows: 100, Grid: tt.grid, Dependent: tt.dependent}
		e := Exposures(f)["server"]
		if e.Reach != tt.want || !strings.Contains(strings.Join(Leakage(f)["server"], "\n"), e.Why) {
			t.Errorf("%+v: %+v, want %s", tt, e, tt.want)
		}
	}
}
