package linalg

// The portable micro-kernel is the twin of those in assembly. It converts each
// product to T before adding it, which is no idle conversion: it forbids the
// compiler to fuse the two, so that results are the same on all machines.

// portable returns the micro-kernel in plain Go.
func portable[T Float]() micro[T] {
	return micro[T]{4, 4, false, setPortable[T], addPortable[T], peakPortable[T], 8}
}

func setPortable[T Float](k int, a, b, c []T, stride int) {
	for i := range 4 {
		s0, s1, s2, s3 := innerProducts(k, i, a, b)
		row := c[i*stride:][:4]
		row[0], row[1], row[2], row[3] = s0, s1, s2, s3
	}
}

func addPortable[T Float](k int, a, b, c []T, stride int) {
	for i := range 4 {
		s0, s1, s2, s3 := innerProducts(k, i, a, b)
		row := c[i*stride:][:4]
		row[0], row[1], row[2], row[3] = row[0]+s0, row[1]+s1, row[2]+s2, row[3]+s3
	}
}

// askingPortable leaves it to the caches.
func askingPortable(k int, a, b, c []float64, stride int, _ []float64, _ int) {
	setPortable(k, a, b, c, stride)
}

// innerProducts returns the inner products of row i of a panel of a with the four rows
// of a panel of b.
func innerProducts[T Float](k, i int, a, b []T) (s0, s1, s2, s3 T) {
	for c := range k {
		v, w := a[4*c+i], b[4*c:][:4]
		s0, s1, s2, s3 = s0+T(v*w[0]), s1+T(v*w[1]), s2+T(v*w[2]), s3+T(v*w[3]) //nolint:unconvert // see above
	}
	return s0, s1, s2, s3
}

// peakPortable keeps eight sums going, as many as additions take cycles.
func peakPortable[T Float](turns int) {
	s, v, w := [8]T{1, 2, 3, 4, 5, 6, 7, 8}, T(0.5), T(1)
	s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
	for range turns {
		s0, s1, s2, s3 = w+T(v*s0), w+T(v*s1), w+T(v*s2), w+T(v*s3) //nolint:unconvert // see above
		s4, s5, s6, s7 = w+T(v*s4), w+T(v*s5), w+T(v*s6), w+T(v*s7) //nolint:unconvert // see above
	}
	if s0+s1+s2+s3+s4+s5+s6+s7 < 0 { // never, but the compiler does not know
		panic("linalg: a sum of positive numbers is negative")
	}
}
