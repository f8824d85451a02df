package coordinator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// slopes is the small job by margins and slopes.
func slopes(t testing.TB) *job.Job {
	t.Helper()
	text := strings.NewReplacer("{name: okra}", "{name: fd-svrg, mode: paper}", "partition: {parties", "partition: {by: columns, coverage: 0.9, parties",
		"{name: rbf, gamma: 0.5}", "{name: linear}", "{name: svc, C: 10, tol: 1.0e-8}", "{name: logistic, lambda: 1e-2, iterations: 3}").Replace(fmt.Sprintf(jobFile, ""))
	return jobtest.Parse(t, text)
}

// A job by margins and slopes dies in the middle of each of its sessions and ends in an
// identical model; only the parties without labels release products.
func TestCrashOfSlopes(t *testing.T) {
	t.Parallel()
	j := slopes(t)
	w := newTestbed(t, tumours(t, j))
	w.policy.Modes = []string{string(job.Paper)}
	done := w.mustRun(j)
	if done.Result.Training < 20 || done.Result.HeldOut < 5 {
		t.Errorf("result %+v", done.Result)
	}
	for name, want := range map[string][]method.ReleaseKind{"north": {method.ReleaseIDs, method.ReleaseProducts}, "south": {method.ReleaseIDs, method.ReleaseProducts}} {
		list, err := w.releases(name).List()
		if err != nil {
			t.Fatal(err)
		}
		var kinds []method.ReleaseKind
		for _, e := range list {
			kinds = append(kinds, e.Kind)
		}
		if slices.Sort(kinds); !slices.Equal(kinds, want) {
			t.Errorf("%s has released %v, want %v", name, kinds, want)
		}
	}
	w.diesAndEndsTheSame(j, tumours(t, j), done, []death{
		{hub, 3, "put report"}, {hub, 1, "send control/Closing"}, {"north", 1, "send fdsvrg/Slopes"}, {"north", 5, "send fdsvrg/Slopes"},
		{"north", 1, "send broadcast/Tell"}, {"south", 1, "send fdsvrg/Margins"}, {"south", 4, "send fdsvrg/Margins"}, {"east", 3, "send fdsvrg/Margins"},
		{"south", 3, "send control/Report"},
	})
}
