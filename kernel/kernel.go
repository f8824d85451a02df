package kernel

import (
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// Kernel is a positive semidefinite function of two rows that sees their inner
// products only. It is safe for concurrent use. [New] makes one.
type Kernel interface {
	// Name returns the name that New knows the kernel by.
	Name() string
	// At returns k(x, z), given x.z, x.x and z.z.
	At(xz, xx, zz float64) float64
	// Map sets dst[j] to At(xz[j], xx, zz[j]). The three slices are of one
	// length; dst may be xz.
	Map(dst []float64, xz []float64, xx float64, zz []float64)
}

// SquaredDistance returns D = max(0, x.x + z.z - 2 x.z). Rounding would make it
// negative for near-duplicates; it is exactly 0 for x = z.
func SquaredDistance(xz, xx, zz float64) float64 { return max(0, xx+zz-2*xz) }

// pointwise is a kernel by its function.
type pointwise struct {
	name string
	at   func(xz, xx, zz float64) float64
}

func (k pointwise) Name() string { return k.name }

func (k pointwise) At(xz, xx, zz float64) float64 { return k.at(xz, xx, zz) }

func (k pointwise) Map(dst, xz []float64, xx float64, zz []float64) {
	dst, zz = dst[:len(xz)], zz[:len(xz)]
	for j, v := range xz {
		dst[j] = k.at(v, xx, zz[j])
	}
}

func linear(xz, _, _ float64) float64 { return xz }

// gaussian is exp(-gamma D), many values at a time.
type gaussian struct{ gamma float64 }

func rbf(s Spec) Kernel { return gaussian{s.Gamma} }

func (k gaussian) Name() string { return "rbf" }

// At goes the way of Map, because math.Exp may round otherwise.
func (k gaussian) At(xz, xx, zz float64) float64 {
	value := [1]float64{xz}
	k.Map(value[:], value[:], xx, []float64{zz})
	return value[0]
}

func (k gaussian) Map(dst, xz []float64, xx float64, zz []float64) {
	linalg.RBF(dst[:len(xz)], xz, xx, zz[:len(xz)], k.gamma)
}

func polynomial(s Spec) func(xz, xx, zz float64) float64 {
	return func(xz, _, _ float64) float64 { return power(s.Gamma*xz+s.Coef0, s.Degree) }
}

// power is x^n for n >= 0 by repeated squaring, which rounds the same on every
// machine.
func power(x float64, n int) float64 {
	y := 1.0
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			y *= x
		}
		x *= x
	}
	return y
}

// rationalQuadratic takes the power by logarithms: three times as fast as
// math.Pow, and more exact for small D.
func rationalQuadratic(s Spec) func(xz, xx, zz float64) float64 {
	scale := 1 / (2 * s.Alpha * s.LengthScale * s.LengthScale)
	return func(xz, xx, zz float64) float64 {
		return math.Exp(-s.Alpha * math.Log1p(scale*SquaredDistance(xz, xx, zz)))
	}
}

func laplacian(s Spec) func(xz, xx, zz float64) float64 {
	return func(xz, xx, zz float64) float64 {
		return math.Exp(-s.Gamma * math.Sqrt(SquaredDistance(xz, xx, zz)))
	}
}

// matern is the closed form for half-integer nu, with r = sqrt(2 nu D) / l.
func matern(s Spec) func(xz, xx, zz float64) float64 {
	scale := math.Sqrt(2*s.Nu) / s.LengthScale
	r := func(xz, xx, zz float64) float64 { return scale * math.Sqrt(SquaredDistance(xz, xx, zz)) }
	switch s.Nu {
	case 0.5:
		return func(xz, xx, zz float64) float64 { return math.Exp(-r(xz, xx, zz)) }
	case 1.5:
		return func(xz, xx, zz float64) float64 {
			r := r(xz, xx, zz)
			return (1 + r) * math.Exp(-r)
		}
	default:
		return func(xz, xx, zz float64) float64 {
			r := r(xz, xx, zz)
			return (1 + r + r*r/3) * math.Exp(-r)
		}
	}
}

// cosine is 0 when a row is 0, as in scikit-learn.
func cosine(xz, xx, zz float64) float64 {
	if xx == 0 || zz == 0 {
		return 0
	}
	return min(1, max(-1, xz/math.Sqrt(xx*zz)))
}

// tanimoto (Ralaivola, Swamidass, Saigo, Baldi 2005) is 1 for two empty rows.
func tanimoto(xz, xx, zz float64) float64 {
	if union := xx + zz - xz; union > 0 {
		return xz / union
	}
	return 1
}
