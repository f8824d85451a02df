package model_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"pgregory.net/rapid"
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

func encodePrivate(t testing.TB, p *model.Private) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := model.EncodePrivate(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func private(t testing.TB) *model.Private {
	t.Helper()
	c := classifier(t, []string{"a", "b"}, 1, svm.Pair{Index: []int{0}, Coef: []float64{2}})
	m, err := model.New(kernel.Spec{Name: "rbf", Gamma: 2}, nil, matrix([]float64{0.5, 0.25}), model.Voters(model.SVC, c, nil))
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.NewPrivate(m)
	if err != nil {
		t.Fatal(err)
	}
	return p
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
	if d := cmp.Diff([]string{"a", "b"}, m.Reading().Predict(got)); d != "" {
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
		{linalg.New[float64](1, 4), 0, "model: rows of 4 columns, the model was trained on 3"},
		{rows, math.NaN(), "model: row 299 holds NaN in column 1"},
		{rows, math.Inf(-1), "model: row 299 holds -Inf in column 1"},
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

// drawModel draws a model of any shape.
func drawModel(t *rapid.T) *model.Model {
	classes := rapid.SliceOfNDistinct(rapid.StringN(0, 5, 20), 2, 5, rapid.ID[string]).Draw(t, "classes")
	coefficient := rapid.Float64Range(1e-9, 1e9)
	number := rapid.Custom(func(t *rapid.T) float64 {
		v := rapid.Float64Range(-1e30, 1e30).Draw(t, "v")
		if rapid.Bool().Draw(t, "float32") {
			return float64(float32(v))
		}
		return v
	})
	rows, cols := rapid.IntRange(1, 6).Draw(t, "rows"), rapid.IntRange(1, 4).Draw(t, "cols")
	vectors := linalg.New[float64](rows, cols)
	for i := range vectors.Data {
		vectors.Data[i] = number.Draw(t, "x")
	}
	pairs := make([]svm.Pair, len(classes)*(len(classes)-1)/2)
	for i := range pairs {
		pairs[i].Rho = number.Draw(t, "rho")
		pairs[i].Index, pairs[i].Coef = []int{}, []float64{}
		for s := range rows { // the first pair uses all rows, as some pair must
			if v := coefficient.Draw(t, "coef") * sign(rapid.Bool().Draw(t, "first")); i == 0 || rapid.Bool().Draw(t, "used") {
				pairs[i].Index, pairs[i].Coef = append(pairs[i].Index, s), append(pairs[i].Coef, v)
			}
		}
	}
	c, err := svm.NewClassifier(classes, pairs, rows)
	if err != nil {
		t.Fatal(err)
	}
	var scale *model.Scale
	if rapid.Bool().Draw(t, "scale") {
		scale = &model.Scale{Offset: rapid.SliceOfN(number, cols, cols).Draw(t, "offset"), Factor: rapid.SliceOfN(number, cols, cols).Draw(t, "factor")}
	}
	spec := kernel.Spec{Name: "polynomial", Gamma: rapid.Float64Range(1e-9, 1e9).Draw(t, "gamma"), Degree: rapid.IntRange(0, 9).Draw(t, "degree")}
	m, err := model.New(spec, scale, vectors, model.Voters(model.SVC, c, nil))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		var file, again bytes.Buffer
		if err := model.Encode(&file, m); err != nil {
			t.Fatal(err)
		}
		read, err := model.Open(iotest.HalfReader(bytes.NewReader(file.Bytes())))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(m, read, compareModels()); d != "" {
			t.Fatal(d)
		}
		if err := model.Encode(&again, read); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(file.Bytes(), again.Bytes()) {
			t.Fatal("the same model in other bytes")
		}
		if model.SHA256(m) != sha256.Sum256(file.Bytes()) {
			t.Fatal("SHA256 is not the hash of the file")
		}
	})
}

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
			got.Row(0)[0]++ // 2*4 - 3 - 0.5 is one less than what the others have
		}
		if err != nil {
			t.Fatal(err)
		}
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
		if d := cmp.Diff(want[kind].outputs, got.Row(0), near); d != "" {
			t.Errorf("%s: %s", kind, d)
		}
		if d := cmp.Diff(want[kind].predicted, m.Reading().Predict(got)); d != "" {
			t.Errorf("%s: %s", kind, d)
		}
		if n := m.Reading().Probabilities(got).Cols; (n == 2) != (kind == model.SVC) {
			t.Errorf("%s: %d probabilities", kind, n)
		}
		if err := m.Reading().Check(got.Cols + 3); (err == nil) != (kind == model.KPCA || kind == model.KMeans) {
			t.Errorf("%s: three outputs too many: %v", kind, err)
		}
	}
	outside := model.Reading{Kind: model.OneClass}
	if d := cmp.Diff([]string{"-1", "-1"}, outside.Predict(matrix([]float64{0}, []float64{-1}))); d != "" {
		t.Error(d)
	}
	if err := (model.Reading{Kind: "tree"}).Check(1); err == nil {
		t.Error("a kind that there is not")
	}
	if err := (model.Reading{Kind: model.SVC, Classes: []string{"a"}}).Check(1); err == nil {
		t.Error("one class")
	}
}

// A process whose deviations cannot be computed says so.
func TestGPThatCannotBeConditioned(t *testing.T) {
	h := model.Head{Reading: model.Reading{Kind: model.GP}, Functions: []model.Function{model.Dense([]float64{1, 1}, 0)}, Unit: 1}
	m, err := model.New(kernel.Spec{Name: "linear"}, nil, matrix([]float64{1}, []float64{2}), h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Decisions(matrix([]float64{1})); err == nil || !strings.Contains(err.Error(), "cannot be factored") {
		t.Errorf("error %v", err)
	}
}

// TestSameModelSameBytes: spellings, strides and training reports leave no trace.
func TestSameModelSameBytes(t *testing.T) {
	build := func(spec kernel.Spec, stride int, report svm.Report) []byte {
		c := classifier(t, []string{"a", "b"}, 2, svm.Pair{Index: []int{0, 1}, Coef: []float64{1, -1}, Report: report})
		v := linalg.Matrix[float64]{Rows: 2, Cols: 1, Stride: stride, Data: make([]float64, 2*stride)}
		v.Row(0)[0], v.Row(1)[0] = 0.5, 7
		m, err := model.New(spec, nil, v, model.Voters(model.SVC, c, nil))
		if err != nil {
			t.Fatal(err)
		}
		return encode(t, m)
	}
	short := build(kernel.Spec{Name: "polynomial", Gamma: 1}, 1, svm.Report{})
	long := build(kernel.Spec{Name: "polynomial", Gamma: 1, Degree: 3}, 5, svm.Report{Iterations: 9})
	if !bytes.Equal(short, long) {
		t.Errorf("%x\n%x", short, long)
	}
}

func TestPrivate(t *testing.T) {
	p := private(t)
	file := encodePrivate(t, p)
	if _, err := model.Open(bytes.NewReader(file)); !errors.Is(err, model.ErrPrivate) {
		t.Errorf("Open of a private file: %v", err)
	}
	if _, err := model.OpenPrivate(bytes.NewReader(encode(t, small(t)))); !errors.Is(err, model.ErrFormat) || err.Error() != "model: unusable file: a public model where a private one is expected" {
		t.Errorf("OpenPrivate of a public file: %v", err)
	}
	again, err := model.OpenPrivate(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p, again, compareModels()); d != "" {
		t.Error(d)
	}
	if p.SHA256() != sha256.Sum256(file) {
		t.Error("SHA256 is not the hash of the file")
	}
	d, err := p.Decisions(matrix([]float64{0.5, 0.25}))
	if err != nil || d.Data[0] != 2 || p.Reading().Predict(d)[0] != "a" {
		t.Errorf("decision %v, %v", d, err)
	}
	if p.Kernel() != (kernel.Spec{Name: "rbf", Gamma: 2}) || p.Width() != 2 || p.Support() != 1 || p.Reading().Kind != model.SVC || len(p.Reading().Classes) != 2 {
		t.Errorf("%s %v %v", p, p.Kernel(), p.Reading())
	}
	if _, err := model.NewPrivate(small(t)); err == nil || err.Error() != "model: a private model with a scale: the parties scale their rows before they encode them" {
		t.Errorf("a private model with a scale: %v", err)
	}
}

// TestPrivateDoesNotPrint: no way of formatting shows the encoded rows.
func TestPrivateDoesNotPrint(t *testing.T) {
	p := private(t)
	want := "private svc model over 1 encoded rows of width 2"
	for _, got := range []string{fmt.Sprintf("%v", p), fmt.Sprintf("%+v", p), fmt.Sprintf("%#v", p), fmt.Sprintf("%v", *p), fmt.Sprintf("%#v", *p)} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, v := range []any{p, *p} {
		if b, err := json.Marshal(v); err != nil || string(b) != "{}" {
			t.Errorf("JSON: %s, %v", b, err)
		}
	}
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
		{linear, nil, matrix([]float64{1}, []float64{2}), c, "model: row 1 of 2 is used by no function; leave it out"},
		{linear, nil, linalg.New[float64](1, 0), c, "model: 1 support vectors of 0 numbers, there may be 0 to 67108864 of 1 to 67108864"},
		{linear, nil, matrix([]float64{nan}), c, "model: support vector 0 holds NaN in column 0"},
		{linear, nil, one, long, "model: a class name of 1025 bytes, at most 1024 are allowed"},
		{linear, &model.Scale{Offset: []float64{1}}, one, c, "model: a scale of 1 offsets and 0 factors for 1 columns"},
		{linear, &model.Scale{Offset: []float64{nan}, Factor: []float64{1}}, one, c, "model: the offset of column 0 is NaN"},
		{linear, &model.Scale{Offset: []float64{1}, Factor: []float64{nan}}, one, c, "model: the factor of column 0 is NaN"},
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

type brokenWriter struct{ room int }

func (w *brokenWriter) Write(b []byte) (int, error) {
	if w.room -= len(b); w.room < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func TestWriteErrors(t *testing.T) {
	m := small(t)
	for room := range len(encode(t, m)) {
		if err := model.Encode(&brokenWriter{room}, m); !errors.Is(err, io.ErrShortWrite) {
			t.Fatalf("room for %d bytes: %v", room, err)
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

// BenchmarkFile writes and reads a private model of 1000 float32 vectors.
func BenchmarkFile(b *testing.B) {
	const rows, cols = 1000, 2048
	rng := rand.New(rand.NewPCG(1, 2))
	vectors := linalg.New[float64](rows, cols)
	for i := range vectors.Data {
		vectors.Data[i] = float64(float32(rng.NormFloat64()))
	}
	index, coef := make([]int, rows), make([]float64, rows)
	for i := range index {
		index[i], coef[i] = i, 1
	}
	m, err := model.New(kernel.Spec{Name: "linear"}, nil, vectors, model.Voters(model.SVC, classifier(b, []string{"a", "b"}, rows, svm.Pair{Index: index, Coef: coef}), nil))
	if err != nil {
		b.Fatal(err)
	}
	file := encode(b, m)
	b.SetBytes(int64(len(file)))
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		for b.Loop() {
			encode(b, m)
		}
	})
	b.Run("open", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		for b.Loop() {
			if _, err := model.Open(bytes.NewReader(file)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
