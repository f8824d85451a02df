package model_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// compareModels looks into everything.
func compareModels() cmp.Options {
	return cmp.Options{cmp.AllowUnexported(model.Model{}, model.Head{}, model.Private{}, svm.Classifier{}), cmp.FilterPath(
		func(p cmp.Path) bool { return p.Last().String() == ".kernel" }, cmp.Ignore())} // holds functions; spec says the same
}

func matrix(rows ...[]float64) linalg.Matrix[float64] {
	m := linalg.New[float64](len(rows), len(rows[0]))
	for i, r := range rows {
		copy(m.Row(i), r)
	}
	return m
}

func classifier(t testing.TB, classes []string, vectors int, pairs ...svm.Pair) *svm.Classifier {
	t.Helper()
	c, err := svm.NewClassifier(classes, pairs, vectors)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// small is a model that can be followed by hand: classes a and b, two vectors.
func small(t testing.TB) *model.Model {
	t.Helper()
	c := classifier(t, []string{"a", "b"}, 2, svm.Pair{Index: []int{0, 1}, Coef: []float64{2, -2}, Rho: 0.25})
	scale := &model.Scale{Offset: []float64{1, 0, 0}, Factor: []float64{0.5, 1, 1}}
	m, err := model.New(kernel.Spec{Name: "linear"}, scale, matrix([]float64{1, 0, 0}, []float64{0, 0.125, 0}), model.Voters(model.SVC, c, nil))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func encode(t testing.TB, m *model.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := model.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDecisionsByHand(t *testing.T) {
	m := small(t)
	// Row (5, 7, 3) is scaled to (2, 7, 3): 2*2 - 2*7/8 - 0.25.
	got, err := m.Decisions(matrix([]float64{5, 7, 3}, []float64{1, 0, 0}))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]float64{2, -0.25}, got.Data); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a", "b"}, m.Output().Predict(got)); d != "" {
		t.Error(d)
	}
}

func TestDecisionErrors(t *testing.T) {
	m := small(t)
	rows := linalg.New[float64](300, 3)
	for _, test := range []struct {
		rows linalg.Matrix[float64]
		set  float64
		want string
	}{
		{linalg.New[float64](1, 4), 0, "model: the rows have 4 columns, but the model was trained on 3"},
		{rows, math.NaN(), "model: row 299 holds NaN in column 1; numbers must be finite"},
		{rows, math.Inf(-1), "model: row 299 holds -Inf in column 1; numbers must be finite"},
		{rows, math.MaxFloat64, "model: the decision for row 299 is not finite: the row is too large for this kernel"},
	} {
		test.rows.Row(test.rows.Rows - 1)[1] = test.set
		c := classifier(t, []string{"a", "b"}, 1, svm.Pair{Index: []int{0}, Coef: []float64{1}})
		wide, err := model.New(kernel.Spec{Name: "linear"}, nil, matrix([]float64{1, 10, 1}), model.Voters(model.SVC, c, nil))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := wide.Decisions(test.rows); err == nil || err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
	if got, err := m.Decisions(linalg.New[float64](0, 3)); err != nil || got.Rows != 0 {
		t.Errorf("no rows: %v, %v", got, err)
	}
}

// trainDigits trains on three quarters of digits and returns the model, the
// decisions computed without a model, and the rows they are for.
func trainDigits(t testing.TB) (m *model.Model, direct, rows linalg.Matrix[float64]) {
	t.Helper()
	set, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	x := dataset.DenseOf(set.X).Matrix()
	classes, codes := dataset.Classes(set.Labels)
	train, rows := linalg.New[float64](1200, x.Cols), x.Panel(1200, x.Rows)
	for i, v := range x.Panel(0, 1200).Data {
		train.Data[i] = v / 16
	}
	spec := kernel.Spec{Name: "rbf", Gamma: 0.5}
	c, err := svm.TrainSVC(source(t, spec, train), codes[:1200], classes, svm.Params{C: 10}, nil)
	if err != nil {
		t.Fatal(err)
	}
	vectors := linalg.New[float64](len(c.Support()), x.Cols)
	for i, r := range c.Support() {
		copy(vectors.Row(i), train.Row(r))
	}
	scale := &model.Scale{Offset: make([]float64, x.Cols), Factor: make([]float64, x.Cols)}
	for i := range scale.Factor {
		scale.Factor[i] = 1.0 / 16
	}
	if m, err = model.New(spec, scale, vectors, model.Voters(model.SVC, c, nil)); err != nil {
		t.Fatal(err)
	}
	return m, c.Decisions(crossRBF(0.5, rows, vectors)), rows
}

// crossRBF is the kernel by its definition, for rows not yet divided by 16.
func crossRBF(gamma float64, rows, vectors linalg.Matrix[float64]) linalg.Matrix[float64] {
	out := linalg.New[float64](rows.Rows, vectors.Rows)
	for i := range rows.Rows {
		for j := range vectors.Rows {
			d := 0.0
			for c, v := range rows.Row(i) {
				d += (v/16 - vectors.Row(j)[c]) * (v/16 - vectors.Row(j)[c])
			}
			out.Row(i)[j] = math.Exp(-gamma * d)
		}
	}
	return out
}

func source(t testing.TB, spec kernel.Spec, x linalg.Matrix[float64]) kernel.Source {
	t.Helper()
	k, err := kernel.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return kernel.Of(kernel.LinearGram(x), k)
}

func TestDigitsThroughAFile(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	m, direct, rows := trainDigits(t)
	file := encode(t, m)
	if n, width := m.Vectors().Shape(); len(file) > 4*n*width+120_000 {
		t.Errorf("%d bytes for %d x %d numbers that are float32", len(file), n, width)
	}
	again, err := model.Open(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(m, again, compareModels()); d != "" {
		t.Error(d)
	}
	got, err := again.Decisions(rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range direct.Data {
		if math.Abs(got.Data[i]-want) > 1e-10 {
			t.Fatalf("decision %d is %v, want %v", i, got.Data[i], want)
		}
	}
}

func sign(negative bool) float64 {
	if negative {
		return -1
	}
	return 1
}

func TestNewErrors(t *testing.T) {
	nan := math.NaN()
	pair := func() svm.Pair { return svm.Pair{Index: []int{0}, Coef: []float64{1}} }
	c := classifier(t, []string{"a", "b"}, 1, pair())
	long := classifier(t, []string{"a", strings.Repeat("b", 1025)}, 1, pair())
	linear := kernel.Spec{Name: "linear"}
	one := matrix([]float64{1})
	for _, test := range []struct {
		spec    kernel.Spec
		scale   *model.Scale
		vectors linalg.Matrix[float64]
		c       *svm.Classifier
		want    string
	}{
		{kernel.Spec{Name: "rbf", Gamma: -1}, nil, one, c, ""},
		{linear, nil, matrix([]float64{1}, []float64{2}), c, "model: no function uses row 1 of 2; leave the row out"},
		{linear, nil, linalg.New[float64](1, 0), c, "model: the model has 1 support vectors of 0 numbers; 0 to 67108864 vectors of 1 to 67108864 numbers are allowed"},
		{linear, nil, matrix([]float64{nan}), c, "model: support vector 0 holds NaN in column 0; numbers must be finite"},
		{linear, nil, one, long, "model: a class name has 1025 bytes; at most 1024 are allowed"},
		{linear, &model.Scale{Offset: []float64{1}}, one, c, "model: the scale has 1 offsets and 0 factors for 1 columns; it needs one of each for each column"},
		{linear, &model.Scale{Offset: []float64{nan}, Factor: []float64{1}}, one, c, "model: the offset of column 0 is NaN; it must be finite"},
		{linear, &model.Scale{Offset: []float64{1}, Factor: []float64{nan}}, one, c, "model: the factor of column 0 is NaN; it must be finite"},
	} {
		_, err := model.New(test.spec, test.scale, test.vectors, model.Voters(model.SVC, test.c, nil))
		if test.want == "" {
			_, kernelErr := kernel.New(test.spec)
			test.want = "model: " + kernelErr.Error()
		}
		if err == nil || err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
}

// Coefficients and probabilities that no training can give are refused.
func TestHeadsThatCannotBe(t *testing.T) {
	vectors := matrix([]float64{1}, []float64{2})
	ridge := func(f model.Function) model.Head {
		return model.Head{Output: model.Output{Kind: model.Ridge}, Functions: []model.Function{f}}
	}
	scaled := func(noise, unit float64) model.Head {
		h := ridge(model.Dense([]float64{1, 1}, 0))
		h.Noise, h.Unit = noise, unit
		return h
	}
	calibrated := ridge(model.Dense([]float64{1, 1}, 0))
	calibrated.Sigmoids = make([]svm.Sigmoid, 1)
	for _, c := range []struct {
		head model.Head
		want string
	}{
		{ridge(model.Dense([]float64{1, 2}, 0.5)), ""},
		{ridge(model.Function{Index: []int{0, 1}, Coef: []float64{1, 0}}), "coefficient 1 is 0"},
		{ridge(model.Function{Index: []int{0, 1}, Coef: []float64{math.Inf(1), 1}}), "coefficient 0 is +Inf"},
		{ridge(model.Function{Index: []int{0, 1}, Coef: []float64{math.NaN(), 1}}), "coefficient 0 is NaN"},
		{ridge(model.Function{Index: []int{0, 1}, Coef: []float64{1}}), "the function has 2 indices for 1 coefficients; it needs one index for each coefficient"},
		{ridge(model.Function{Index: []int{1, 0}, Coef: []float64{1, 1}}), "indices must ascend"},
		{ridge(model.Function{Index: []int{0, 0}, Coef: []float64{1, 1}}), "indices must ascend"},
		{ridge(model.Function{Index: []int{0, 2}, Coef: []float64{1, 1}}), "indices must ascend"},
		{ridge(model.Function{Index: []int{-1, 0}, Coef: []float64{1, 1}}), "indices must ascend"},
		{ridge(model.Dense([]float64{1, 2}, math.Inf(-1))), "rho is -Inf"},
		{scaled(1, 0), "the noise is 1 and the unit is 0; both must be 0 in a ridge model"},
		{scaled(0, 1), "the noise is 0 and the unit is 1; both must be 0 in a ridge model"},
		{calibrated, "1 sigmoids for 1 functions of a ridge model"},
	} {
		_, err := model.New(kernel.Spec{Name: "linear"}, nil, vectors, c.head)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func BenchmarkDecisions(b *testing.B) {
	m, _, rows := trainDigits(b)
	for b.Loop() {
		if _, err := m.Decisions(rows); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows.Rows), "ns/row")
}
