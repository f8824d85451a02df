package local

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
)

// TestExposuresInPaperMode: lists that follow from differences of rounds count as those of sole raters
// do.
func TestExposuresInPaperMode(t *testing.T) {
	for _, tt := range []struct {
		figures   fedcfk.PaperFigures
		adversary sums.Adversary
		want      protocol.Reach
	}{
		{fedcfk.PaperFigures{ListsRead: 10}, sums.Active, protocol.ReachPart},
		{fedcfk.PaperFigures{ListsRead: 100}, sums.Active, protocol.ReachAll},
		{fedcfk.PaperFigures{ListsRead: 10, Solved: 100}, sums.Active, protocol.ReachAll},
		{fedcfk.PaperFigures{ListsRead: 60, Solved: 40}, sums.Active, protocol.ReachAll},
		{fedcfk.PaperFigures{ListsRead: 10}, sums.SemiHonest, protocol.ReachAll},
	} {
		c := fedcfk.Devices{Items: 50, Instance: method.Instance{Coordinator: "server", Job: &job.Job{
			Protocol: job.Named{Kind: fedcfk.Protocol(), Values: &fedcfk.Keys{Keys: sums.Keys{Adversary: tt.adversary}}},
		}}}
		list, lines := exposures(c, 100, tt.figures), leakage(c, 100, tt.figures)
		for _, role := range []string{"server", "coalition"} {
			if e := list[role]; e.Reach != tt.want || !strings.Contains(strings.Join(lines[role], "\n"), e.Why) {
				t.Errorf("%+v, %s: %+v, want %s", tt, role, e, tt.want)
			}
		}
	}
}
