package simd

const (
	abreast = 8       // values of a row, a line of the cache
	turned  = 1 << 31 // changes the sign of a row, in its place
)

// Interleaved holds the kernels of rows of 8 values, and of strips of 4 such rows; n
// is positive.
type Interleaved struct {
	// Turn multiplies row i of n by scale, and by -scale where signs[i] is below 0.
	Turn func(n int, x []float64, signs []int8, scale float64)
	// CopyStrips copies n strips that lie distances apart, AskStrips asks the caches
	// for them.
	CopyStrips func(n int, to []float64, toDistance int, from []float64, fromDistance int)
	AskStrips  func(n int, x []float64, distance int)
	neighbours func(n int, x []float64) // three levels of each of n times 8 rows
	// Scatter sends each of n rows to its place, in rows, with its sign changed where
	// 2^31 is added to the place; a place behind the last row is the last.
	// ScatterEighths does three levels of 8 n rows, a distance of rows apart, on the
	// way.
	Scatter, ScatterEighths func(n int, to, from []float64, distance int, places []uint32, scale float64)
}

var portableInterleaved = Interleaved{turnRows, copyStrips, func(int, []float64, int) {}, neighbours, scatterRows, scatterEighths}

// Parts does each part of x, of part values in rows of q, to the end of its
// transform, the highest levels first.
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

func copyStrips(n int, to []float64, toDistance int, from []float64, fromDistance int) {
	for i := range n {
		copy(to[i*toDistance:][:4*abreast], from[i*fromDistance:])
	}
}

func scatterRows(_ int, to, from []float64, _ int, places []uint32, scale float64) {
	last := uint32(len(to)/abreast - 1)
	for i, place := range places {
		factor := scale
		if place >= turned {
			factor = -scale
		}
		row := to[abreast*min(place%turned, last):]
		for j, v := range from[abreast*i:][:abreast] {
			row[j] = factor * v
		}
	}
}

func scatterEighths(n int, to, from []float64, distance int, places []uint32, scale float64) {
	eighths(abreast*n, from, abreast*distance, from, abreast*distance)
	scatterRows(8*n, to, from, 0, places, scale)
}
