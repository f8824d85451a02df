package coordinator_test

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	momentsmethod "github.com/mercer-fl/mercer/internal/method/moments"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/model"
)

// moments is the small job by protocol moments.
func moments(t testing.TB, protocol, more string) *job.Job {
	t.Helper()
	text := strings.NewReplacer("{name: okra}", fmt.Sprintf(`{name: moments%s, classes: ["0", "1"]}`, protocol),
		"{name: svc, C: 10, tol: 1.0e-8}", "{name: ridge-classifier, alpha: [0.1, 1]}").Replace(fmt.Sprintf(jobFile, more))
	return jobtest.Parse(t, text)
}

// components is the small job by protocol moments with a learner that needs no labels.
func components(t testing.TB) *job.Job {
	t.Helper()
	return jobtest.Parse(t, strings.NewReplacer("label: label", "label: none", "{name: okra}", "{name: moments, directions: 4}",
		"{name: svc, C: 10, tol: 1.0e-8}", "{name: kpca, n_components: 2}").Replace(fmt.Sprintf(jobFile, "")))
}

// A job of several sessions, whose later ones depend on what earlier ones made
// public, dies in the middle of each and ends in the same model.
func TestCrashOfMoments(t *testing.T) {
	t.Parallel()
	endsTheSame(t, moments(t, ", directions: 4", ""), []death{
		{hub, 3, "put report"}, {hub, 4, "put report"}, {hub, 1, "send secagg/Survivors"}, {hub, 2, "send broadcast/Tell"}, {"east", 1, "send declare/Declare"}, {hub, 1, "send control/Closing"},
		{"north", 1, "send secagg/MaskedInput"}, {"north", 2, "send secagg/MaskedInput"}, {"south", 2, "send secagg/Unmask"}, {"south", 3, "send control/Report"},
	})
}

// So does one that counts rows first.
func TestCrashOfCountedMoments(t *testing.T) {
	t.Parallel()
	endsTheSame(t, moments(t, "", ""), []death{
		{hub, 1, "send broadcast/Tell"}, {"north", 2, "send control/Report"}, {"south", 1, "send declare/Declare"}, {"south", 2, "send secagg/MaskedInput"},
	})
}

// A process that restarts repeats its noise, and releases nothing new.
func TestCrashOfPrivateMoments(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("{name: okra}", `{name: moments, directions: 4, classes: ["0", "1"], privacy: {epsilon: 4, delta: 1.0e-6}}`,
		"{name: svc, C: 10, tol: 1.0e-8}", "{name: ridge-classifier}", "label: label", "label: label\n    features: 30\n    scale: none").Replace(fmt.Sprintf(jobFile, ""))
	j := jobtest.Parse(t, text)
	endsTheSame(t, j, []death{
		{"north", 1, "send secagg/MaskedInput"}, {"north", 2, "send secagg/MaskedInput"}, {"south", 2, "send secagg/Unmask"}, {hub, 1, "send secagg/Survivors"}, {hub, 2, "send broadcast/Tell"}, {"east", 3, "send control/Report"},
	})
}

// Deployed parties count held-out decisions in bins where their operators allow it, and only then.
// The accuracy is as near to that by the rows' own decisions as the result says, and stays the same when processes die
// while the bins are added up. So few rows have no figures.
func TestHistogramOfDeployedParties(t *testing.T) {
	t.Parallel()
	j := moments(t, ", directions: 4, histogram: true", "  prediction: open\n")
	shares := firstTumours(t, j, 200)
	w := newTestbed(t, shares).lets(j)
	if f := w.run(j).Failure; f == nil || f.Code != fault.CodePolicy || !strings.Contains(f.Message, `"histograms" in its policy`) {
		t.Fatalf("failure %+v, want a policy that does not allow it", f)
	}
	w = newTestbed(t, shares).lets(j)
	w.policy.Histograms = true
	done := w.mustRun(j)
	correct, all := 0, 0
	for _, s := range shares {
		split, err := rows.Split(j, s.Party, s.Table)
		if err != nil {
			t.Fatal(err)
		}
		held := split.Set.Subset(split.Rows(true))
		answer, err := ask(w, s.Party, done.ID, held)
		if err != nil {
			t.Fatal(err)
		}
		for i, label := range held.Labels {
			if all++; answer.Predicted[i] == label {
				correct++
			}
		}
	}
	d, err := method.DetailsOf[momentsmethod.Details](done.Result)
	if err != nil {
		t.Fatal(err)
	}
	exact, within := float64(correct)/float64(all), d.Sums.Within
	t.Logf("accuracy %.4f within %.4f, exact %.4f", done.Result.Metrics["accuracy"], within, exact)
	if off := math.Abs(done.Result.Metrics["accuracy"] - exact); off > within || all != done.Result.HeldOut || within == 0 || done.Result.Figures != nil {
		t.Errorf("accuracy %v within %v, exact %v; %d rows, of which there are too few for figures: %+v", done.Result.Metrics, within, exact, all, done.Result.Figures)
	}
	w.diesAndEndsTheSame(j, shares, done, []death{
		{"north", 2, "send secagg/MaskedInput"}, {"south", 2, "send secagg/Unmask"}, {hub, 2, "send secagg/Survivors"}, {"east", 3, "send control/Report"},
	})
}

// endsTheSame runs a job, looks at its model, and lets it die.
func endsTheSame(t *testing.T, j *job.Job, deaths []death) {
	t.Helper()
	shares := firstTumours(t, j, 80)
	w := newTestbed(t, shares).lets(j)
	done := w.mustRun(j)
	b, err := w.members[hub].boss.Download(done.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.OpenRandom(bytes.NewReader(b)); err != nil {
		t.Error(err)
	}
	w.diesAndEndsTheSame(j, shares, done, deaths)
}

// death is the nth time that a member does something.
type death struct {
	name string
	nth  int
	op   string
}

// diesAndEndsTheSame runs a job anew for each death, in other worlds with identical
// seeds, and expects the model of the undisturbed job.
func (w *testbed) diesAndEndsTheSame(j *job.Job, shares []partition.Share, done coordinator.Job, deaths []death) {
	w.t.Helper()
	policy := w.policy
	_, judged := w.judges()
	for _, d := range deaths {
		w.t.Run(fmt.Sprintf("%s/%s/%d", d.name, d.op, d.nth), func(t *testing.T) {
			w := newTestbed(t, shares)
			w.policy = policy
			died := w.dies(d)
			w.startAll()
			after := w.wait(w.submit(j))
			if after.Failure != nil || after.Result.ModelHash != done.Result.ModelHash {
				t.Errorf("failure %+v; model %v, undisturbed %s", after.Failure, after.Result, done.Result.ModelHash)
			} else if d := cmp.Diff(after.Result.Figures, done.Result.Figures); d != "" {
				t.Errorf("other figures than undisturbed: %s", d)
			}
			if _, now := w.judges(); !reflect.DeepEqual(now, judged) {
				t.Error("a party with labels keeps other predictions than undisturbed")
			}
			if !died.Load() {
				t.Error("it never came to that")
			}
		})
	}
}

// A party answers questions about new rows by itself: with its own scaling, and
// with nobody there.
func TestPredictionsOfMoments(t *testing.T) {
	j := moments(t, ", directions: 4", "  prediction: open\n")
	w := newTestbed(t, tumours(t, j)).lets(j)
	done := w.mustRun(j)
	w.halt(hub)
	var answers []*method.Prediction
	for _, name := range j.Parties() {
		if name != "north" {
			w.halt("north")
		}
		a, err := ask(w, name, done.ID, newRows(t))
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if d := cmp.Diff(answers[0], answers[1]); d != "" || len(answers[0].Predicted) != newRows(t).X.Rows() {
		t.Errorf("%d predictions; two parties differ: %s", len(answers[0].Predicted), d)
	}
	if _, err := ask(w, "south", done.ID, newRows(t).SelectColumns(span(0, 29))); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("fewer columns: %v", err)
	}
	if _, err := w.members["south"].party.Forget(done.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(w, "south", done.ID, newRows(t)); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("after it forgot: %v", err)
	}
	w.start(hub, never)
	w.nothingOpen()
}

// An operator's bound holds where the rows are counted, too.
func TestCountedRowsBeyondThePolicy(t *testing.T) {
	j := moments(t, "", "")
	w := newTestbed(t, firstTumours(t, j, 80)).lets(j)
	w.policy.Limits.MaxDirections = 1
	done := w.run(j)
	if done.Failure == nil || done.Failure.Code != fault.CodePolicy || !strings.Contains(done.Failure.Message, "max_directions") {
		t.Errorf("failure %+v", done.Failure)
	}
}
