package feature

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

func seeded(seed byte) Source {
	return func(direction int) Normals {
		return prg.New([32]byte{seed}, "test", binary.LittleEndian.AppendUint64(nil, uint64(direction)))
	}
}

func table(n, width int) linalg.Matrix[float64] {
	r := rand.New(rand.NewPCG(1, 2))
	x := linalg.New[float64](n, width)
	for i := range x.Data {
		x.Data[i] = r.NormFloat64()
	}
	return x
}

// spectra are the kernels with what their directions are drawn by.
var spectra = []struct {
	name   string
	draw   func(linalg.Matrix[float64], int, float64, Source)
	kernel func(gamma, squared float64) float64
}{
	{"rbf", Gaussian, func(gamma, squared float64) float64 { return math.Exp(-gamma * squared) }},
	{"laplacian", Laplace, func(gamma, squared float64) float64 { return math.Exp(-gamma * math.Sqrt(squared)) }},
}

// Inner products of features come near the kernel: within five deviations,
// which are below 1/sqrt(directions).
func TestFeaturesGiveTheKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const directions, n, gamma = 1 << 14, 12, 0.4
	x := table(n, 5)
	for _, s := range spectra {
		w := linalg.New[float64](directions, 5)
		s.draw(w, 0, gamma, seeded(1))
		m := Map{w}
		phi := linalg.New[float64](n, m.Len())
		m.Rows(phi, x)
		gram := linalg.New[float64](n, n)
		linalg.Syrk(gram, phi)
		for i := range n {
			for j := range n {
				squared := 0.0
				for k, v := range x.Row(i) {
					squared += (v - x.Row(j)[k]) * (v - x.Row(j)[k])
				}
				got, want := gram.Row(i)[j]/directions, s.kernel(gamma, squared)
				if math.Abs(got-want) > 5/math.Sqrt(directions) {
					t.Errorf("%s of rows %d and %d: %.4f, want %.4f", s.name, i, j, got, want)
				}
			}
		}
	}
}

// Features have the length sqrt(directions) for all phases, however large, as differential privacy relies on. From 2^53
// on neighbouring float64 are 2 apart, and the phase a quarter of a turn earlier is rounded to the phase itself.
func TestFeaturesOfLargePhasesHaveTheSameLength(t *testing.T) {
	for _, size := range []float64{1, 4000, 5000, 1e6, 1e12, 1e16, 1e18, 1e300} {
		m := Map{linalg.New[float64](5, 1)}
		for i := range m.Directions.Data {
			m.Directions.Data[i] = size * (1 + .1*float64(i))
		}
		for _, x := range []float64{-1, .3, .7, 1.1} {
			row, column := linalg.New[float64](1, 10), linalg.New[float64](10, 1)
			at := linalg.Matrix[float64]{Rows: 1, Cols: 1, Stride: 1, Data: []float64{x}}
			m.Rows(row, at)
			m.Columns(column, at)
			for _, phi := range [][]float64{row.Data, column.Data} {
				length := 0.
				for _, v := range phi {
					length += v * v
				}
				if !(math.Abs(length/5-1) < 1e-12) {
					t.Errorf("direction %g, x = %g: the squared length is %v, want 5", size, x, length)
				}
			}
		}
	}
}

// Features are cosines and sines.
func TestRowsAndColumns(t *testing.T) {
	for _, shape := range [][3]int{{1, 1, 1}, {7, 3, 5}, {300, 33, 20}, {0, 2, 2}} {
		n, directions, width := shape[0], shape[1], shape[2]
		x := table(n, width)
		w := linalg.New[float64](directions, width)
		Gaussian(w, 0, 0.3, seeded(2))
		m := Map{w}
		rows, columns := linalg.New[float64](n, m.Len()), linalg.New[float64](m.Len(), n)
		m.Rows(rows, x)
		m.Columns(columns, x)
		for i := range n {
			for j := range directions {
				phase := 0.0
				for k, v := range w.Row(j) {
					phase += v * x.Row(i)[k]
				}
				for f, want := range map[int]float64{j: math.Cos(phase), directions + j: math.Sin(phase)} {
					got := rows.Row(i)[f]
					if got != columns.Row(f)[i] || math.Abs(got-want) > 1e-12 {
						t.Errorf("%v: feature %d of row %d is %v and %v, want %v", shape, f, i, got, columns.Row(f)[i], want)
					}
				}
			}
		}
	}
}

// A direction is the same in whatever range it is made.
func TestDirectionsAreSeekable(t *testing.T) {
	for _, s := range spectra {
		all, some := linalg.New[float64](1000, 7), linalg.New[float64](13, 7)
		s.draw(all, 0, 2, seeded(3))
		s.draw(some, 900, 2, seeded(3))
		if !slices.Equal(all.Panel(900, 913).Data, some.Data) {
			t.Errorf("%s: directions 900 to 912 differ when made alone", s.name)
		}
	}
}

func TestShapes(t *testing.T) {
	m := Map{linalg.New[float64](3, 2)}
	for name, f := range map[string]func(){
		"rows":     func() { m.Rows(linalg.New[float64](4, 5), table(4, 2)) },
		"columns":  func() { m.Columns(linalg.New[float64](6, 3), table(4, 2)) },
		"of width": func() { m.Rows(linalg.New[float64](4, 6), table(4, 3)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

// BenchmarkColumns makes features of rows with few columns, where the cosines
// are most of the work; it counts the bytes of the features.
func BenchmarkColumns(b *testing.B) {
	const n, directions = 2048, 1024
	for _, width := range []int{16, 123} {
		b.Run(map[int]string{16: "16columns", 123: "123columns"}[width], func(b *testing.B) {
			w := linalg.New[float64](directions, width)
			Gaussian(w, 0, 0.01, seeded(1))
			m, x := Map{w}, table(n, width)
			dst := linalg.New[float64](m.Len(), n)
			b.SetBytes(int64(8 * m.Len() * n))
			for b.Loop() {
				m.Columns(dst, x)
			}
		})
	}
}

// BenchmarkGaussian draws directions; bytes are theirs.
func BenchmarkGaussian(b *testing.B) {
	w := linalg.New[float64](1024, 123)
	b.SetBytes(int64(8 * len(w.Data)))
	for b.Loop() {
		Gaussian(w, 0, 0.01, seeded(1))
	}
}
