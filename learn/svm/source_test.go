package svm

import (
	"math"
	"math/rand/v2"

	"github.com/mercer-fl/mercer/linalg"
)

// gram is a kernel matrix in memory.
type gram struct {
	linalg.Matrix[float64]
	rowsRead *int
}

func (g gram) Len() int { return g.Rows }

func (g gram) Diagonal(dst []float64) {
	for i := range dst {
		dst[i] = g.At(i, i)
	}
}

func (g gram) At(i, j int) float64 { return g.Matrix.Row(i)[j] }

func (g gram) Row(i int, dst []float64) {
	if g.rowsRead != nil {
		*g.rowsRead++
	}
	copy(dst, g.Matrix.Row(i))
}

func (g gram) Block(rows, cols []int, dst linalg.Matrix[float64]) {
	for a, i := range rows {
		for b, j := range cols {
			dst.Row(a)[b] = g.At(i, j)
		}
	}
}

// rbf returns exp(-gamma |x - z|^2), straight from the definition.
func rbf(gamma float64, x, z linalg.Matrix[float64]) gram {
	out := linalg.New[float64](x.Rows, z.Rows)
	for i := range x.Rows {
		for j := range z.Rows {
			d := 0.0
			for c, v := range x.Row(i) {
				d += (v - z.Row(j)[c]) * (v - z.Row(j)[c])
			}
			out.Row(i)[j] = math.Exp(-gamma * d)
		}
	}
	return gram{Matrix: out}
}

// blobs draws n points around as many centres as there are classes; the
// classes overlap.
func blobs(seed uint64, n, dims, classes int) (linalg.Matrix[float64], []int) {
	rng := rand.New(rand.NewPCG(seed, 7))
	x, codes := linalg.New[float64](n, dims), make([]int, n)
	for i := range n {
		codes[i] = i % classes
		for c := range x.Row(i) {
			x.Row(i)[c] = rng.NormFloat64() + 2*math.Cos(float64(codes[i]*(c+1)))
		}
	}
	return x, codes
}

func take(x linalg.Matrix[float64], rows []int) linalg.Matrix[float64] {
	out := linalg.New[float64](len(rows), x.Cols)
	for a, r := range rows {
		copy(out.Row(a), x.Row(r))
	}
	return out
}

func names(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = string(rune('a' + i))
	}
	return out
}
