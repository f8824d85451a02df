package linalg

import "fmt"

// lanes is how many vectors are reflected together.
const lanes = 16

// Reflect sets each row x of m, of n values, to H_0 H_1 ... H_{c-1} [D; 0] x of
// its first c values, whatever the others are. D multiplies them by their
// signs, 1 or -1. Householder's reflections H_j = I - beta[j] v_j v_j^T are of
// the coordinates j to n-1: vectors[j] holds v_j, n-j values, and c is at most n.
// What becomes of a row does not depend on the others. That takes as long as
// making the n x c matrix, about that of reflecting c/2 rows, and the
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
		kernel.mulRows(m, q, room[frame:])
	})
}

// makeFrame packs the n x c matrix of the reflections, lanes columns at a time:
// each begins as a column of D. Reflections that leave those columns as they
// are, because they are of later coordinates, are left out.
func makeFrame(p Path, q panels[float64], n int, signs []int8, vectors [][]float64, beta []float64) {
	c := len(vectors)
	Scratch(n*lanes+(c+1)*(n+1), func(room []float64) {
		x, pairs := room[:n*lanes], pairUp(room[n*lanes:], vectors)
		for first := 0; first < c; first += lanes {
			end := min(first+lanes, c)
			clear(x)
			for j := first; j < end; j++ {
				x[j*lanes+j-first] = float64(signs[j])
			}
			for at := (c - end) / 2; at < len(pairs); at++ {
				pairs[at].apply(p, x, beta, c-1-2*at)
			}
			q.setColumns(x, n, first, end)
		}
	})
}

// setColumns copies columns first to end-1 of n rows, which are lanes values
// apart in x.
func (p panels[T]) setColumns(x []T, n, first, end int) {
	for i := 0; i < n; i += p.width {
		columns := Matrix[T]{end - first, min(p.width, n-i), p.width, p.at(i)[first*p.width:]}
		unpackPanel(columns, x[i*lanes:], lanes)
	}
}

// mulRows sets each row x of m to q times its first values. The room is for a
// panel of rows and a tile. The next rows, far away in memory, come while those
// before are worked on.
func (m micro[T]) mulRows(rows Matrix[T], q panels[T], room []T) {
	x, spill := room[:q.depth*m.rows], room[q.depth*m.rows:]
	for i := 0; i < rows.Rows; i += m.rows {
		panel := rows.Panel(i, min(i+m.rows, rows.Rows))
		packPanel(x, panel, m.rows, 0, q.depth)
		for j := 0; j < rows.Cols; j += m.cols {
			c := panel.Data[j:]
			if i+m.rows < rows.Rows {
				m.ask(rows.Data[(i+m.rows)*rows.Stride+j:], rows.Stride)
			}
			if panel.Rows == m.rows && j+m.cols <= rows.Cols {
				m.set(q.depth, x, q.at(j), c, panel.Stride)
				continue
			}
			m.set(q.depth, x, q.at(j), spill, m.cols)
			inside := Matrix[T]{panel.Rows, min(m.cols, rows.Cols-j), panel.Stride, c}
			copyRows(inside, Matrix[T]{inside.Rows, inside.Cols, m.cols, spill})
		}
	}
}

// pair is two neighbouring reflections, H_j and H_{j-1}: the coordinates of
// both vectors in turn, and their inner product.
type pair struct {
	vectors []float64
	across  float64
}

// pairUp lays out the reflections by pairs, in the order in which they are
// applied: the last ones first. Of an odd number, H_0 is left with a partner
// that does nothing.
func pairUp(room []float64, vectors [][]float64) []pair {
	pairs := make([]pair, 0, (len(vectors)+1)/2)
	for j := len(vectors) - 1; j >= 0; j -= 2 {
		first, second := vectors[j], []float64(nil)
		p := pair{vectors: room[:2*len(first)]}
		if j > 0 {
			second = vectors[j-1]
			p.across = dot(first, second[1:])
			p.vectors = room[:2*len(second)]
		}
		room = room[len(p.vectors):]
		clear(p.vectors)
		shift := len(p.vectors)/2 - len(first)
		for k, v := range first {
			p.vectors[2*(k+shift)] = v
		}
		for k, v := range second {
			p.vectors[2*k+1] = v
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// apply does H_{j-1} H_j, or H_0.
func (p pair) apply(path Path, x, beta []float64, j int) {
	from, second := max(j-1, 0), 0.0
	if j > 0 {
		second = beta[j-1]
	}
	reflector(path)(len(p.vectors)/2, x[from*lanes:], p.vectors, beta[j], second, p.across)
}

// reflectPortable is the twin of the kernels in assembly.
func reflectPortable(k int, x, v []float64, beta0, beta1, across float64) {
	var s0, s1 [lanes]float64
	for i := range k {
		v0, v1 := v[2*i], v[2*i+1]
		for l, value := range x[i*lanes:][:lanes] {
			s0[l] += value * v0
			s1[l] += value * v1
		}
	}
	for l := range lanes {
		s0[l] *= -beta0
		s1[l] = -beta1 * (s1[l] + across*s0[l])
	}
	for i := range k {
		v0, v1 := v[2*i], v[2*i+1]
		at := x[i*lanes:][:lanes]
		for l := range at {
			at[l] += v0*s0[l] + v1*s1[l]
		}
	}
}
