package model_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"pgregory.net/rapid"
)

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
	if err == nil && rapid.Bool().Draw(t, "named") {
		m, err = m.Named(rapid.SliceOfNDistinct(rapid.StringN(0, 5, 20), cols, cols, rapid.ID[string]).Draw(t, "columns"))
	}
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

// A kernel with as many coefficients as a job allows, of as many digits as there can be, is read back.
func TestLongKernelIsReadBack(t *testing.T) {
	spec := kernel.Spec{Name: "dot-product"}
	for i := range 65 {
		spec.Coefficients = append(spec.Coefficients, 1/float64(3*i+7))
	}
	c := classifier(t, []string{"a", "b"}, 1, svm.Pair{Index: []int{0}, Coef: []float64{1}})
	m, err := model.New(spec, nil, linalg.Matrix[float64]{Rows: 1, Cols: 1, Stride: 1, Data: []float64{2}}, model.Voters(model.SVC, c, nil))
	if err != nil {
		t.Fatal(err)
	}
	read, err := model.Open(bytes.NewReader(encode(t, m)))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(m, read, compareModels()); d != "" {
		t.Error(d)
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
