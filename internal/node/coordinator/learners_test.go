package coordinator_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	owners "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/local/baseline"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/rows"
)

// learning is the small job with another learner.
func learning(t testing.TB, learner, more string) *job.Job {
	t.Helper()
	text := strings.Replace(fmt.Sprintf(jobFile, more), "{name: svc, C: 10, tol: 1.0e-8}", learner, 1)
	return jobtest.Parse(t, text)
}

// areas shares the rows of tumours out with their third feature for a label.
func areas(t testing.TB, j *job.Job) []partition.Share {
	t.Helper()
	shares := firstTumours(t, j, 300)
	for i, s := range shares {
		shares[i].Table.Set = ofArea(s.Table.Set)
	}
	return shares
}

func ofArea(set *dataset.Set) *dataset.Set {
	out := *set
	out.Labels = make([]string, set.X.Rows())
	row := make([]float64, set.X.Cols())
	for i := range out.Labels {
		set.X.Row(i, row)
		out.Labels[i] = strconv.FormatFloat(row[2], 'g', -1, 64)
	}
	return &out
}

// Every learner runs between processes from end to end and gives the same result as on pooled rows.
func TestEveryLearner(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	for _, tt := range []struct {
		learner string
		metrics []string
	}{
		{"{name: svr, C: 100, epsilon: 1}", []string{"mae", "r2", "rmse"}},
		{"{name: ridge, alpha: 0.01}", []string{"mae", "r2", "rmse"}},
		{"{name: gp, noise: 0.01}", []string{"coverage_95", "log_marginal_likelihood", "mae", "mean_deviation", "r2", "rmse"}},
		{"{name: nu-svc, nu: 0.1, probability: true}", []string{"accuracy", "auc", "average_precision", "balanced_accuracy", "brier", "f1_macro", "f1_micro"}},
		{"{name: svc, probability: true, tol: 1e-8}", []string{"accuracy", "auc", "average_precision", "balanced_accuracy", "brier", "f1_macro", "f1_micro"}},
		{"{name: one-class, nu: 0.2}", []string{"inside"}},
		{"{name: kpca, n_components: 3}", []string{"explained_variance", "explained_variance_training"}},
		{"{name: kmeans, n_clusters: 3}", []string{"adjusted_rand", "inertia", "inertia_training"}},
	} {
		j := learning(t, tt.learner, openJob)
		t.Run(j.Learner.Name(), func(t *testing.T) {
			shares := tumours(t, j)
			if j.Task().Numbers {
				shares = areas(t, j)
			}
			w := newTestbed(t, shares)
			done := w.mustRun(j)
			checkLearnt(t, w, shares, done.ID, j, tt.metrics)
		})
	}
}

// Two views of the rows go the whole way, too.
func TestViews(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("    label: label\n", "", "{name: rbf, gamma: 0.5}", "{name: linear}",
		"{name: svc, C: 10, tol: 1.0e-8}", "{name: cca, view: [column 3, column 0, column 7]}").Replace(jobFile)
	j := jobtest.Parse(t, fmt.Sprintf(text, openJob))
	shares, err := partition.Shares(j, func(job.Source, job.Data) (*dataset.Set, error) {
		set, err := bundled.Load("wdbc")
		if err != nil {
			return nil, err
		}
		named := *set.Subset(span(0, 60))
		named.Labels = nil
		for c := range named.X.Cols() {
			named.Columns = append(named.Columns, fmt.Sprint("column ", c))
		}
		return &named, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w := newTestbed(t, shares)
	w.policy.Views = true
	done := w.mustRun(j)
	checkLearnt(t, w, shares, done.ID, j, []string{"correlation", "correlation_training"})
}

func checkLearnt(t *testing.T, w *testbed, shares []partition.Share, id job.ID, j *job.Job, metrics []string) {
	t.Helper()
	boss := w.members[hub].boss
	result, err := boss.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range result.Result.Metrics {
		names = append(names, name)
	}
	if slices.Sort(names); !slices.Equal(names, metrics) {
		t.Errorf("metrics %v, want %v", names, metrics)
	}
	if r2, has := result.Result.Metrics["r2"]; has && r2 < 0.9 {
		t.Errorf("r2 %v, want 0.9 or more", r2)
	}
	outcome, err := boss.Outcome(id)
	if err != nil {
		t.Fatal(err)
	}
	r := *result.Result
	if err := baseline.Compare(t.Context(), owners.Local(), j, shares, outcome, &r); err != nil {
		t.Fatal(err)
	}
	if *r.Difference > 5e-3 {
		t.Errorf("decisions differ from the pooled ones by %v", *r.Difference)
	}
	if (r.Exact == nil) != (j.Task().Numbers || slices.Contains([]string{"kpca", "cca"}, j.Learner.Name())) || r.Exact != nil && !*r.Exact {
		t.Errorf("exact is %v", r.Exact)
	}
	if len(r.Alone) != 3 || r.Alone[0].Failure != "" || len(r.Alone[0].Metrics) == 0 {
		t.Errorf("alone: %+v", r.Alone)
	}
	askAboutHeldOut(t, w, shares, id, outcome)
}

// askAboutHeldOut asks about rows that the job held out: the answers must be
// its decisions.
func askAboutHeldOut(t *testing.T, w *testbed, shares []partition.Share, id job.ID, outcome *method.Outcome) {
	t.Helper()
	result, err := w.members[hub].boss.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	split, err := rows.Split(result.Spec, shares[0].Party, shares[0].Table)
	if err != nil {
		t.Fatal(err)
	}
	var rows []int
	for i, held := range split.Test {
		if held {
			rows = append(rows, i)
		}
	}
	answer, err := ask(w, shares[0].Party, id, split.Set.Subset(rows))
	if err != nil {
		t.Fatal(err)
	}
	if answer.Decisions.Rows != len(rows) || answer.Decisions.Cols != outcome.Decisions.Cols {
		t.Fatalf("%d x %d answers", answer.Decisions.Rows, answer.Decisions.Cols)
	}
	for i := range rows {
		for k, v := range answer.Decisions.Row(i) {
			if want := outcome.Decisions.Row(i)[k]; math.Abs(v-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("number %d of row %d is %v, the job said %v", k, i, v, want)
			}
		}
	}
	if (answer.Predicted == nil) != (outcome.Predicted == nil) {
		t.Errorf("predicted %v, the job %v", answer.Predicted, outcome.Predicted)
	}
}

// Labels that the job does not ask for stay with the parties.
func TestLabelsStayBehind(t *testing.T) {
	for label, sent := range map[string]bool{"label": true, job.NoLabel: false} {
		j := learning(t, "{name: kmeans, n_clusters: 2}", "")
		j.Data.Label = label
		w := newTestbed(t, tumours(t, j))
		learnt := w.mustRun(j).Result
		_, measured := learnt.Metrics["adjusted_rand"]
		said := slices.ContainsFunc(learnt.Leakage["server"], func(s string) bool { return strings.Contains(s, "the label of every row") })
		if measured != sent || said != sent {
			t.Errorf("label %s: the server measures by labels: %v, says that it learns them: %v; want %v", label, measured, said, sent)
		}
	}
}

// A label that is no number is the party's own matter: its log names the label, and the others only
// learn that its data cannot be used.
func TestALabelThatIsNoNumber(t *testing.T) {
	j := learning(t, "{name: ridge}", "")
	shares := areas(t, j)
	shares[1].Table.Set.Labels[4] = "unspeakable"
	w := newTestbed(t, shares)
	w.startAll()
	after := w.wait(w.submit(j))
	if after.Failure == nil || after.Failure.Code != fault.CodeBadInput || strings.Contains(after.Failure.Message, "unspeakable") {
		t.Fatalf("failure %+v, want one that does not quote the label", after.Failure)
	}
	if !strings.Contains(w.logs.String(), "unspeakable") || !strings.Contains(w.logs.String(), `wdbc:32: label`) {
		t.Error("the party's log does not say which label")
	}
}

// A regression dies at a few places too, and ends in the same model.
func TestCrashOfARegression(t *testing.T) {
	t.Parallel()
	j := learning(t, "{name: gp}", openJob)
	w := newTestbed(t, areas(t, j))
	want := w.mustRun(j).Result.ModelHash
	for _, tt := range []struct{ name, op string }{{hub, "put report"}, {hub, "send control/Closing"}, {"north", "append"}, {"south", "send control/Report"}} {
		t.Run(tt.name+"/"+tt.op, func(t *testing.T) {
			w := newTestbed(t, areas(t, j))
			w.start(tt.name, onThe(2, tt.op))
			w.startAll()
			after := w.wait(w.submit(j))
			if after.Failure != nil || after.Result.ModelHash != want {
				t.Errorf("failure %+v; model %v, undisturbed %s", after.Failure, after.Result, want)
			}
		})
	}
}
