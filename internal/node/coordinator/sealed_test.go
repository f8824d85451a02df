package coordinator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// sealedJob is the small job by protocol sealed, among the given parties.
func sealedJob(t testing.TB, parties string) *job.Job {
	t.Helper()
	text := strings.NewReplacer("[north, south, east]", parties, "{name: okra}", `{name: sealed, features: 16, classes: ["0", "1"]}`,
		"{name: svc, C: 10, tol: 1.0e-8}", "{name: ridge-classifier}").Replace(fmt.Sprintf(jobFile, "  prediction: open\n"))
	return jobtest.Parse(t, text)
}

// answersOf are the predictions of all parties of a job, which predict with the coordinator away.
func (w *testbed) answersOf(id job.ID, parties []string) (list []*method.Prediction) {
	w.t.Helper()
	for _, name := range parties {
		a, err := ask(w, name, id, newRows(w.t))
		if err != nil {
			w.t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

// Deployed parties train by pieces, and each predicts with the one model. The coordinator has none, whether it is a
// keeper or not.
func TestSealed(t *testing.T) {
	for _, parties := range []string{"[north, south, east]", "[north, south]"} {
		t.Run(parties, func(t *testing.T) {
			j := sealedJob(t, parties)
			w := newTestbed(t, firstTumours(t, j, 569)).lets(j)
			done := w.mustRun(j)
			if a := done.Result.Metrics["accuracy"]; a < .85 {
				t.Errorf("%v", done.Result.Metrics)
			}
			if r := done.Result; r.ModelHash != "" || len(r.Models) > 0 {
				t.Errorf("the coordinator lists models %v with the hash %q", r.Models, r.ModelHash)
			}
			if _, err := w.members[hub].boss.Download(done.ID); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "lies at each party") {
				t.Errorf("the coordinator's model: %v", err)
			}
			w.halt(hub)
			answers := w.answersOf(done.ID, j.Parties())
			for _, a := range answers[1:] {
				if d := cmp.Diff(answers[0], a); d != "" {
					t.Errorf("two parties predict otherwise: %s", d)
				}
			}
		})
	}
}

// A member that dies in the middle and comes back replays the same messages, and all parties get the same model: before
// the first message of each kind, and before some later ones.
func TestCrashOfSealed(t *testing.T) {
	t.Parallel()
	j := sealedJob(t, "[north, south, east, west]") // west holds no piece
	shares := firstTumours(t, j, 569)
	bed := func(t *testing.T) (*testbed, *job.Job) { return newTestbed(t, shares).lets(j), j }
	w, _ := bed(t)
	done := w.mustRun(j)
	want := w.answersOf(done.ID, j.Parties())
	for _, d := range append(deathsOfSealed(t, bed), []death{
		{"north", 1, "send declare/Declare"}, {"south", 2, "send declare/Declare"}, {"south", 7, "send sealed/Opening"}, {"east", 9, "send sealed/Dealing"},
		{"north", 2, "send sealed/Token"}, {"north", 1, "send secagg/MaskedInput"},
	}...) {
		t.Run(fmt.Sprintf("%s/%s/%d", d.name, d.op, d.nth), func(t *testing.T) {
			t.Parallel()
			w, j := bed(t)
			died := w.dies(d)
			w.startAll()
			after := w.wait(w.submit(j))
			if after.Failure != nil {
				t.Fatalf("%+v", after.Failure)
			}
			if d := cmp.Diff(want, w.answersOf(after.ID, j.Parties())); d != "" {
				t.Errorf("other predictions than undisturbed: %s", d)
			}
			if !died.Load() {
				t.Error("it never came to that")
			}
		})
	}
}

// An operator's limits hold, and others hear of no number.
func TestSealedBelowTheLimits(t *testing.T) {
	j := sealedJob(t, "[north, south, east]")
	w := newTestbed(t, firstTumours(t, j, 569)).lets(j)
	w.policy.Limits.TrainingRows = new(400)
	done := w.run(j)
	if done.Failure == nil || done.Failure.Code != fault.CodePolicy || strings.Contains(done.Failure.Message, "400") {
		t.Errorf("failure %+v", done.Failure)
	}
}

// Over unchanged tables the parties' ledgers hold the fourth model until the operators have approved it.
func TestTheFourthSealedJobWaits(t *testing.T) {
	t.Parallel()
	j := sealedJob(t, "[north, south, east]")
	w := newTestbed(t, firstTumours(t, j, 569)).lets(j)
	for range 3 {
		w.mustRun(j)
	}
	w.mustHold("a fourth model", j)
}
