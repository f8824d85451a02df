package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// same names a class as it is.
func same(class string) string { return class }

// A decision curve is drawn as it is, or not at all.
func TestBenefitGraph(t *testing.T) {
	a := &learner.Assessment{Positive: "ill", Classes: []learner.ClassCount{{Class: "ill", HeldOut: 20}, {Class: "well", HeldOut: 20}}, Benefit: []learner.Benefit{{Threshold: 0.1, Model: 0.4, All: 0.3}, {Threshold: 0.5, Model: 0.2, All: -0.1}, {Threshold: 0.9, Model: -0.3, All: -5}}}
	g := benefitGraph(a, same)
	if len(g.Lines) != 3 || g.Lines[2].Name != "never" {
		t.Fatalf("lines %+v", g.Lines)
	}
	for k, want := range [][]float64{{0.4, 0.2}, {0.3, -0.1}} {
		if got := g.Lines[k].Y; len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("line %d goes through %v, want %v", k, got, want)
		}
	}
	if all := graphs(a, same); len(all) != 1 {
		t.Errorf("%d graphs of a decision curve", len(all))
	}
	if graphs(nil, same) != nil || figureTables(nil, nil) != nil {
		t.Error("figures of nothing")
	}
}

// A curve of few rows is not drawn, and a bin of few rows is no point of a line.
func TestNoGraphOfFewRows(t *testing.T) {
	few, many := []learner.CalibrationBin{{Rows: 3}, {Rows: 5}, {Rows: 12}}, []learner.CalibrationBin{{Rows: 10}, {Rows: 4}, {Rows: 12}}
	a := &learner.Assessment{
		Positive: "ill", Classes: []learner.ClassCount{{Class: "ill", HeldOut: 9}, {Class: "well", HeldOut: 200}}, Benefit: []learner.Benefit{{Threshold: 0.5}},
		Curves:      []learner.ClassCurves{{Class: "ill", FPR: []float64{0, 1}, TPR: []float64{0, 1}, Recall: []float64{0, 0, 0.1, 1}, Precision: []float64{1, 0, 0.8, 0.5}}},
		Calibration: &learner.Calibration{Quantile: few, Uniform: few},
	}
	if list := graphs(a, same); len(list) != 0 {
		t.Errorf("%d graphs of 9 rows of a class", len(list))
	}
	a.Classes[0].HeldOut, a.Calibration.Quantile = 10, many
	list := graphs(a, same)
	if len(list) != 4 || len(list[2].Lines) != 2 || len(list[2].Lines[0].X) != 2 {
		t.Fatalf("graphs %+v", list)
	}
	if pr := list[1].Lines[0]; pr.X[0] != 0.1 || pr.Y[0] != 0.8 || len(pr.X) != 2 {
		t.Errorf("the precision-recall curve begins at %v, %v", pr.X, pr.Y)
	}
}

// The names of a test's figures, with their counts: sensitivity of 8 among 10, and so on.
func TestScreeningTable(t *testing.T) {
	a := &learner.Assessment{Positive: "1", Confusion: &learner.Confusion{Classes: []string{"0", "1"}, Matrix: [][]int{{85, 5}, {2, 8}}}}
	named := func(class string) string { return "event = " + class }
	got := screeningTable(a, named)
	if want := "As a test for event = 1, at the model's own threshold: the answer is the class with the higher score"; got.title != want {
		t.Errorf("title %q", got.title)
	}
	want := [][]any{
		{"prevalence: share of event = 1", "0.10", "0.06 to 0.17", "10 of 100"},
		{"sensitivity: found among event = 1", "0.80", "0.49 to 0.94", "8 of 10"},
		{"specificity: cleared among event = 0", "0.94", "0.88 to 0.98", "85 of 90"},
		{"PPV: event = 1 among the answers event = 1", "0.62", "0.36 to 0.82", "8 of 13"},
		{"NPV: event = 0 among the answers event = 0", "0.98", "0.92 to 0.99", "85 of 87"},
	}
	if d := cmp.Diff(want, got.table.rows); d != "" {
		t.Error(d)
	}
	if screeningTable(nil, named) != nil || screeningTable(&learner.Assessment{}, named) != nil {
		t.Error("a table without two classes")
	}
}

// Of two classes, a score above 0 predicts the last one, whatever the sign inside the model is.
func TestScoresOfTwoClassesHaveOneSign(t *testing.T) {
	for _, kind := range []model.Kind{"svc", "ridge-classifier"} {
		output := model.Output{Kind: kind, Classes: []string{"ill", "well"}}
		decisions := linalg.Matrix[float64]{Rows: 2, Cols: 1, Stride: 1, Data: []float64{2, -3}}
		p := admin.NewPrediction(output, decisions)
		for i, row := range scores(p) {
			if above := row[0] > 0; above != (p.Predicted[i] == "well") {
				t.Errorf("%s: score %v, predicted %s", kind, row[0], p.Predicted[i])
			}
		}
	}
}

// Numbers of every shape have a name each.
func TestScoreNames(t *testing.T) {
	for _, tt := range []struct {
		shape   string
		classes []string
		n       int
		first   string
	}{
		{"pairs", []string{"a", "b", "c"}, 3, "score a over b"}, {"each", []string{"a", "b", "c"}, 3, "score a"}, {"odds", []string{"a", "b"}, 1, "score (above 0: b)"},
		{"pairs", []string{"a", "b"}, 1, "score (above 0: b)"},
		{"side", nil, 1, "score"}, {"components", nil, 2, "component 1"}, {"distances", nil, 4, "distance 1"},
	} {
		got := scoreNames(model.OutputShape(tt.shape), tt.classes, tt.n)
		if len(got) != tt.n || got[0] != tt.first {
			t.Errorf("%s: %q", tt.shape, got)
		}
	}
}
