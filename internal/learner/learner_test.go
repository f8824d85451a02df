package learner

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// line is a task of points on a line; those from n on are held out.
func line(n int, labels []string, points ...float64) Problem {
	t := Problem{Gram: linalg.New[float64](len(points), len(points)), Labels: labels, Test: make([]bool, len(points))}
	for i, x := range points {
		for j, y := range points {
			t.Gram.Row(i)[j] = x * y
		}
		t.Test[i] = i >= n
	}
	return t
}

func straight(t *testing.T) Spec {
	t.Helper()
	k, err := kernel.New(kernel.Spec{Name: "linear"})
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Kernel: k, Solver: SVC{Params: svm.Params{C: 10, Tol: 1e-6}}}
}

func TestFitAndMeasure(t *testing.T) {
	task := line(4, []string{"low", "low", "high", "high", "low", "high", "high"}, -2, -1, 1, 2, -1.5, 1.5, -0.5)
	f, err := Fit(t.Context(), task, straight(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"low", "high", "low"}, f.Predicted); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int{1, 2}, f.Support); d != "" { // of the task, not of the training rows
		t.Error(d)
	}
	m, err := f.Measure()
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(m["accuracy"]-2./3) > 1e-12 || m["f1_micro"] != m["accuracy"] || m["auc"] != 1 {
		t.Errorf("metrics %v; want accuracy and f1_micro 2/3, auc 1", m)
	}
}

func TestFitOneClass(t *testing.T) {
	task := line(2, []string{"a", "a", "b"}, 1, 2, 3)
	if _, err := Fit(t.Context(), task, straight(t), nil); !errors.Is(err, ErrOneClass) {
		t.Errorf("error %v, want ErrOneClass", err)
	}
}

// Held-out rows that lack a class give no AUC, and every other figure.
func TestMeasureWithoutAClass(t *testing.T) {
	f, err := Fit(t.Context(), line(4, []string{"low", "low", "high", "high", "low"}, -2, -1, 1, 2, -1.5), straight(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Measure()
	if _, has := m["auc"]; err != nil || has || m["accuracy"] != 1 {
		t.Errorf("metrics %v, %v; want accuracy 1 and no auc", m, err)
	}
}

// A class of held-out rows that was not trained has no scores: no area and no interval of one.
func TestMeasureOfAClassThatWasNotTrained(t *testing.T) {
	f, err := Fit(t.Context(), line(4, []string{"low", "low", "high", "high", "low", "high", "other"}, -2, -1, 1, 2, -1.5, 1.5, 0.5), straight(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Measure()
	if _, has := m["auc"]; err != nil || has || math.Abs(m["accuracy"]-2./3) > 1e-12 {
		t.Errorf("metrics %v, %v; want accuracy 2/3 and no auc", m, err)
	}
	a, err := f.Assess([]string{"low", "low", "high", "high"}, 1)
	if err != nil || a.Intervals["auc"] != nil || a.Intervals["accuracy"] == nil {
		t.Errorf("%v: intervals %v", err, a.Intervals)
	}
	if d := cmp.Diff([]string{"other"}, a.Untrained()); d != "" {
		t.Error(d)
	}
}

func TestMeasureWithoutHeldOutRows(t *testing.T) {
	f, err := Fit(t.Context(), line(2, []string{"a", "b"}, 1, 2), straight(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Measure(); err == nil {
		t.Error("figures of no rows")
	}
}

func TestConstant(t *testing.T) {
	f, err := Constant(&job.Job{Learner: job.Named{Kind: SVC{}, Values: new(SVC)}}, "a", []string{"a", "b", "a", "a"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Measure()
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range m {
		if math.IsNaN(v) {
			t.Errorf("%s is not a number", name)
		}
	}
	if m["accuracy"] != 0.75 {
		t.Errorf("accuracy %v, want 3/4", m["accuracy"])
	}
}

func TestDifference(t *testing.T) {
	a, b := linalg.New[float64](2, 1), linalg.New[float64](2, 1)
	b.Data[1] = -0.5
	if d, err := Difference(a, b); err != nil || d != 0.5 {
		t.Errorf("difference %v, %v; want 0.5", d, err)
	}
	if _, err := Difference(a, linalg.New[float64](1, 2)); err == nil {
		t.Error("other shapes are compared")
	}
	b.Data[0] = math.NaN()
	if d, err := Difference(a, b); err == nil {
		t.Errorf("a decision that is no number differs by %v", d)
	}
}
