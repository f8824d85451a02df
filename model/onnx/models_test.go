package onnx_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// example is a model with rows to predict.
type example struct {
	model model.Predictor
	made  *prepare.Preparation // nil without a preparation
	rows  linalg.Matrix[float64]
	cells map[string][]any // cells of each column, for a model with a preparation
	bad   map[int]bool     // rows that Mercer refuses
}

const width = 6

func normals(r *rand.Rand, rows, cols int) linalg.Matrix[float64] {
	m := linalg.New[float64](rows, cols)
	for i := range m.Data {
		m.Data[i] = r.NormFloat64()
	}
	return m
}

// heads returns one learner's result of each kind, over n rows. The coefficients are random.
func heads(r *rand.Rand, n int) map[string]model.Head {
	some := func(count int) []model.Function {
		list := make([]model.Function, count)
		for k := range list {
			list[k] = model.Dense(normals(r, 1, n).Data, r.NormFloat64())
		}
		return list
	}
	all := map[string]model.Head{
		"nu-svc":    {Output: model.Output{Kind: model.NuSVC, Classes: []string{"a", "b"}}, Functions: owned(r, n, 2)},
		"svc-2":     {Output: model.Output{Kind: model.SVC, Classes: []string{"no", "yes"}}, Functions: owned(r, n, 2), Sigmoids: []svm.Sigmoid{{A: -1.5, B: 0.2}}},
		"svc-4":     {Output: model.Output{Kind: model.SVC, Classes: []string{"a", "b", "c", "d"}}, Functions: owned(r, n, 4)},
		"one-class": {Output: model.Output{Kind: model.OneClass}, Functions: some(1)},
		"svr":       {Output: model.Output{Kind: model.SVR}, Functions: some(1)},
		"ridge":     {Output: model.Output{Kind: model.Ridge}, Functions: some(1)},
		"gp":        {Output: model.Output{Kind: model.GP}, Functions: some(1), Noise: 0.5, Unit: 3},
		"kpca":      {Output: model.Output{Kind: model.KPCA}, Functions: some(3)},
		"kmeans":    {Output: model.Output{Kind: model.KMeans}, Functions: some(4)},
		"klr":       {Output: model.Output{Kind: model.NewKind("klr", model.Odds), Classes: []string{"a", "b"}}, Functions: some(1)},
		"each":      {Output: model.Output{Kind: model.NewKind("means", model.Each), Classes: []string{"a", "b", "c"}}, Functions: some(3)},
	}
	return all
}

// owned returns the functions of all pairs of classes. Each of n rows belongs to one class, and its
// coefficients have the sign of that class.
func owned(r *rand.Rand, n, classes int) []model.Function {
	var list []model.Function
	for i := range classes {
		for j := i + 1; j < classes; j++ {
			coef := make([]float64, n)
			for s := range coef {
				switch s % classes {
				case i:
					coef[s] = r.Float64()
				case j:
					coef[s] = -r.Float64()
				}
			}
			list = append(list, model.Dense(coef, r.NormFloat64()/4))
		}
	}
	return list
}

func specs() []kernel.Spec {
	return []kernel.Spec{
		{Name: "linear"},
		{Name: "rbf", Gamma: 0.2},
		{Name: "rbf", Gamma: 0.1, Amplitude: 2.5},
		{Name: "polynomial", Gamma: 0.3, Coef0: 1, Degree: 3},
		{Name: "rational-quadratic", LengthScale: 2, Alpha: 0.7},
		{Name: "laplacian", Gamma: 0.4},
		{Name: "matern", LengthScale: 1.5, Nu: 0.5},
		{Name: "matern", LengthScale: 1.5, Nu: 1.5},
		{Name: "matern", LengthScale: 1.5, Nu: 2.5},
		{Name: "cosine"},
		{Name: "tanimoto"},
		{Name: "dot-product", Coefficients: []float64{0.5, 1, 0, 0.25}},
	}
}

// examples returns models of every kind with every kernel, models of random features, and one with a
// preparation.
func examples(t *testing.T) map[string]example {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	const count = 1000
	vectors, rows := normals(r, 30, width), normals(r, count, width)
	clear(rows.Row(7))                // a row of zeros, for cosine and tanimoto
	copy(rows.Row(8), vectors.Row(3)) // a distance of 0
	scale := &model.Scale{Offset: normals(r, 1, width).Data, Factor: []float64{1, 0.5, 2, 0, 1, 1}}
	all := make(map[string]example)
	for name, h := range heads(r, vectors.Rows) {
		for _, spec := range specs() {
			m, err := model.New(spec, scale, vectors, h)
			if err != nil {
				t.Fatal(err)
			}
			all[strings.TrimRight(fmt.Sprintf("%s-%s-%g-%g", name, spec.Name, spec.Nu, spec.Amplitude), "-0")] = example{model: m, rows: rows}
		}
	}
	for name, m := range randoms(t, scale) {
		all[name] = example{model: m, rows: rows}
	}
	all["prepared"] = prepared(t, r, count)
	return all
}

// randoms returns models of random features.
func randoms(t *testing.T, scale *model.Scale) map[string]*model.Random {
	t.Helper()
	const features = 64
	all := make(map[string]*model.Random)
	for name, s := range map[string]model.RandomSpec{
		"moments-classifier": {Output: model.Output{Kind: model.RidgeClassifier, Classes: []string{"a", "b", "c"}}, Kernel: kernel.Spec{Name: "rbf", Gamma: 0.2}, Scaled: true, Scale: scale},
		"moments-ridge":      {Output: model.Output{Kind: model.Ridge}, Kernel: kernel.Spec{Name: "laplacian", Gamma: 0.2}},
		"bounded-classifier": {Output: model.Output{Kind: model.RidgeClassifier, Classes: []string{"a", "b", "c"}}, Kernel: kernel.Spec{Name: "linear"}, Bound: 1.5, Scaled: true, Scale: scale},
		"bounded-ridge":      {Output: model.Output{Kind: model.Ridge}, Kernel: kernel.Spec{Name: "linear"}, Bound: 2.5},
	} {
		s.Width, s.Seed = width, [32]byte{1, 2, 3}
		features := features
		if s.Bound > 0 {
			s.Seed, features = [32]byte{}, width+1
		}
		outputs := max(1, len(s.Classes))
		r := rand.New(rand.NewPCG(3, uint64(len(name))))
		s.Solution = moments.Solution{Weights: normals(r, outputs, features), Offset: normals(r, 1, outputs).Data}
		m, err := model.NewRandom(s)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = m
	}
	return all
}

// table describes the columns of the prepared example: every type, fill and transform.
func table() prepare.Schema {
	return prepare.Schema{
		{Name: "plain"},
		{Name: "filled", Range: [2]float64{0, 1000}, Outside: prepare.OutsideMissing, Missing: prepare.FillMedian, Indicator: true, Transform: prepare.Log1p},
		{Name: "clipped", Range: [2]float64{0.5, 2}, Outside: prepare.OutsideClip, Transform: prepare.Log},
		{Name: "refused", Range: [2]float64{-3, 3}, Missing: prepare.FillValue, Value: "0.5"},
		{Name: "root", Range: [2]float64{0, 9}, Transform: prepare.Sqrt, Missing: prepare.FillMean},
		{Name: "sex", Type: prepare.Category, Categories: []string{"F", "M"}},
		{Name: "site", Type: prepare.Category, Categories: []string{"left", "right", "both"}, Unknown: prepare.UnknownOther, Missing: prepare.FillCategory},
		{Name: "drug", Type: prepare.Category, Categories: []string{"a", "b"}, Unknown: prepare.UnknownIgnore, Missing: prepare.FillMostFrequent, Indicator: true},
		{Name: "stage", Type: prepare.Category, Categories: []string{"I", "II", "III"}, Ordered: true, Missing: prepare.FillMostFrequent},
		{Name: "smoker", Type: prepare.Boolean, Missing: prepare.FillMostFrequent, Indicator: true},
		{Name: "year", Type: prepare.Date, Format: "%Y-%m-%d", As: prepare.Year},
	}
}

// prepared returns a model whose rows are prepared from cells, with rows that Mercer refuses.
func prepared(t *testing.T, r *rand.Rand, count int) example {
	t.Helper()
	schema := table()
	if err := schema.Check(); err != nil {
		t.Fatal(err)
	}
	for j := range schema {
		if err := schema[j].Check(); err != nil {
			t.Fatal(err)
		}
	}
	cells, lines := cellsOf(r, schema, count)
	frame := frameOf(t, schema, lines)
	made, err := prepare.FitAlone(frame, linalg.Range(0, count/2), prepare.Unscaled)
	if err != nil {
		t.Fatal(err)
	}
	x, err := made.Apply(frame)
	if err != nil {
		t.Fatal(err)
	}
	n := 20
	h := model.Head{Output: model.Output{Kind: model.SVC, Classes: []string{"ill", "well"}}, Functions: owned(r, n, 2)}
	vectors := linalg.New[float64](n, made.Width())
	copy(vectors.Data, x.Matrix().Data)
	m, err := model.New(kernel.Spec{Name: "rbf", Gamma: 0.05}, nil, vectors, h)
	if err != nil {
		t.Fatal(err)
	}
	named, err := m.Named(made.Names())
	if err != nil {
		t.Fatal(err)
	}
	e := example{model: named, made: made, rows: x.Matrix(), cells: cells, bad: make(map[int]bool)}
	e.refuse("sex", "X")
	e.refuse("refused", 3.5)
	e.refuse("plain", nil)
	e.refuse("smoker", "perhaps")
	e.refuse("clipped", nil)
	e.refuse("stage", "IV")
	return e
}

// refuse appends a row like the first with one other cell, for which Mercer has no answer.
func (e *example) refuse(column string, cell any) {
	rows := linalg.New[float64](e.rows.Rows+1, e.rows.Cols)
	copy(rows.Data, e.rows.Data)
	e.rows = rows
	e.bad[rows.Rows-1] = true
	for name, list := range e.cells {
		e.cells[name] = append(list, list[0])
	}
	e.cells[column][rows.Rows-1] = cell
}

// cellsOf draws cells of each column: as inputs of a graph, and as lines of a CSV text.
func cellsOf(r *rand.Rand, schema prepare.Schema, count int) (map[string][]any, []string) {
	cells, lines := make(map[string][]any), []string{strings.Join(append(schema.Names(), "y"), ",")}
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	for range count {
		var line []string
		for _, c := range schema {
			word, cell := "", any(nil)
			switch c.Name {
			case "plain", "clipped":
				v := math.Round(r.NormFloat64()*1e3) / 1e3
				word, cell = fmt.Sprint(v), v
			case "filled":
				v := math.Round(r.ExpFloat64()*6e5) / 1e3
				if word, cell = fmt.Sprint(v), v; r.IntN(5) == 0 {
					word, cell = "", nil
				}
			case "refused", "root":
				v := math.Round(r.Float64()*3e3) / 1e3
				if word, cell = fmt.Sprint(v), v; r.IntN(5) == 0 {
					word, cell = "", nil
				}
			case "sex":
				word = pick("F", "M")
				cell = word
			case "site":
				word = pick("left", "right", "both", "none", "")
				cell = word
			case "drug":
				word = pick("a", "a", "b", "c", "")
				cell = word
			case "stage":
				word = pick("I", "II", "III", "")
				cell = word
			case "smoker":
				word = pick("yes", "No", "TRUE", "0", "")
				cell = word
			case "year":
				year := 1990 + r.IntN(30)
				word, cell = fmt.Sprintf("%d-05-17", year), float64(year)
			}
			cells[c.Name] = append(cells[c.Name], cell)
			line = append(line, word)
		}
		lines = append(lines, strings.Join(append(line, "1"), ","))
	}
	return cells, lines
}

// frameOf reads lines of CSV by a schema.
func frameOf(t *testing.T, schema prepare.Schema, lines []string) *prepare.Frame {
	t.Helper()
	from, err := dataset.OpenCSV("table", strings.NewReader(strings.Join(lines, "\n")+"\n"), dataset.CSVForm{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := prepare.Read(from, prepare.Table{Schema: schema, Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	return set.X.(*prepare.Frame)
}
