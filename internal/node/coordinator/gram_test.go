package coordinator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
)

// columns is the small job by columns.
func columns(t testing.TB) *job.Job {
	t.Helper()
	text := strings.NewReplacer("{name: okra}", "{name: gram}", "partition: {parties", "partition: {by: columns, coverage: 0.9, parties").Replace(fmt.Sprintf(jobFile, ""))
	return jobtest.Parse(t, text)
}

// A job by columns dies in the middle of each of its sessions and ends in an identical model; every
// release of a party is in its ledger once.
func TestCrashOfGram(t *testing.T) {
	t.Parallel()
	j := columns(t)
	w := newTestbed(t, tumours(t, j))
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
	if ids := w.aligned("north"); len(ids) != done.Result.Training+done.Result.HeldOut || !slices.Equal(ids, w.aligned("east")) {
		t.Errorf("north keeps the order %v, east %v", ids, w.aligned("east"))
	}
	if b, err := w.members[hub].boss.Download(done.ID); fault.CodeOf(err) != fault.CodeBadInput || b != nil {
		t.Errorf("%d bytes are downloaded, error %v", len(b), err)
	}
	w.diesAndEndsTheSame(j, tumours(t, j), done, []death{
		{hub, 1, "send psi/Common"}, {hub, 2, "put report"}, {hub, 1, "send secagg/Survivors"}, {hub, 3, "put report"}, {hub, 1, "send control/Closing"},
		{"north", 1, "send psi/Confirm"}, {"north", 2, "send declare/Declare"}, {"north", 1, "send broadcast/Tell"}, {"south", 1, "send secagg/MaskedInput"},
		{"east", 1, "send secagg/Unmask"}, {"south", 2, "send control/Report"},
	})
}
