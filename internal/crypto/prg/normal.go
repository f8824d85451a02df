package prg

import (
	"encoding/binary"
	"math"

	"github.com/mercer-fl/mercer/internal/crypto/exactmath"
)

// These constants define the ziggurat of Marsaglia and Tsang (2000, Journal of Statistical Software
// 5(8)) for the density exp(-x^2/2), x >= 0. The ziggurat has 256 strips of equal area. The lowest
// strip holds the tail beyond tailStart. The layer, the sign and the magnitude come from different
// bits of one word (Doornik, 2005): bits 0-7, 8 and 11-63.
const (
	layers    = 256
	tailStart = 3.6541528853610088   // R
	stripArea = 0.004928673233974655 // R exp(-R^2/2) + the integral of the tail
)

// ziggurat holds the strips from the base (index 0) to the top.
type ziggurat struct {
	inside [layers]uint64  // magnitudes below this bound are certainly under the density
	scale  [layers]float64 // width of the strip / 2^53
	top    [layers]float64 // height of the strip's upper edge
}

// normal is the ziggurat, computed once before main by basic arithmetic only.
var normal = newZiggurat()

func newZiggurat() *ziggurat {
	x := edges()
	z := new(ziggurat)
	for i := range layers {
		z.inside[i] = uint64(x[i+1] / x[i] * 0x1p53)
		z.scale[i] = x[i] * 0x1p-53
		z.top[i] = exactmath.ExpNegative(half(x[i+1]))
	}
	return z
}

// edges returns the right edges of all strips. The edge of the base is that of a rectangle with the
// same height and area as the base with the tail. The last edge is 0, at the peak.
func edges() *[layers + 1]float64 {
	y := exactmath.ExpNegative(half(tailStart))
	x := &[layers + 1]float64{stripArea / y, tailStart}
	for i := 1; i < layers-1; i++ {
		y += stripArea / x[i]
		x[i+1] = math.Sqrt(-2 * exactmath.Log(y))
	}
	return x
}

// NormFloat64 returns a standard normal number. One word of the stream is enough for 98.8 % of the
// numbers.
func (s *Stream) NormFloat64() float64 {
	for {
		u := s.Uint64()
		i, magnitude := u&(layers-1), u>>11
		x := float64(magnitude) * normal.scale[i]
		if magnitude >= normal.inside[i] {
			ok := false
			if x, ok = s.edge(i, x); !ok {
				continue
			}
		}
		return math.Float64frombits(math.Float64bits(x) | (u>>8&1)<<63)
	}
}

// Normals fills dst with the same numbers as calls of NormFloat64, but faster. It fills the buffer
// with little more of the keystream than the numbers need, in multiples of atOnce bytes.
func (s *Stream) Normals(dst []float64) {
	for len(dst) > 0 {
		if s.pos == s.end {
			s.fillAtMost(8 * (len(dst) + len(dst)/32 + 2))
		}
		dst = dst[s.certain(dst):]
		if len(dst) > 0 && s.pos < s.end {
			dst[0] = s.NormFloat64()
			dst = dst[1:]
		}
	}
}

// certain fills dst from the buffer until a number may be above the density or the buffer ends.
// It returns the number of numbers drawn.
func (s *Stream) certain(dst []float64) int {
	words := s.buf[s.pos:s.end]
	for i := range dst {
		if len(words) < 8 {
			return i
		}
		u := binary.LittleEndian.Uint64(words)
		layer, magnitude := u&(layers-1), u>>11
		if magnitude >= normal.inside[layer] {
			return i
		}
		x := float64(magnitude) * normal.scale[layer]
		dst[i] = math.Float64frombits(math.Float64bits(x) | (u>>8&1)<<63)
		words = words[8:]
		s.pos += 8
	}
	return len(dst)
}

// edge decides whether to accept a point that is not certainly under the density.
func (s *Stream) edge(layer uint64, x float64) (float64, bool) {
	if layer == 0 {
		return s.tail(), true
	}
	lo, hi := normal.top[layer-1], normal.top[layer]
	y := lo + float64(s.Float64()*(hi-lo))
	return x, y < exactmath.ExpNegative(half(x))
}

// tail draws a number beyond tailStart (Marsaglia, 1964).
func (s *Stream) tail() float64 {
	for {
		a := -exactmath.Log(s.open()) / tailStart
		b := -exactmath.Log(s.open())
		if 2*b > float64(a*a) {
			return tailStart + a
		}
	}
}

// open returns a number in (0, 1].
func (s *Stream) open() float64 { return float64(s.Uint64()>>11+1) * 0x1p-53 }

// half returns x*x/2 with x*x rounded on every machine. In x*x/2 - t, a machine might fuse
// operations.
func half(x float64) float64 { return float64(x*x) / 2 }
