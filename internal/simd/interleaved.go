package simd

const (
	abreast = 8       // number of values of a row, which is a cache line
	turned  = 1 << 31 // bit in a row's destination index that flips the sign of the row
)

// Interleaved holds functions on rows of 8 values and on strips of 4 such rows. The number n of
// rows or strips must be positive.
type Interleaved struct {
	// Turn multiplies row i of x by scale, or by -scale if signs[i] is below 0, for n rows.
	Turn func(n int, x []float64, signs []int8, scale float64)
	// CopyStrips copies n strips. They start dstDistance numbers apart in dst, srcDistance in src.
	// AskStrips prefetches them.
	CopyStrips func(n int, dst []float64, dstDistance int, src []float64, srcDistance int)
	AskStrips  func(n int, x []float64, distance int)
	neighbours func(n int, x []float64) // computes three levels of a transform of each group of 8 rows, for n groups
	// Scatter multiplies n rows by scale and writes row i to row places[i] of dst. It flips the
	// row's sign if 2^31 is added to the place. A place beyond the last row selects the last row.
	// ScatterEighths does the same for 8 n rows, after three levels of a transform that combines the
	// rows i, i + distance, ..., i + 7 distance.
	Scatter, ScatterEighths func(n int, dst, src []float64, distance int, places []uint32, scale float64)
}

var portableInterleaved = Interleaved{turnRows, copyStrips, func(int, []float64, int) {}, neighbours, scatterRows, scatterEighths}

// Parts completes the transform of each part of x, the highest levels first. A part has part values
// in rows of q values.
func (a Interleaved) Parts(b Butterflies[float64], x []float64, part, q int) {
	switch {
	case part == q:
	case part == 8*q && q == abreast:
		a.neighbours(len(x)/part, x)
	default:
		step, n := b.Top(part / q)
		smaller := part / n
		for i := 0; i < len(x); i += part {
			at := x[i : i+part]
			step(smaller, at, smaller, at, smaller)
			a.Parts(b, at, smaller, q)
		}
	}
}

func turnRows(n int, x []float64, signs []int8, scale float64) {
	for i, s := range signs[:n] {
		factor := scale
		if s < 0 {
			factor = -scale
		}
		for j := range abreast {
			x[abreast*i+j] *= factor
		}
	}
}

func neighbours(n int, x []float64) {
	for i := range n {
		at := x[8*abreast*i:]
		eighths(abreast, at, abreast, at, abreast)
	}
}

func copyStrips(n int, dst []float64, dstDistance int, src []float64, srcDistance int) {
	for i := range n {
		copy(dst[i*dstDistance:][:4*abreast], src[i*srcDistance:])
	}
}

func scatterRows(_ int, dst, src []float64, _ int, places []uint32, scale float64) {
	last := uint32(len(dst)/abreast - 1)
	for i, place := range places {
		factor := scale
		if place >= turned {
			factor = -scale
		}
		row := dst[abreast*min(place%turned, last):]
		for j, v := range src[abreast*i:][:abreast] {
			row[j] = factor * v
		}
	}
}

func scatterEighths(n int, dst, src []float64, distance int, places []uint32, scale float64) {
	eighths(abreast*n, src, abreast*distance, src, abreast*distance)
	scatterRows(8*n, dst, src, 0, places, scale)
}
