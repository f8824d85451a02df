package coordinator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
)

// phases is the small job by columns and random features.
func phases(t testing.TB, timeout string) *job.Job {
	t.Helper()
	return phasesBy(t, timeout, "directions: 64")
}

// phasesBy returns the job of phases with other settings of the protocol.
func phasesBy(t testing.TB, timeout, settings string) *job.Job {
	t.Helper()
	text := strings.NewReplacer("{name: okra}", "{name: fdskl, "+settings+"}", "partition: {parties", "partition: {by: columns, coverage: 0.9, parties",
		"{name: svc, C: 10, tol: 1.0e-8}", "{name: logistic, lambda: 1e-3}", "{join: 20s, round: 20s}", timeout).Replace(fmt.Sprintf(jobFile, ""))
	return jobtest.Parse(t, text)
}

// A job whose label holder learns dies anywhere and ends in the same model, which
// the coordinator has no more of than a hash.
func TestCrashOfFDSKL(t *testing.T) {
	t.Parallel()
	j := phases(t, "{join: 20s, round: 20s}")
	w := newTestbed(t, tumours(t, j))
	done := w.mustRun(j)
	if r := done.Result; r.Training < 20 || r.HeldOut < 5 || r.Metrics["accuracy"] < 0.5 || len(r.Leakage["active"]) == 0 {
		t.Errorf("result %+v", done.Result)
	}
	if b, err := w.members[hub].boss.Download(done.ID); fault.CodeOf(err) != fault.CodeBadInput || b != nil {
		t.Errorf("%d bytes are downloaded, error %v", len(b), err)
	}
	for name, want := range map[string][]method.ReleaseKind{"north": {method.ReleaseIDs, method.ReleasePhases}, "south": {method.ReleaseIDs, method.ReleasePhases}} {
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
		{hub, 3, "put report"}, {hub, 4, "put report"}, {hub, 1, "send control/Closing"},
		{"north", 1, "send fdskl/Request"}, {"north", 1, "send fdskl/Finish"}, {"north", 1, "send broadcast/Tell"}, {"north", 3, "send control/Report"},
		{"south", 1, "send fdskl/Phases"}, {"east", 1, "send fdskl/Phases"}, {"south", 1, "send fdskl/Witness"}, {"south", 3, "send control/Report"},
	})
}

// Two parties that take turns die anywhere and end in the same model.
func TestCrashOfSeveralActive(t *testing.T) {
	t.Parallel()
	j := phasesBy(t, "{join: 20s, round: 20s}", "active: 2, training: faithful, directions: 16")
	w := newTestbed(t, tumours(t, j))
	done := w.mustRun(j)
	w.diesAndEndsTheSame(j, tumours(t, j), done, []death{
		{"north", 2, "send fdskl/Turn"}, {"south", 1, "send fdskl/Turn"}, {"south", 2, "send fdskl/Shares"}, {"north", 1, "send fdskl/Shares"}, {"east", 3, "send fdskl/Phases"},
	})
}

// Parties with labels of a part of the rows each die anywhere, also while they agree on classes
// and while all add up what each can judge, and end in the same model.
func TestCrashOfSpreadLabels(t *testing.T) {
	t.Parallel()
	j := phasesBy(t, "{join: 20s, round: 20s}", "active: 2, training: faithful, labels: spread, directions: 16")
	w := newTestbed(t, tumours(t, j))
	if f := w.run(j).Failure; f == nil || f.Code != fault.CodePolicy || !strings.Contains(f.Message, "spread_labels in its policy") {
		t.Errorf("failure %+v, want a policy that does not allow it", f)
	}
	w = newTestbed(t, tumours(t, j))
	w.policy.SpreadLabels = true
	done := w.mustRun(j)
	if r := done.Result; r.Metrics["accuracy"] < 0.5 || len(r.Metrics) != 3 || len(r.Warnings) > 0 {
		t.Errorf("metrics %v, warnings %q", r.Metrics, r.Warnings)
	}
	w.diesAndEndsTheSame(j, tumours(t, j), done, []death{
		{"north", 1, "send declare/Declare"}, {"south", 2, "send declare/Declare"}, {"south", 1, "send fdskl/Turn"}, {"north", 1, "send fdskl/Shares"},
		{"south", 1, "send secagg/MaskedInput"}, {"east", 1, "send secagg/MaskedInput"}, {hub, 4, "put report"}, {"north", 4, "send control/Report"},
	})
}

// A second job over the same rows and one column less is held by the ledger of the
// party whose column it is; the label holder's, who shows nothing, is not asked.
func TestRule16_OneColumnLessByFDSKL(t *testing.T) {
	t.Parallel()
	j := phases(t, "{join: 20s, round: 20s}")
	j.Data.Scale = job.None
	w := newTestbed(t, tumours(t, j))
	w.random = true
	w.mustRun(j)
	w.mustRun(j) // the same again tells nothing new
	w.dropColumn("north")
	w.mustRun(j)
	w.dropColumn("south")
	if f := w.run(j).Failure; f == nil || f.Code != fault.CodePolicy || !strings.Contains(f.Message, "south refused: the job awaits its operator's approval") {
		t.Errorf("failure %+v, want south's ledger to hold the job", f)
	}
	list, err := w.releases("south").List()
	if err != nil {
		t.Fatal(err)
	}
	isHeld := func(e disclosure.Listed) bool { return e.State == disclosure.Held }
	if i := slices.IndexFunc(list, isHeld); i < 0 || list[i].Kind != method.ReleasePhases {
		t.Errorf("releases %+v", list)
	}
}

// dropColumn takes a party's first column away, between two of its lives.
func (w *testbed) dropColumn(name string) {
	w.halt(name)
	w.mu.Lock()
	defer w.mu.Unlock()
	set := w.tables[name].Set
	w.tables[name] = method.Table{Set: set.SelectColumns(span(1, set.X.Cols()))}
}

// A worker that vanishes is named by those who wait for it.
func TestVanishedWorkerIsNamed(t *testing.T) {
	t.Parallel()
	j := phases(t, "{join: 20s, round: 1s}")
	w := newTestbed(t, tumours(t, j))
	w.start("east", onThe(1, "send fdskl/Phases"))
	w.startAll()
	id := w.submit(j)
	w.untilDead("east")
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		now, err := w.members[hub].boss.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		if f := now.Failure; f != nil {
			if f.Blamed != "east" || f.Code != fault.CodeTimedOut {
				t.Errorf("failure %+v, want one that names east", f)
			}
			return
		}
		if now.Over() || time.Now().After(deadline) {
			t.Fatalf("the job is %s and nobody is named", now.State)
		}
	}
}
