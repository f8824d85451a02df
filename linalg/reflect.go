package linalg

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/simd"
)

// Reflect multiplies the first values of each row of m by signs and then applies Householder
// reflections. Let c be the number of vectors, at most the number n of values of a row. A row becomes
// H_0 H_1 ... H_{c-1} [D; 0] x, where x is its first c values; its other values have no effect. D
// multiplies x by the signs, 1 or -1. The Householder reflections H_j = I - beta[j] v_j v_j^T act on
// the coordinates j to n-1: vectors[j] holds the n-j values of v_j. The result of a row does not depend
// on other rows. Reflect computes an n x c matrix, in about the time of reflecting c/2 rows, and
// multiplies the rows by it. It runs on one core; use it inside For. It panics on other lengths.
func Reflect(m Matrix[float64], signs []int8, vectors [][]float64, beta []float64) {
	reflectOn(Paths()[0], m, signs, vectors, beta)
}

func reflectOn(p Path, m Matrix[float64], signs []int8, vectors [][]float64, beta []float64) {
	if len(beta) != len(vectors) || len(signs) != len(vectors) {
		panic(fmt.Sprintf("linalg: %d reflections with %d factors and %d signs", len(vectors), len(beta), len(signs)))
	}
	for j, v := range vectors {
		if len(v) == 0 || len(v) != m.Cols-j {
			panic(fmt.Sprintf("linalg: reflection %d of %d coordinates has %d", j, m.Cols, len(v)))
		}
	}
	kernel, c := microOf[float64](p), len(vectors)
	frame := ceil(m.Cols, kernel.Cols) * c
	Scratch(frame+(c+kernel.Cols)*kernel.Rows, func(room []float64) {
		q := panels[float64]{kernel.Cols, c, room[:frame]}
		makeFrame(p, q, m.Cols, signs, vectors, beta)
		mulRows(p, m, q, room[frame:])
	})
}

// makeFrame computes the n x c matrix by which Reflect multiplies and packs it into q. It computes
// simd.Lanes columns at a time: it begins with columns of D and applies the reflections. It skips
// the reflections that act on later coordinates only, because they do not change these columns.
func makeFrame(path Path, q panels[float64], n int, signs []int8, vectors [][]float64, beta []float64) {
	c, reflect := len(vectors), simd.ReflectionsOf(path)
	Scratch(n*simd.Lanes+c, func(room []float64) {
		x, across := room[:n*simd.Lanes], room[n*simd.Lanes:]
		for j := 1; j < c; j += 2 {
			across[j] = dot(vectors[j], vectors[j-1][1:])
		}
		for first := 0; first < c; first += simd.Lanes {
			end := min(first+simd.Lanes, c)
			clear(x)
			for j := first; j < end; j++ {
				x[j*simd.Lanes+j-first] = float64(signs[j])
			}
			for j := (end - 1) &^ 1; j >= 0; j -= 2 {
				p := pairOf(vectors, beta, across, j)
				reflect(x[j*simd.Lanes:], p.first, p.second, p.betaFirst, p.betaSecond, p.across)
			}
			q.setColumns(x, n, first, end)
		}
	})
}

// setColumns copies the n rows of x to columns start to end-1 of p. The rows are simd.Lanes values
// apart in x.
func (p panels[T]) setColumns(x []T, n, start, end int) {
	through, _ := simd.Transposers64(Paths()[0])
	for i := 0; i < n; i += p.width {
		columns := Matrix[T]{end - start, min(p.width, n-i), p.width, p.at(i)[start*p.width:]}
		unpackPanel(columns, x[i*simd.Lanes:], simd.Lanes, through)
	}
}

// mulRows multiplies the first values of each row of m by the matrix q. The slice room has space
// for a panel of rows and a tile. The next rows, far away in memory, are prefetched meanwhile.
func mulRows(p Path, m Matrix[float64], q panels[float64], room []float64) {
	rows, kernels := microOf[float64](p).Rows, simd.AskingOf(p)
	vector := q.width / len(kernels)
	x, spill := room[:q.depth*rows], room[q.depth*rows:]
	for i := 0; i < m.Rows; i += rows {
		panel := m.Panel(i, min(i+rows, m.Rows))
		packPanel(x, panel, rows, 0, q.depth)
		for j := 0; j < m.Cols; j += q.width {
			c, cols := panel.Data[j:], min(q.width, m.Cols-j)
			ahead := c
			if i+rows < m.Rows {
				ahead = m.Data[(i+rows)*m.Stride+j:]
			}
			kernel := kernels[(cols-1)/vector]
			if panel.Rows == rows && cols%vector == 0 {
				kernel(q.depth, x, q.at(j), c, m.Stride, ahead, m.Stride)
				continue
			}
			kernel(q.depth, x, q.at(j), spill, q.width, ahead, m.Stride)
			copyRows(Matrix[float64]{panel.Rows, cols, m.Stride, c}, Matrix[float64]{panel.Rows, cols, q.width, spill})
		}
	}
}

// pair is two neighbouring reflections, which are applied one after the other.
type pair struct {
	first, second         []float64 // vectors of the two reflections; the first vector begins one coordinate after the second
	betaFirst, betaSecond float64
	across                float64 // inner product of the two vectors
}

// pairOf returns the reflections H_{j+1} and H_j as a pair. If the number of reflections is odd,
// the last one is paired with the identity.
func pairOf(vectors [][]float64, beta, across []float64, j int) pair {
	p := pair{first: vectors[j][1:], second: vectors[j], betaSecond: beta[j]}
	if j+1 < len(vectors) {
		p.first, p.betaFirst, p.across = vectors[j+1], beta[j+1], across[j+1]
	}
	return p
}
