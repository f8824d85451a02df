package okra

import (
	"math"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
)

// A random frame is a uniformly (Haar) distributed r x c matrix with orthonormal columns. It is the
// factor Q of Householder's QR decomposition of an r x c Gaussian matrix, with each column
// multiplied by the sign of R's diagonal entry. The decomposition itself need not be computed: its
// reflections are those of independent Gaussian vectors of lengths r, r-1, ... (Stewart, SIAM J.
// Numer. Anal. 17(3), 1980). So Q = H_0 H_1 ... H_{c-1} D [I; 0], where H_j acts on coordinates j
// to r-1 and D is a diagonal matrix of signs. Q takes no memory, because each vector is drawn when
// its reflection is applied.

// reflection is H = I - beta v v^T. It maps the Gaussian vector g from which it was made to a
// multiple of the first unit vector: sign |g| e_1, where sign is the field.
type reflection struct {
	v    []float64
	beta float64
	sign float64 // the reflection's entry in the diagonal matrix D
}

// vectorPlace returns the block of the random stream at which vector j of a frame begins. A vector
// has 2^20 blocks of 16 bytes, far more than the longest vector needs, and a frame has room for
// 2^20 vectors. The 2^40 blocks before frame 0 are reserved for the permutations and signs of
// encoders block and hbh.
func vectorPlace(frame, j int) uint64 { return uint64(frame+1)<<40 | uint64(j)<<20 }

// drawReflection draws the j-th Gaussian vector of a frame into v and turns it into a reflection.
func drawReflection(s *prg.Stream, frame, j int, v []float64) reflection {
	s.Seek(vectorPlace(frame, j))
	s.Normals(v)
	norm := math.Sqrt(dot(v, v))
	r := reflection{v: v, sign: -1}
	if math.Signbit(v[0]) {
		r.sign = 1
	}
	if norm > 0 { // a vector of zeros has no direction to reflect
		r.beta = 1 / (norm * (norm + math.Abs(v[0]))) // equals 2 / |v|^2 once v[0] has its final value
	}
	v[0] -= r.sign * norm
	return r
}

// dot returns the inner product of x and y.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	var a, b, c, d float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += x[i] * y[i]
		b += x[i+1] * y[i+1]
		c += x[i+2] * y[i+2]
		d += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		a += x[i] * y[i]
	}
	return a + b + (c + d)
}

// axpy adds a times y to x.
func axpy(x []float64, a float64, y []float64) {
	y = y[:len(x)]
	for i := range x {
		x[i] += a * y[i]
	}
}
