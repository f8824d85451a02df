package linalg

import "fmt"

// lanes is how many vectors are reflected together.
const lanes = 16

// Reflect sets each row x of m, of n values, to H_0 H_1 ... H_{c-1} D x. D
// multiplies the first c coordinates by their signs, 1 or -1. Householder's reflections H_j = I - beta[j] v_j v_j^T are of the coordinates j
// to n-1: vectors[j] holds v_j, n-j values, and c is at most n. What becomes of
// a row does not depend on the others. That takes about as many multiply-adds
// as the product with an n x c matrix, and the matrix is never made. It runs on
// one core; use it inside For. It panics on other lengths.
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
	n, c := m.Cols, len(vectors)
	Scratch(n*lanes+(c+1)*(n+1), func(room []float64) {
		x, pairs := room[:n*lanes], pairUp(room[n*lanes:], vectors)
		for i := 0; i < m.Rows; i += lanes {
			panel := m.Panel(i, min(i+lanes, m.Rows))
			packPanel(x, panel, lanes, 0, n)
			flipLanes(x, signs)
			for at, pair := range pairs {
				pair.apply(p, x, beta, c-1-2*at)
			}
			unpackPanel(panel, x, lanes)
		}
	})
}

// flipLanes is D. A product takes no branch, which signs would make at random.
func flipLanes(x []float64, signs []int8) {
	for j, s := range signs {
		factor := float64(s)
		at := x[j*lanes:][:lanes]
		for l, v := range at {
			at[l] = v * factor
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
