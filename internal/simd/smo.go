package simd

// SMOWidth divides the number of entries that a pass takes, and bounds its lanes.
const SMOWidth = 16

// SMO holds both passes of sequential minimal optimisation, nil on the portable
// path. They keep what they found in each of Lanes lanes, with the first index of the
// turn that it was found in, or -1; a turn has Lanes entries. Place holds 1 for an
// entry that can grow, and 2 for one that can shrink.
type SMO[T float] struct {
	Lanes int
	// Move adds a x + b y to f and finds the lowest value of the entries that can
	// grow, the last of equals, and the highest of those that can shrink.
	Move func(n int, f []float64, a float64, x []T, b float64, y []T, place []uint8, low *[SMOWidth]float64, at *[SMOWidth]int64, high *[SMOWidth]float64)
	// Partner finds the largest decrease (f - fi)^2 / a of the entries that can shrink
	// and are above fi, with a = kii + diagonal - 2 row, or tau where that is not above
	// 0. It divides only where (f - fi)^2 is not below slack times best a.
	Partner func(n int, f, diagonal []float64, row []T, place []uint8, fi, kii, tau, slack float64, best *[SMOWidth]float64, at *[SMOWidth]int64)
}

// SMOOf returns the passes of a path.
func SMOOf[T float](p Path) SMO[T] {
	if isSingle[T]() {
		return any(smo32(p)).(SMO[T])
	}
	return any(smo64(p)).(SMO[T])
}
