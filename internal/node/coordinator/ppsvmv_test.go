package coordinator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
)

// ring is the small job around a ring.
func ring(t testing.TB) *job.Job {
	t.Helper()
	text := strings.NewReplacer("{name: okra}", "{name: pp-svmv, mode: paper}", "partition: {parties", "partition: {by: columns, coverage: 0.9, parties").Replace(fmt.Sprintf(jobFile, ""))
	return jobtest.Parse(t, text)
}

// A job around a ring dies in the middle of each of its sessions and ends in an identical model; every
// release of a party is in its ledger once.
func TestCrashOfTheRing(t *testing.T) {
	t.Parallel()
	j := ring(t)
	w := newTestbed(t, tumours(t, j))
	w.policy.Modes = []string{string(job.Paper)}
	done := w.mustRun(j)
	if done.Result.Training < 20 || done.Result.HeldOut < 5 {
		t.Errorf("result %+v", done.Result)
	}
	list, err := w.releases("south").List()
	if err != nil {
		t.Fatal(err)
	}
	var kinds []method.ReleaseKind
	for _, e := range list {
		if kinds = append(kinds, e.Kind); e.State != disclosure.Released {
			t.Errorf("release %s is %s", e.ID, e.State)
		}
	}
	if slices.Sort(kinds); !slices.Equal(kinds, []method.ReleaseKind{method.ReleaseIDs, method.ReleaseProducts}) {
		t.Errorf("releases of %v", kinds)
	}
	w.diesAndEndsTheSame(j, tumours(t, j), done, []death{
		{hub, 1, "send psi/Common"}, {hub, 2, "put report"}, {hub, 1, "send control/Closing"},
		{"north", 1, "send ppsvmv/Tile"}, {"north", 1, "send ppsvmv/Sum"}, {"north", 1, "send broadcast/Tell"}, {"south", 1, "send ppsvmv/Tile"},
		{"east", 1, "send ppsvmv/Tile"}, {"south", 2, "send control/Report"},
	})
}
