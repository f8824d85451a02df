package linear

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// waves are the features sqrt(2) cos(w.x + b).
type waves struct {
	x, w [][]float64 // rows; columns of directions
	b    []float64
}

func (s waves) ReadAt(dst linalg.Matrix[float64], feature int, rows []int) {
	for j := range dst.Rows {
		for i, r := range rows {
			phase := s.b[feature+j]
			for k, v := range s.x[r] {
				phase += v * s.w[k][feature+j]
			}
			dst.Row(j)[i] = math.Sqrt2 * math.Cos(phase)
		}
	}
}

func TestDSGVectors(t *testing.T) {
	v := readVectors(t)
	if len(v.Runs) != 3 {
		t.Fatalf("%d runs", len(v.Runs))
	}
	source := waves{v.X, v.W, v.B}
	for name, steps := range v.Runs {
		d, err := NewDSG(1, DSGParams{Loss: named()[name], Rate: v.Gamma, Lambda: v.Lam})
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range steps {
			rows := v.Idx[k : k+1]
			u, phi := d.Decide(source, rows), linalg.New[float64](1, 1)
			source.ReadAt(phi, d.Features(), rows)
			if math.Abs(u.Data[0]-want.F) > 1e-12 {
				t.Errorf("%s, step %d: decision %v, want %v", name, k, u.Data[0], want.F)
			}
			d.Step(phi, u, row([]float64{v.Y[rows[0]]}))
			for j, a := range d.Coefficients().Data {
				if math.Abs(a-want.Alpha[j]) > 1e-12 {
					t.Errorf("%s, step %d: coefficient %d is %v, want %v", name, k, j, a, want.Alpha[j])
				}
			}
		}
		if d.Features() != 8 {
			t.Errorf("%s: %d coefficients", name, d.Features())
		}
	}
}

// noise is a matrix of normal numbers.
func noise(rows, cols int, seed uint64) linalg.Matrix[float64] {
	r := rand.New(rand.NewPCG(seed, 1))
	m := linalg.New[float64](rows, cols)
	for i := range m.Data {
		m.Data[i] = r.NormFloat64()
	}
	return m
}

// Steps of blocks are the formulas: without and with the inverse, for two
// outputs, with two features per direction, what was there before decaying.
func TestDSGBlocks(t *testing.T) {
	const rows, features, rate, lambda, rho = 30, 6, 0.7, 0.1, 0.3
	for _, newton := range []bool{false, true} {
		d, err := NewDSG(2, DSGParams{Loss: Logistic{}, Rate: rate, Lambda: lambda, PerDirection: 2})
		if err != nil {
			t.Fatal(err)
		}
		var want [2][]float64
		for k := range 3 {
			phi, u, y := noise(features, rows, uint64(k)), noise(2, rows, uint64(k+10)), noise(2, rows, uint64(k+20))
			for i, v := range y.Data {
				y.Data[i] = Sign(v)
			}
			h := linalg.New[float64](features, features)
			for i := range features {
				for j := range features {
					h.Row(i)[j] = 0.25 / rows * linalg.Dot(phi.Row(i), phi.Row(j))
				}
				h.Row(i)[i] += rho
			}
			for c := range 2 {
				for j := range want[c] {
					want[c][j] *= 1 - rate*lambda
				}
				g := make([]float64, features)
				for j := range g {
					for i := range rows {
						g[j] += Logistic{}.Slope(u.Row(c)[i], y.Row(c)[i]) * phi.Row(j)[i] / rows
					}
				}
				if newton {
					g = eliminate(h, g)
				}
				for _, v := range g {
					if !newton {
						v /= features / 2
					}
					want[c] = append(want[c], -rate*v)
				}
			}
			if !newton {
				d.Step(phi, u, y)
			} else if err := d.StepNewton(phi, u, y, rho); err != nil {
				t.Fatal(err)
			}
		}
		got := d.Coefficients()
		for c := range 2 {
			for j, w := range want[c] {
				if math.Abs(got.Row(c)[j]-w) > 1e-12 {
					t.Errorf("newton %v, output %d: coefficient %d is %v, want %v", newton, c, j, got.Row(c)[j], w)
				}
			}
		}
	}
}

// eliminate solves a system of equations by Gauss's method.
func eliminate(a linalg.Matrix[float64], b []float64) []float64 {
	n := len(b)
	m := linalg.New[float64](n, n+1)
	for i := range n {
		copy(m.Row(i), a.Row(i))
		m.Row(i)[n] = b[i]
	}
	for k := range n {
		pivot := k
		for i := k; i < n; i++ {
			if math.Abs(m.Row(i)[k]) > math.Abs(m.Row(pivot)[k]) {
				pivot = i
			}
		}
		for j := range n + 1 {
			m.Row(k)[j], m.Row(pivot)[j] = m.Row(pivot)[j], m.Row(k)[j]
		}
		for i := range n {
			if f := m.Row(i)[k] / m.Row(k)[k]; i != k {
				for j := k; j <= n; j++ {
					m.Row(i)[j] -= f * m.Row(k)[j]
				}
			}
		}
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = m.Row(i)[n] / m.Row(i)[i]
	}
	return x
}

// Thousands of decays lose nothing, and new coefficients keep their size.
func TestDecay(t *testing.T) {
	d, err := NewDSG(1, DSGParams{Loss: Square{}, Rate: 0.5, Lambda: 1.2})
	if err != nil {
		t.Fatal(err)
	}
	one, zero := noise(1, 1, 1), linalg.New[float64](1, 1)
	for k := range 2000 {
		d.Step(one, zero, row([]float64{1}))
		want := one.Data[0] // -0.5 * 2 (0 - 1) phi
		alpha := d.Coefficients().Data
		for back := range min(k+1, 50) {
			if got := alpha[k-back]; math.Abs(got-want) > 1e-12*math.Abs(want) {
				t.Fatalf("after %d steps coefficient %d is %v, want %v", k+1, k-back, got, want)
			}
			want *= 0.4
		}
	}
}

func TestDSGErrors(t *testing.T) {
	for name, p := range map[string]DSGParams{
		"no loss": {Rate: 1}, "rate": {Loss: Square{}}, "lambda": {Loss: Square{}, Rate: 1, Lambda: -1},
		"decay": {Loss: Square{}, Rate: 2, Lambda: 0.5}, "three": {Loss: Square{}, Rate: 1, PerDirection: 3},
	} {
		if _, err := NewDSG(1, p); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := NewDSG(0, DSGParams{Loss: Square{}, Rate: 1}); err == nil {
		t.Error("no outputs: no error")
	}
	d, err := NewDSG(1, DSGParams{Loss: Square{}, Rate: 1})
	if err != nil {
		t.Fatal(err)
	}
	if d.StepNewton(linalg.New[float64](2, 3), linalg.New[float64](1, 3), linalg.New[float64](1, 3), 0) == nil || d.Features() != 0 {
		t.Error("a singular step passes")
	}
}
