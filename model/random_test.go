package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
)

// randomSpecs are good models of each kind, of rows with two columns.
func randomSpecs(t testing.TB) map[string]RandomSpec {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	x, y := linalg.New[float64](50, 2), moments.Numbers{Values: make([]float64, 50), Range: moments.Range{Least: -9, Greatest: 9}}
	codes := make([]int, 50)
	for i := range 50 {
		x.Row(i)[0], x.Row(i)[1] = r.NormFloat64(), r.NormFloat64()
		y.Values[i], codes[i] = 3*x.Row(i)[0], i%3
	}
	k := kernel.Spec{Name: "rbf", Gamma: 0.5}
	m, err := moments.Features(k, [32]byte{7}, 6, 2)
	sums := func(y moments.Targets) *moments.Sums {
		s, e := moments.Summarize(m, x, y)
		err = errors.Join(err, e)
		return s
	}
	base := RandomSpec{Kernel: k, Seed: [32]byte{7}, Width: 2, Scaled: true, Scale: &Scale{Offset: []float64{1, 2}, Factor: []float64{2, 3}}}
	numbers := sums(y)
	classes, e1 := moments.Solve(sums(moments.Classes{Codes: codes, Count: 3}), 0.1)
	path, e2 := moments.Regress(numbers, y.Range, 0.1)
	scores, _, e3 := moments.Components(sums(moments.Unlabelled(50)), 2)
	if err := errors.Join(err, e1, e2, e3); err != nil {
		t.Fatal(err)
	}
	specs := map[string]RandomSpec{}
	add := func(r Output, s moments.Solution) *RandomSpec {
		one := base
		one.Output, one.Solution = r, s
		specs[string(r.Kind)] = one
		return &one
	}
	add(Output{Kind: RidgeClassifier, Classes: []string{"a", "b", "c"}}, classes)
	add(Output{Kind: "lda:each", Classes: []string{"a", "b", "c"}}, classes) // a later learner's
	add(Output{Kind: Ridge}, path)
	gp := add(Output{Kind: GP}, path)
	gp.Noise, gp.Unit, gp.Outer = 0.1, moments.Unit(numbers, y.Range), numbers.Outer
	specs["gp"] = *gp
	add(Output{Kind: KPCA}, scores)
	plain := specs["ridge"]
	plain.Width, plain.Scaled, plain.Scale = 0, false, nil
	specs["of any width"] = plain
	linear := specs["ridge"]
	linear.Kernel, linear.Seed, linear.Bound = kernel.Spec{Name: "linear"}, [32]byte{}, 1.5
	linear.Solution.Weights = linalg.Matrix[float64]{Rows: 1, Cols: 3, Stride: 3, Data: []float64{.5, -2, 7}}
	specs["linear"] = linear
	named := specs[string(KPCA)]
	named.Columns = []string{"age", "sbp"}
	specs["with names"] = named
	return specs
}

func encodeRandom(t testing.TB, s RandomSpec) []byte {
	t.Helper()
	m, err := NewRandom(s)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := EncodeRandom(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRandomRoundTrip(t *testing.T) {
	rows := linalg.New[float64](600, 2) // more than two panels
	for i := range rows.Data {
		rows.Data[i] = float64(i%7) / 3
	}
	for name, s := range randomSpecs(t) {
		b := encodeRandom(t, s)
		back, err := OpenRandom(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(s, back.spec); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if !IsRandom(b) || !bytes.Equal(encodeRandom(t, back.spec), b) {
			t.Errorf("%s: another file of the same model", name)
		}
		if _, err := Open(bytes.NewReader(b)); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "random features") {
			t.Errorf("%s: as a model of rows: %v", name, err)
		}
		got, err := back.Decisions(rows)
		if err != nil {
			t.Fatal(err)
		}
		decisionsMatch(t, name, s, rows, got)
	}
}

// decisionsMatch compares with the solution at features of rows that were scaled
// one by one.
func decisionsMatch(t *testing.T, name string, s RandomSpec, rows, got linalg.Matrix[float64]) {
	t.Helper()
	m, err := s.features(2)
	if err != nil {
		t.Fatal(err)
	}
	scaled := linalg.New[float64](rows.Rows, 2)
	for i := range scaled.Data {
		scaled.Data[i] = rows.Data[i]
		if s.Scale != nil {
			scaled.Data[i] = (rows.Data[i] - s.Scale.Offset[i%2]) * s.Scale.Factor[i%2]
		}
	}
	want := s.Solution.Decisions(m, scaled)
	for i := range want.Rows {
		for k, v := range want.Row(i) {
			if math.Abs(got.Row(i)[k]-v) > 1e-12 {
				t.Fatalf("%s, row %d: %v, want %v", name, i, got.Row(i), want.Row(i))
			}
		}
	}
	if s.Kind == GP && (got.Cols != 2 || !(got.Row(0)[1] > math.Sqrt(s.Noise)*s.Unit)) {
		t.Errorf("%s: decisions of %d numbers, deviation %v", name, got.Cols, got.Row(0))
	}
	if predicted := s.Predict(got); s.Kind == RidgeClassifier && predicted[0] != s.Classes[moments.Predict(got.Row(0))] {
		t.Errorf("%s: predicted %v of %v", name, predicted[0], got.Row(0))
	}
}

func TestRandomRefusals(t *testing.T) {
	specs := randomSpecs(t)
	change := func(kind string, f func(s *RandomSpec)) func() error {
		return func() error {
			s := specs[kind]
			f(&s)
			_, err := NewRandom(s)
			return err
		}
	}
	decide := func(kind string, f func(s *RandomSpec), rows linalg.Matrix[float64]) error {
		s := specs[kind]
		f(&s)
		m, err := NewRandom(s)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Decisions(rows)
		return err
	}
	infinite := linalg.New[float64](1, 2)
	infinite.Data[1] = math.Inf(1)
	for name, f := range map[string]func() error{
		"kernel":        change("ridge", func(s *RandomSpec) { s.Kernel.Name = "linear" }),
		"no bound":      change("linear", func(s *RandomSpec) { s.Bound = 0 }),
		"endless bound": change("linear", func(s *RandomSpec) { s.Bound = math.Inf(1) }),
		"more columns":  change("linear", func(s *RandomSpec) { s.Width, s.Scaled, s.Scale = 3, false, nil }),
		"any columns":   change("linear", func(s *RandomSpec) { s.Width, s.Scaled, s.Scale = 0, false, nil }),
		"a seed":        change("linear", func(s *RandomSpec) { s.Seed[3] = 1 }),
		"a bound":       change("ridge", func(s *RandomSpec) { s.Bound = 1 }),
		"kind":          change("ridge", func(s *RandomSpec) { s.Kind = SVR }),
		"classes":       change("ridge-classifier", func(s *RandomSpec) { s.Classes = s.Classes[1:] }),
		"no weights":    change("kpca", func(s *RandomSpec) { s.Solution = moments.Solution{} }),
		"offsets":       change("kpca", func(s *RandomSpec) { s.Solution.Offset = nil }),
		"NaN":           change("ridge", func(s *RandomSpec) { s.Solution.Offset = []float64{math.NaN()} }),
		"odd":           change("ridge", func(s *RandomSpec) { s.Solution.Weights = linalg.New[float64](1, 5) }),
		"scale":         change("ridge", func(s *RandomSpec) { s.Scale = &Scale{Offset: []float64{1}, Factor: []float64{1}} }),
		"scale of none": change("ridge", func(s *RandomSpec) { s.Scaled = false }),
		"wide":          change("of any width", func(s *RandomSpec) { s.Width = maxWidth + 1 }),
		"negative":      change("of any width", func(s *RandomSpec) { s.Width = -1 }),
		"too many":      change("ridge", func(s *RandomSpec) { s.Solution.Weights = linalg.Matrix[float64]{Rows: 1, Cols: maxFeatures + 2} }),
		"no features":   change("ridge", func(s *RandomSpec) { s.Solution.Weights = linalg.New[float64](1, 0) }),
		"gamma":         change("ridge", func(s *RandomSpec) { s.Kernel.Gamma = math.Inf(1) }),
		"units":         change("gp", func(s *RandomSpec) { s.Unit = math.Inf(1) }),
		"endless noise": change("gp", func(s *RandomSpec) { s.Noise = math.Inf(1) }),
		"sums":          change("gp", func(s *RandomSpec) { s.Outer = linalg.New[float64](2, 2) }),
		"noise":         change("ridge", func(s *RandomSpec) { s.Noise = 1 }),
		"no noise":      change("gp", func(s *RandomSpec) { s.Noise = 0 }),
		"no sums":       change("gp", func(s *RandomSpec) { s.Outer = linalg.Matrix[float64]{} }),
		"width":         func() error { return decide("ridge", func(*RandomSpec) {}, linalg.New[float64](1, 3)) },
		"not finite":    func() error { return decide("ridge", func(*RandomSpec) {}, infinite) },
		"rows of one": func() error {
			_, err := New(kernel.Spec{Name: "linear"}, nil, infinite, Head{Output: specs["ridge-classifier"].Output})
			return err
		},
	} {
		if err := f(); err == nil || !strings.HasPrefix(err.Error(), "model: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := decide("ridge", func(s *RandomSpec) { s.Scale = nil }, linalg.New[float64](1, 2)); !errors.Is(err, ErrUnscaled) {
		t.Errorf("rows that cannot be scaled: %v", err)
	}
}

func TestDamagedRandomFiles(t *testing.T) {
	b := encodeRandom(t, randomSpecs(t)["gp"])
	for cut := range b {
		if _, err := OpenRandom(bytes.NewReader(b[:cut])); err == nil {
			t.Fatalf("%d of %d bytes are a model", cut, len(b))
		}
	}
	for i := range b {
		damaged := slices.Clone(b)
		damaged[i] ^= 0x40
		if _, err := OpenRandom(bytes.NewReader(damaged)); err == nil {
			t.Fatalf("byte %d is damaged, and nobody sees it", i)
		}
	}
}

// A file that announces more than there may be, up to products that overflow,
// is refused before memory is taken for it.
func TestLyingRandomFiles(t *testing.T) {
	spec := randomSpecs(t)["of any width"]
	good := encodeRandom(t, spec)
	content := good[prefixSize : len(good)-32]
	shape := len(content) - 8*(spec.Solution.Weights.Cols+1) - 8 - 8 // of the weights, which one offset follows
	for _, c := range []struct {
		outputs, features uint32
		want              string
	}{
		{1, uint32(spec.Solution.Weights.Cols), ""},
		{math.MaxUint32, math.MaxUint32, "weights; at most"},
		{maxOutputs + 1, 2, "weights; at most"},
		{1, maxFeatures + 1, "weights; at most"},
		{1, maxFeatures, "end too early"},
		{maxOutputs, maxFeatures, "end too early"},
	} {
		lie := slices.Clone(content)
		binary.LittleEndian.PutUint32(lie[shape:], c.outputs)
		binary.LittleEndian.PutUint32(lie[shape+4:], c.features)
		var file bytes.Buffer
		if err := frame(&file, randomMagic, version, lie); err != nil {
			t.Fatal(err)
		}
		_, err := OpenRandom(&file)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d x %d: error %v, want %q", c.outputs, c.features, err, c.want)
		}
	}
}

// A decoded model encodes to the same bytes.
func FuzzOpenRandom(f *testing.F) {
	for _, s := range randomSpecs(f) {
		b := encodeRandom(f, s)
		f.Add(b[prefixSize:len(b)-32], s.Columns != nil)
	}
	f.Fuzz(func(t *testing.T, content []byte, named bool) {
		v := uint16(version)
		if named {
			v = namedVersion
		}
		var file bytes.Buffer
		if err := frame(&file, randomMagic, v, content); err != nil {
			t.Fatal(err)
		}
		m, err := OpenRandom(bytes.NewReader(file.Bytes()))
		if err != nil {
			return
		}
		if again := encodeRandom(t, m.spec); !bytes.Equal(again, file.Bytes()) {
			t.Errorf("%x is read as what is written %x", file.Bytes(), again)
		}
	})
}
