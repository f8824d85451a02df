package model_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/model"
)

// every is one model of each kind, over the same two rows.
func every(t testing.TB) map[model.Kind]*model.Model {
	t.Helper()
	one := []model.Function{{Index: []int{0, 1}, Coef: []float64{2, -1}, Rho: 0.5}}
	two := append(one, model.Function{Index: []int{1}, Coef: []float64{3}})
	models := make(map[model.Kind]*model.Model)
	for kind, h := range map[model.Kind]model.Head{
		model.SVC:      {Functions: one, Sigmoids: []svm.Sigmoid{{A: -2, B: 0.25}}},
		model.NuSVC:    {Functions: one},
		model.OneClass: {Functions: one},
		model.SVR:      {Functions: one},
		model.Ridge:    {Functions: one},
		model.GP:       {Functions: one, Noise: 0.25, Unit: 10},
		model.KPCA:     {Functions: two},
		model.KMeans:   {Functions: two},
		// learners that came later, and are not known here
		model.NewKind("nearest-mean", model.Each): {Functions: two},
		model.NewKind("klr", model.Odds):          {Functions: one},
		model.NewKind("krr", model.Number):        {Functions: one},
	} {
		h.Kind = kind
		if kind.Classifies() {
			h.Classes = []string{"a", "b"}
		}
		m, err := model.New(kernel.Spec{Name: "linear"}, nil, matrix([]float64{1, 0}, []float64{0, 1}), h)
		if err != nil {
			t.Fatal(err)
		}
		models[kind] = m
	}
	return models
}

func TestEveryKindByHand(t *testing.T) {
	p := 1 / (1 + math.Exp(-2*5.5+0.25))
	half := math.Sqrt(25 - 25/1.25 + 0.25) // prior 25, noise 1/4, rows at right angles
	want := map[model.Kind]struct {
		outputs   []float64
		predicted []string
	}{
		model.SVC:      {[]float64{5.5, p, 1 - p}, []string{"a"}},
		model.NuSVC:    {[]float64{5.5}, []string{"a"}},
		model.OneClass: {[]float64{5.5}, []string{"1"}},
		model.SVR:      {[]float64{5.5}, []string{"5.5"}},
		model.Ridge:    {[]float64{5.5}, []string{"5.5"}},
		model.GP:       {[]float64{5.5, 10 * half}, []string{"5.5"}},
		model.KPCA:     {[]float64{5.5, 6}, nil},
		model.KMeans:   {[]float64{5.5, 6}, []string{"0"}},

		"nearest-mean:each": {[]float64{5.5, 6}, []string{"b"}},
		"klr:odds":          {[]float64{5.5}, []string{"b"}},
		"krr:number":        {[]float64{5.5}, []string{"5.5"}},
	}
	for kind, m := range every(t) {
		file := encode(t, m)
		m, err := model.Open(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encode(t, m), file) {
			t.Errorf("%s: the same model in other bytes", kind)
		}
		got, err := m.Decisions(matrix([]float64{4, 2}, []float64{3, 4}).Panel(0, 1))
		if kind == model.GP {
			got, err = m.Decisions(matrix([]float64{4, 3}))
			got.Row(0)[0]++ // 2*4 - 3 - 0.5 is one less than the others
		}
		if err != nil {
			t.Fatal(err)
		}
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
		if d := cmp.Diff(want[kind].outputs, got.Row(0), near); d != "" {
			t.Errorf("%s: %s", kind, d)
		}
		if d := cmp.Diff(want[kind].predicted, m.Output().Predict(got)); d != "" {
			t.Errorf("%s: %s", kind, d)
		}
		if n := m.Output().Probabilities(got).Cols; (n == 2) != (kind == model.SVC || kind.OutputShape() == model.Odds) {
			t.Errorf("%s: %d probabilities", kind, n)
		}
		if err := m.Output().Check(got.Cols + 3); (err == nil) != (kind == model.KPCA || kind == model.KMeans) {
			t.Errorf("%s: three outputs too many: %v", kind, err)
		}
	}
	outside := model.Output{Kind: model.OneClass}
	if d := cmp.Diff([]string{"-1", "-1"}, outside.Predict(matrix([]float64{0}, []float64{-1}))); d != "" {
		t.Error(d)
	}
	if err := (model.Output{Kind: "tree"}).Check(1); err == nil {
		t.Error("a kind that there is not")
	}
	if err := (model.Output{Kind: model.SVC, Classes: []string{"a"}}).Check(1); err == nil {
		t.Error("one class")
	}
}

// A process whose deviations cannot be computed says so.
func TestGPThatCannotBeConditioned(t *testing.T) {
	h := model.Head{Output: model.Output{Kind: model.GP}, Functions: []model.Function{model.Dense([]float64{1, 1}, 0)}, Unit: 1}
	m, err := model.New(kernel.Spec{Name: "linear"}, nil, matrix([]float64{1}, []float64{2}), h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Decisions(matrix([]float64{1})); err == nil || !strings.Contains(err.Error(), "cannot be factored") {
		t.Errorf("error %v", err)
	}
}
