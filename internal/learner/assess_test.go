package learner

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// assessed returns a fitted learner with its metrics and its assessment.
func assessed(t *testing.T, task Problem, l Spec) (*Fitted, Metrics, *Assessment) {
	t.Helper()
	f, m := mustFit(t, task, l)
	train, _ := task.Rows()
	var training []string
	if task.Labels != nil {
		training = linalg.At(task.Labels, train)
	}
	a, err := f.Assess(training, 3)
	if err != nil {
		t.Fatal(err)
	}
	return f, m, a
}

// By hand: of low, high, high the last is taken for low.
func TestAssessByHand(t *testing.T) {
	task := line(4, []string{"low", "low", "high", "high", "low", "high", "high"}, -2, -1, 1, 2, -1.5, 1.5, -0.5)
	_, _, a := assessed(t, task, straight(t))
	if d := cmp.Diff(&Confusion{[]string{"high", "low"}, [][]int{{1, 1}, {0, 1}}}, a.Confusion); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]ClassCount{{"high", 2, 2}, {"low", 2, 1}}, a.Classes); d != "" {
		t.Error(d)
	}
	if a.Positive != "low" || len(a.Curves) != 1 || a.Curves[0].Class != "low" || a.Curves[0].AUC != 1 || a.Curves[0].AP != 1 {
		t.Errorf("curves %+v", a.Curves)
	}
	if high := a.PerClass[0]; *high.Precision != 1 || *high.Recall != 0.5 || *high.Specificity != 1 {
		t.Errorf("figures of high: %v, %v, %v", *high.Precision, *high.Recall, *high.Specificity)
	}
	if a.Calibration != nil || a.Benefit != nil || a.Residuals != nil {
		t.Error("a machine without probabilities is calibrated")
	}
	// The one row of low is right, and one of two rows of high.
	if got := a.ClassIntervals[1].Recall; *got != *metrics.Wilson(1, 1) {
		t.Errorf("recall of low lies in %v", *got)
	}
	if got := a.ClassIntervals[0].Recall; *got != *metrics.Wilson(1, 2) {
		t.Errorf("recall of high lies in %v", *got)
	}
	if got := a.Intervals["accuracy"]; *got != *metrics.Wilson(2, 3) || a.Intervals["auc"] != nil {
		t.Errorf("accuracy lies in %v, an area that is 1 in every sample in %v", *got, a.Intervals["auc"])
	}
}

// The areas of an assessment are the metrics, which lie in their intervals.
func TestAssessAgreesWithMetrics(t *testing.T) {
	_, m, a := assessed(t, tumours(t), method(t, SVC{Params: svm.Params{C: 1}, Probability: true, Seed: 1}))
	if c := a.Curves[0]; !near(c.AUC, m["auc"]) || !near(c.AP, m["average_precision"]) {
		t.Errorf("areas %v and %v, metrics %v", c.AUC, c.AP, m)
	}
	for name, in := range a.Intervals {
		if v, has := m[name]; !has || v < in.Low || v > in.High {
			t.Errorf("%s is %v, its interval %v", name, v, *in)
		}
	}
	for _, name := range []string{"accuracy", "balanced_accuracy", "f1_micro", "f1_macro", "auc", "average_precision", "brier"} {
		if a.Intervals[name] == nil {
			t.Errorf("%s has no interval", name)
		}
	}
	rows := 0
	for _, b := range a.Calibration.Quantile {
		rows += b.Rows
	}
	if rows != 40 || len(a.Benefit) != 99 {
		t.Errorf("%d rows in bins, %d points of benefit", rows, len(a.Benefit))
	}
	_, m, _ = assessed(t, tumours(t), method(t, SVC{Params: svm.Params{C: 1}}))
	if _, has := m["brier"]; has {
		t.Error("decisions have a Brier score")
	}
}

func TestAssessNumbers(t *testing.T) {
	labels := make([]string, 40)
	points := make([]float64, 40)
	for i := range points {
		points[i], labels[i] = float64(i%20), []string{"0", "1", "3"}[i%3]
	}
	f, m, a := assessed(t, line(20, labels, points...), method(t, Ridge{Alpha: 1}))
	r, err := metrics.NewResiduals(mustNumbers(t, f.Truth), f.Decisions.Column(0))
	if err != nil || cmp.Diff(r, a.Residuals) != "" {
		t.Errorf("%v %s", err, cmp.Diff(r, a.Residuals))
	}
	for _, name := range []string{"rmse", "mae", "r2"} {
		if in := a.Intervals[name]; in == nil || m[name] < in.Low || m[name] > in.High {
			t.Errorf("%s is %v, its interval %v", name, m[name], in)
		}
	}
	if len(a.Bins) != 2 || a.Bins[0].Rows != 10 || a.Bins[0].Predicted >= a.Bins[1].Predicted {
		t.Errorf("bins %v", a.Bins)
	}
}

func mustNumbers(t *testing.T, labels []string) []float64 {
	t.Helper()
	y, err := dataset.Targets(labels)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// A one-class machine is assessed if labels state what is inside.
func TestAssessOneClass(t *testing.T) {
	l := Spec{Kernel: rbf(t), Solver: OneClass{NuParams: svm.NuParams{Nu: 0.2}}}
	task := line(20, nil, 1, 1.1, 0.9, 1.2, 0.8, 1, 1.1, 0.9, 1.2, 0.8, 1, 1.1, 0.9, 1.2, 0.8, 1, 1.1, 0.9, 1.2, 0.8, 1, 50, -50, 1.05)
	if _, _, a := assessed(t, task, l); a != nil {
		t.Errorf("assessed without labels: %+v", a)
	}
	task.Labels = slices.Repeat([]string{"1"}, 24)
	task.Labels[21], task.Labels[22], task.Labels[23] = "-1", "-1", "-1"
	_, m, a := assessed(t, task, l)
	if a.Positive != "1" || !near(a.Curves[0].AUC, m["auc"]) {
		t.Errorf("area %v, metrics %v", a.Curves, m)
	}
}
