package feature

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// keyed are directions of which columns are drawn from one key and scales from
// another.
func keyed(s Spectrum, columns int, entries, scales byte) Directions {
	return Directions{
		Spectrum: s, Columns: columns,
		Entries: func(block, column int) Numbers {
			at := binary.LittleEndian.AppendUint64(nil, uint64(block))
			return prg.New([32]byte{entries}, "test/entries", at, binary.LittleEndian.AppendUint64(nil, uint64(column)))
		},
		Scales: func(block int) Numbers {
			return prg.New([32]byte{scales}, "test/scales", binary.LittleEndian.AppendUint64(nil, uint64(block)))
		},
	}
}

// laws are spectra with the kernels they belong to, as functions of the
// differences between two rows.
func laws() map[string]law {
	euclid := func(f func(float64) float64) func([]float64) float64 {
		return func(difference []float64) float64 {
			squared := 0.0
			for _, v := range difference {
				squared += v * v
			}
			return f(math.Sqrt(squared))
		}
	}
	return map[string]law{
		"rbf": {RBF(0.4), euclid(func(r float64) float64 { return math.Exp(-0.4 * r * r) })},
		"manhattan": {Manhattan(0.3), func(difference []float64) float64 {
			sum := 0.0
			for _, v := range difference {
				sum += math.Abs(v)
			}
			return math.Exp(-0.3 * sum)
		}},
		"rational-quadratic":      {RationalQuadratic(1.3, 0.7), euclid(func(r float64) float64 { return math.Pow(1+r*r/(1.4*1.69), -0.7) })},
		"rational-quadratic wide": {RationalQuadratic(0.8, 40), euclid(func(r float64) float64 { return math.Pow(1+r*r/(80*0.64), -40) })},
		"matern 1/2":              {Matern(1.5, 0.5), euclid(func(r float64) float64 { return math.Exp(-r / 1.5) })},
		"matern 3/2": {Matern(1.5, 1.5), euclid(func(r float64) float64 {
			return (1 + math.Sqrt(3)*r/1.5) * math.Exp(-math.Sqrt(3)*r/1.5)
		})},
		"matern 5/2": {Matern(2, 2.5), euclid(func(r float64) float64 {
			u := math.Sqrt(5) * r / 2
			return (1 + u + u*u/3) * math.Exp(-u)
		})},
	}
}

type law struct {
	spectrum Spectrum
	kernel   func(difference []float64) float64
}

// Parties that draw their columns from keys of their own, and scales from one
// that they share, have together features of the kernel: within five
// deviations, which are below 1/sqrt(directions).
func TestColumnsDrawnApart(t *testing.T) {
	const directions, n = 1 << 14, 10
	x := table(n, 5)
	for name, l := range laws() {
		w := linalg.New[float64](directions, 5)
		for _, part := range []struct{ from, to int }{{0, 2}, {2, 5}} {
			own := linalg.New[float64](directions, part.to-part.from)
			keyed(l.spectrum, own.Cols, byte(part.from+10), 1).Read(own, 0)
			for i := range directions {
				copy(w.Row(i)[part.from:part.to], own.Row(i))
			}
		}
		m := Map{w}
		phi, gram := linalg.New[float64](n, m.Len()), linalg.New[float64](n, n)
		m.Rows(phi, x)
		linalg.Syrk(gram, phi)
		for i := range n {
			for j := range n {
				difference := slices.Clone(x.Row(i))
				for k, v := range x.Row(j) {
					difference[k] -= v
				}
				if got, want := gram.Row(i)[j]/directions, l.kernel(difference); math.Abs(got-want) > 5/math.Sqrt(directions) {
					t.Errorf("%s of rows %d and %d: %.4f, want %.4f", name, i, j, got, want)
				}
			}
		}
	}
}

// A direction is the same in whatever range it is made, and a column does not
// depend on how many there are.
func TestAnyBlockAnyColumns(t *testing.T) {
	for name, l := range laws() {
		all := linalg.New[float64](300, 7)
		keyed(l.spectrum, 7, 1, 2).Read(all, 0)
		for _, r := range [][2]int{{0, 1}, {63, 2}, {64, 64}, {130, 170}, {299, 1}, {5, 0}} {
			some := linalg.New[float64](r[1], 3)
			keyed(l.spectrum, 3, 1, 2).Read(some, r[0])
			for i := range some.Rows {
				if !slices.Equal(some.Row(i), all.Row(r[0] + i)[:3]) {
					t.Errorf("%s: direction %d differs when made among %d from %d on", name, r[0]+i, r[1], r[0])
				}
			}
		}
	}
}

// Half of the Cauchy numbers lie within 1, and 1 in 100 beyond 63.66.
func TestCauchy(t *testing.T) {
	const n = 1 << 18
	s := prg.New([32]byte{3}, "cauchy")
	within, beyond := 0, 0
	for range n {
		v := math.Abs(cauchy(s))
		if v < 1 {
			within++
		}
		if v > 63.656741 { // the tangent of 0.99 pi / 2
			beyond++
		}
	}
	if math.Abs(float64(within)-n/2) > 5*math.Sqrt(n/4.) || math.Abs(float64(beyond)-n/100.) > 5*math.Sqrt(n/100.) {
		t.Errorf("of %d numbers %d are within 1, %d beyond 63.66", n, within, beyond)
	}
}

// The first two moments of gamma variables are shape and shape (shape + 1).
func TestGamma(t *testing.T) {
	const n = 1 << 17
	for _, shape := range []float64{0.02, 0.5, 1, 2.5, 40} {
		s := prg.New([32]byte{4}, "gamma")
		var mean, square float64
		for range n {
			g := gamma(s, shape)
			if !(g > 0) {
				t.Fatalf("shape %v: %v", shape, g)
			}
			mean += g / n
			square += g * g / n
		}
		fourth := shape * (shape + 1) * (shape + 2) * (shape + 3)
		second := shape * (shape + 1)
		if math.Abs(mean-shape) > 5*math.Sqrt(shape/n) || math.Abs(square-second) > 5*math.Sqrt((fourth-second*second)/n) {
			t.Errorf("shape %v: mean %v, mean square %v, want %v and %v", shape, mean, square, shape, second)
		}
	}
}

// The directions' bits, which tests on another machine must find again: holders
// of columns on machines of different kinds share the scales.
func TestDirectionsAreTheSameEverywhere(t *testing.T) {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(laws())) {
		w := linalg.New[float64](1<<12, 2)
		keyed(laws()[name].spectrum, w.Cols, 1, 2).Read(w, 0)
		for _, v := range w.Data {
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	}
	const want = "876e2340f979c3188bb4f9a749158fe68b1dd6d70a07e935d7e1035372e57aa4"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("the directions' SHA-256 is %s, elsewhere %s", got, want)
	}
}

func TestSpectrumOf(t *testing.T) {
	for _, tt := range []struct {
		spec kernel.Spec
		want Spectrum
	}{
		{kernel.Spec{Name: "rbf", Gamma: 2}, RBF(2)},
		{kernel.Spec{Name: "laplacian", Gamma: 4}, Matern(0.25, 0.5)},
		{kernel.Spec{Name: "rational-quadratic"}, RationalQuadratic(1, 1)},
		{kernel.Spec{Name: "matern", LengthScale: 3}, Matern(3, 1.5)},
		{kernel.Spec{Name: "matern", LengthScale: 3, Nu: 2.5}, Matern(3, 2.5)},
	} {
		got, err := SpectrumOf(tt.spec)
		if err != nil {
			t.Fatal(err)
		}
		a, b := linalg.New[float64](70, 3), linalg.New[float64](70, 3)
		keyed(got, 3, 1, 2).Read(a, 0)
		keyed(tt.want, 3, 1, 2).Read(b, 0)
		if !slices.Equal(a.Data, b.Data) {
			t.Errorf("%+v has other directions than expected", tt.spec)
		}
	}
	for _, s := range []kernel.Spec{{Name: "linear"}, {Name: "rbf"}, {Name: "cosine"}, {Name: "nothing"}} {
		if _, err := SpectrumOf(s); err == nil {
			t.Errorf("%+v has a spectrum", s)
		}
	}
}
