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

// boosted is a small job of boosted trees.
func boosted(t testing.TB) *job.Job {
	t.Helper()
	text := strings.NewReplacer(
		"{name: okra}", "{name: secureboost, mode: paper}", "partition: {parties", "partition: {by: columns, coverage: 0.9, parties",
	).Replace(fmt.Sprintf(jobFile, ""))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "  kernel:"):
			lines[i] = "  kernel: {name: linear}"
		case strings.HasPrefix(line, "  learner:"):
			lines[i] = "  learner: {name: boosted-trees, rounds: 1, depth: 2, bins: 4}"
		}
	}
	return jobtest.Parse(t, strings.Join(lines, "\n"))
}

// A job of boosted trees dies in the middle of each of its sessions and ends in an identical model;
// every release of a party is in its ledger once.
func TestCrashOfBoostedTrees(t *testing.T) {
	t.Parallel()
	j := boosted(t)
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
	if slices.Sort(kinds); !slices.Equal(kinds, []method.ReleaseKind{method.ReleaseIDs, method.ReleaseSums}) {
		t.Errorf("releases of %v", kinds)
	}
	w.diesAndEndsTheSame(j, tumours(t, j), done, []death{
		{hub, 1, "put report"}, {"north", 1, "send secureboost/Key"}, {"north", 1, "send secureboost/Gradients"}, {"north", 1, "send secureboost/Choose"},
		{"north", 1, "send secureboost/Divide"}, {"north", 1, "send broadcast/Tell"}, {"south", 1, "send secureboost/Shape"},
		{"south", 1, "send secureboost/Sums"}, {"east", 1, "send secureboost/Bits"}, {"east", 2, "send control/Report"},
	})
}
