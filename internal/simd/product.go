package simd

// Micro is a micro-kernel, the innermost loop of a matrix product. It holds a small tile of the
// product in registers (Goto, van de Geijn 2008, Anatomy of high-performance matrix
// multiplication).
type Micro[T float] struct {
	// Rows and Cols are the size of the tile. Both divide 48, the least edge of a tile of linalg's
	// products.
	Rows, Cols int
	// Fused reports whether each multiplication is fused with its addition, without rounding in
	// between.
	Fused bool
	// Set writes the product of two panels into the tile c, whose rows are stride values apart. The
	// panels are k columns of a (Rows values per column) and k columns of b (Cols values per
	// column). Set sums up the columns from the first to the last. Add adds the same product to c.
	Set, Add func(k int, a, b, c []T, stride int)
	// Peak runs the given number of turns of a loop with PerTurn multiplications and additions per
	// turn.
	Peak    func(turns int)
	PerTurn int
}

// MicroOf returns the micro-kernel for a path.
func MicroOf[T float](p Path) Micro[T] {
	if isSingle[T]() {
		return any(micro32(p)).(Micro[T])
	}
	return any(micro64(p)).(Micro[T])
}

// Asking is a micro-kernel that computes a tile like Set of Micro, but only for the first vectors
// of a panel of b. Meanwhile it prefetches another tile, which is at ahead.
type Asking func(k int, a, b, c []float64, stride int, ahead []float64, aheadStride int)

// The portable micro-kernel converts each product to T before it adds the product. The conversion
// forbids the compiler to fuse the two operations, so that results are the same on all machines.

func portableMicro[T float]() Micro[T] {
	return Micro[T]{4, 4, false, setPortable[T], addPortable[T], peakPortable[T], 8}
}

func setPortable[T float](k int, a, b, c []T, stride int) {
	for i := range 4 {
		s0, s1, s2, s3 := innerProducts(k, i, a, b)
		row := c[i*stride:][:4]
		row[0], row[1], row[2], row[3] = s0, s1, s2, s3
	}
}

func addPortable[T float](k int, a, b, c []T, stride int) {
	for i := range 4 {
		s0, s1, s2, s3 := innerProducts(k, i, a, b)
		row := c[i*stride:][:4]
		row[0], row[1], row[2], row[3] = row[0]+s0, row[1]+s1, row[2]+s2, row[3]+s3
	}
}

// askingPortable calls setPortable and prefetches nothing.
func askingPortable(k int, a, b, c []float64, stride int, _ []float64, _ int) {
	setPortable(k, a, b, c, stride)
}

// innerProducts returns the inner products of row i of a panel of a with the four rows
// of a panel of b.
func innerProducts[T float](k, i int, a, b []T) (s0, s1, s2, s3 T) {
	for c := range k {
		v, w := a[4*c+i], b[4*c:][:4]
		s0, s1, s2, s3 = s0+T(v*w[0]), s1+T(v*w[1]), s2+T(v*w[2]), s3+T(v*w[3]) //nolint:unconvert // see above
	}
	return s0, s1, s2, s3
}

// peakPortable adds to eight sums in turn, because an addition takes several cycles.
func peakPortable[T float](turns int) {
	s, v, w := [8]T{1, 2, 3, 4, 5, 6, 7, 8}, T(0.5), T(1)
	s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
	for range turns {
		s0, s1, s2, s3 = w+T(v*s0), w+T(v*s1), w+T(v*s2), w+T(v*s3) //nolint:unconvert // see above
		s4, s5, s6, s7 = w+T(v*s4), w+T(v*s5), w+T(v*s6), w+T(v*s7) //nolint:unconvert // see above
	}
	if s0+s1+s2+s3+s4+s5+s6+s7 < 0 { // is never true, but the compiler does not know
		panic("simd: a sum of positive numbers is negative")
	}
}

// Lanes is the number of vectors that are reflected together.
const Lanes = 16

// Reflections applies two Householder reflections to Lanes vectors. It applies the reflection with
// the direction first before the reflection with the direction second. Row i of x holds coordinate
// i of all vectors. The slice second has a value for each row of x, and first a value for each row
// from row 1 on. The number across is the inner product of first and the values of second from
// index 1 on.
type Reflections func(x, first, second []float64, betaFirst, betaSecond, across float64)

// reflectPortable applies two Householder reflections in plain Go, like the functions in assembly.
func reflectPortable(x, first, second []float64, betaFirst, betaSecond, across float64) {
	var s0, s1 [Lanes]float64
	for l, value := range x[:Lanes] {
		s1[l] = value * second[0]
	}
	for i, v0 := range first {
		v1 := second[i+1]
		for l, value := range x[(i+1)*Lanes:][:Lanes] {
			s0[l] += value * v0
			s1[l] += value * v1
		}
	}
	for l := range Lanes {
		s0[l] *= -betaFirst
		s1[l] = -betaSecond * (s1[l] + across*s0[l])
		x[l] += second[0] * s1[l]
	}
	for i, v0 := range first {
		v1 := second[i+1]
		at := x[(i+1)*Lanes:][:Lanes]
		for l := range at {
			at[l] += v0*s0[l] + v1*s1[l]
		}
	}
}
