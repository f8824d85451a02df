package model_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// What models that hold no rows say, by hand: one number of two classes is for
// the second from 0 on, of more numbers the first of the largest decides.
func TestReadingsWithoutRows(t *testing.T) {
	two, three := []string{"a", "b"}, []string{"a", "b", "c"}
	one := matrix([]float64{-1}, []float64{0}, []float64{math.Log(3)})
	numbers := matrix([]float64{-1}, []float64{0.5})
	each := matrix([]float64{1, 3, 2}, []float64{2, 1, 2})
	for _, c := range []struct {
		reading   model.Output
		outputs   linalg.Matrix[float64]
		predicted []string
	}{
		{model.Output{Kind: model.Logistic, Classes: two}, one, []string{"a", "b", "b"}},
		{model.Output{Kind: model.SmoothHinge, Classes: two}, one, []string{"a", "b", "b"}},
		{model.Output{Kind: model.Logistic, Classes: three}, each, []string{"b", "a"}},
		{model.Output{Kind: model.SmoothHinge, Classes: three}, each, []string{"b", "a"}},
		{model.Output{Kind: model.RidgeClassifier, Classes: three}, each, []string{"b", "a"}},
		{model.Output{Kind: model.RidgeClassifier, Classes: two}, matrix([]float64{1, 2}), []string{"b"}},
		{model.Output{Kind: model.Squared}, numbers, []string{"-1", "0.5"}},
		{model.Output{Kind: model.Huber}, numbers, []string{"-1", "0.5"}},
	} {
		if err := c.reading.Check(c.outputs.Cols); err != nil {
			t.Errorf("%v: %v", c.reading, err)
		}
		if err := c.reading.Check(c.outputs.Cols + 1); err == nil {
			t.Errorf("%v: an output too many", c.reading)
		}
		if d := cmp.Diff(c.predicted, c.reading.Predict(c.outputs)); d != "" {
			t.Errorf("%v: %s", c.reading, d)
		}
		wantProbabilities := c.reading.Kind == model.Logistic && len(c.reading.Classes) == 2
		if p := c.reading.Probabilities(c.outputs); (p.Cols > 0) != wantProbabilities {
			t.Errorf("%v: %d probabilities", c.reading, p.Cols)
		}
	}
	p := model.Output{Kind: model.Logistic, Classes: two}.Probabilities(one)
	odds := 1 / (1 + math.E)
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-15 })
	if d := cmp.Diff([]float64{1 - odds, odds, 0.5, 0.5, 0.25, 0.75}, p.Data, near); d != "" {
		t.Error(d)
	}
}

// A reading that no model can have is refused.
func TestReadingRefuses(t *testing.T) {
	for _, c := range []struct {
		kind    model.Kind
		classes []string
		outputs int
	}{
		{model.Logistic, nil, 1},
		{model.Logistic, []string{"a"}, 1},
		{model.Logistic, []string{"a", "b"}, 2},
		{model.Logistic, []string{"a", "b", "c"}, 1},
		{model.SmoothHinge, []string{"a", "b", "c"}, 2},
		{model.RidgeClassifier, []string{"a"}, 1},
		{model.RidgeClassifier, []string{"a", "b"}, 1},
		{model.Squared, []string{"a", "b"}, 1},
		{model.Huber, nil, 0},
		{model.KMeans, nil, 0},
		{model.KPCA, nil, 0},
		{model.GP, nil, 1},
	} {
		r := model.Output{Kind: c.kind, Classes: c.classes}
		if err := r.Check(c.outputs); err == nil {
			t.Errorf("%s of %d classes gives %d numbers", c.kind, len(c.classes), c.outputs)
		}
	}
}

// The kind of a later learner has its shape in its name; earlier kinds keep their shape.
func TestShapes(t *testing.T) {
	for kind, want := range map[model.Kind]model.OutputShape{
		model.SVC: model.Pairs, model.GP: model.Deviation, model.NewKind("svc", model.Number): model.Pairs, "klr:odds": model.Odds,
		model.NewKind("cox", model.Number): model.Number,
		"klr":                              "", "klr:": "", ":odds": "", "klr:even": "", "svc:odds": "", "klr:odds:odds": "", "": "",
		"a-learner-of-a-very-long-name:odds": "",
	} {
		if got := kind.OutputShape(); got != want {
			t.Errorf("%q has shape %q, want %q", kind, got, want)
		}
	}
	for _, r := range []model.Output{{Kind: "klr:odds"}, {Kind: "cox:number", Classes: []string{"a", "b"}}, {Kind: "klr:even"}} {
		if err := r.Check(1); err == nil {
			t.Errorf("%v is accepted", r)
		}
	}
}

// Programs written against the earlier names compile, and get the same values.
func TestEarlierNames(t *testing.T) {
	earlier := func(o model.Reading) model.Shape { return o.Kind.Shape() }
	if s := earlier(model.Output{Kind: model.SVC, Classes: []string{"a", "b"}}); s != model.Pairs {
		t.Errorf("by the earlier names the shape is %q, want %q", s, model.Pairs)
	}
}
