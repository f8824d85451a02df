package linalg

import "fmt"

// lanes is the number of vectors that are reflected together.
const lanes = 16

// Reflect sets each row x of m, of n values, to H_0 H_1 ... H_{c-1} [D; 0] x of
// its first c values, whatever the others are. D multiplies them by their
// signs, 1 or -1. Householder's reflections H_j = I - beta[j] v_j v_j^T are of
// the coordinates j to n-1: vectors[j] holds v_j, n-j values, and c is at most n.
// What becomes of a row does not depend on the others. That takes as long as
// making the n x c matrix, about the time of reflecting c/2 rows, and the
// product with it. It runs on one core; use it inside For. It panics on other
// lengths.
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
	frame := ceil(m.Cols, kernel.cols) * c
	Scratch(frame+(c+kernel.cols)*kernel.rows, func(room []float64) {
		q := panels[float64]{kernel.cols, c, room[:frame]}
		makeFrame(p, q, m.Cols, signs, vectors, beta)
		mulRows(p, m, q, room[frame:])
	})
}

// makeFrame packs the n x c matrix of the reflections, lanes columns at a time:
// each begins as a column of D. Reflections that leave those columns as they
// are, because they are of later coordinates, are left out.
func makeFrame(path Path, q panels[float64], n int, signs []int8, vectors [][]float64, beta []float64) {
	c, reflect := len(vectors), reflector(path)
	Scratch(n*lanes+c, func(room []float64) {
		x, across := room[:n*lanes], room[n*lanes:]
		for j := 1; j < c; j += 2 {
			across[j] = dot(vectors[j], vectors[j-1][1:])
		}
		for first := 0; first < c; first += lanes {
			end := min(first+lanes, c)
			clear(x)
			for j := first; j < end; j++ {
				x[j*lanes+j-first] = float64(signs[j])
			}
			for j := (end - 1) &^ 1; j >= 0; j -= 2 {
				p := pairOf(vectors, beta, across, j)
				reflect(x[j*lanes:], p.first, p.second, p.betaFirst, p.betaSecond, p.across)
			}
			q.setColumns(x, n, first, end)
		}
	})
}

// setColumns copies columns first to end-1 of n rows, which are lanes values
// apart in x.
func (p panels[T]) setColumns(x []T, n, first, end int) {
	through, _ := transposers64(Paths()[0])
	for i := 0; i < n; i += p.width {
		columns := Matrix[T]{end - first, min(p.width, n-i), p.width, p.at(i)[first*p.width:]}
		unpackPanel(columns, x[i*lanes:], lanes, through)
	}
}

// asking is a micro-kernel like set of micro, for a panel of b's first vectors:
// it is one of a list, the first for one vector, the last for all. Meanwhile it
// asks the caches for the tile at ahead.
type asking func(k int, a, b, c []float64, stride int, ahead []float64, aheadStride int)

// mulRows sets each row x of m to q times its first values. The room is for a
// panel of rows and a tile. The next rows, far away in memory, come while those
// before are worked on.
func mulRows(p Path, m Matrix[float64], q panels[float64], room []float64) {
	rows, kernels := microOf[float64](p).rows, askingKernels(p)
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
	first, second         []float64 // vectors; the first has not the second's first coordinate
	betaFirst, betaSecond float64
	across                float64 // inner product of the vectors
}

// pairOf returns H_{j+1} and H_j. The last of an odd number follows one that
// does nothing.
func pairOf(vectors [][]float64, beta, across []float64, j int) pair {
	p := pair{first: vectors[j][1:], second: vectors[j], betaSecond: beta[j]}
	if j+1 < len(vectors) {
		p.first, p.betaFirst, p.across = vectors[j+1], beta[j+1], across[j+1]
	}
	return p
}

// twoReflections is a way to apply a pair to lanes of as many coordinates as
// the second vector has.
type twoReflections func(x, first, second []float64, betaFirst, betaSecond, across float64)

// reflectPortable is the twin of the kernels in assembly.
func reflectPortable(x, first, second []float64, betaFirst, betaSecond, across float64) {
	var s0, s1 [lanes]float64
	for l, value := range x[:lanes] {
		s1[l] = value * second[0]
	}
	for i, v0 := range first {
		v1 := second[i+1]
		for l, value := range x[(i+1)*lanes:][:lanes] {
			s0[l] += value * v0
			s1[l] += value * v1
		}
	}
	for l := range lanes {
		s0[l] *= -betaFirst
		s1[l] = -betaSecond * (s1[l] + across*s0[l])
		x[l] += second[0] * s1[l]
	}
	for i, v0 := range first {
		v1 := second[i+1]
		at := x[(i+1)*lanes:][:lanes]
		for l := range at {
			at[l] += v0*s0[l] + v1*s1[l]
		}
	}
}
