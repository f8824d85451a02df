package feature

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/crypto/exactmath"
	"github.com/mercer-fl/mercer/kernel"
)

// Numbers returns independent random numbers, either standard normal or uniform in [0, 1).
type Numbers interface {
	NormFloat64() float64
	Float64() float64
}

// Spectrum is the distribution of the random directions of a kernel. The entries of a direction are
// drawn independently, so that the holder of a column can draw the entry of that column. All
// entries are then multiplied by one common scale. Kernels of the Euclidean distance are mixtures
// of Gaussian kernels, and the random scale chooses among these.
type Spectrum struct {
	entry func(Numbers) float64
	unit  float64               // factor of every entry
	scale func(Numbers) float64 // factor of a direction; nil if it is always 1
}

// Shared reports whether directions have random scales, which all holders of columns must draw
// alike.
func (s Spectrum) Shared() bool { return s.scale != nil }

// RBF returns the spectrum of exp(-gamma |x-z|^2), whose entries are normal.
func RBF(gamma float64) Spectrum { return Spectrum{entry: normal, unit: math.Sqrt(2 * gamma)} }

// Manhattan returns the spectrum of the product of Laplace kernels, exp(-gamma times the sum of
// |x_j-z_j|). Its entries have a Cauchy distribution (Rahimi and Recht 2007, figure 1).
func Manhattan(gamma float64) Spectrum { return Spectrum{entry: cauchy, unit: gamma} }

// RationalQuadratic returns the spectrum of (1 + |x-z|^2 / (2 alpha lengthScale^2))^-alpha. Its
// entries are normal, and the squared scale has the distribution Gamma(alpha, rate alpha)
// (Rasmussen and Williams 2006, equation 4.20).
func RationalQuadratic(lengthScale, alpha float64) Spectrum {
	return Spectrum{entry: normal, unit: 1 / lengthScale, scale: func(n Numbers) float64 {
		return math.Sqrt(gamma(n, alpha) / alpha)
	}}
}

// Matern returns the spectrum of Matérn's kernel. It is a multivariate Student's t distribution
// with 2 nu degrees of freedom (Rasmussen and Williams 2006, equation 4.15). With nu = 1/2 it is
// the spectrum of exp(-|x-z| / lengthScale).
func Matern(lengthScale, nu float64) Spectrum {
	return Spectrum{entry: normal, unit: 1 / lengthScale, scale: func(n Numbers) float64 {
		return math.Sqrt(nu / gamma(n, nu))
	}}
}

// SpectrumOf returns the spectrum of the kernel that s specifies. It returns an error for a kernel
// that depends on more than the distance of x and z, for a kernel with an amplitude other than 1, and for a
// kernel that [kernel.New] refuses.
func SpectrumOf(s kernel.Spec) (Spectrum, error) {
	if _, err := kernel.New(s); err != nil {
		return Spectrum{}, err
	}
	if s.Amplitude != 0 && s.Amplitude != 1 {
		return Spectrum{}, errors.New("feature: a kernel with an amplitude has no random features; leave the amplitude out")
	}
	switch s.Name {
	case "rbf":
		return RBF(s.Gamma), nil
	case "laplacian":
		return Matern(1/s.Gamma, 0.5), nil
	case "rational-quadratic":
		return RationalQuadratic(orElse(s.LengthScale, 1), orElse(s.Alpha, 1)), nil
	case "matern":
		return Matern(orElse(s.LengthScale, 1), orElse(s.Nu, 1.5)), nil
	}
	return Spectrum{}, fmt.Errorf("feature: the kernel %s has no random features; use rbf, laplacian, rational-quadratic or matern", s.Name)
}

// orElse returns v, or fallback if v is 0.
func orElse(v, fallback float64) float64 {
	if v == 0 {
		return fallback
	}
	return v
}

func normal(n Numbers) float64 { return n.NormFloat64() }

// cauchy draws a number of the Cauchy distribution as the ratio of two normal numbers.
func cauchy(n Numbers) float64 {
	over, under := n.NormFloat64(), n.NormFloat64()
	for under == 0 {
		under = n.NormFloat64()
	}
	return over / under
}

// gamma draws a number of the gamma distribution, with the density x^(shape-1) exp(-x) up to a
// factor (Marsaglia and Tsang 2000, "A simple method for generating gamma variables"; below shape 1
// by their section 6). The number has the same bits on every machine, because all holders of
// columns must draw the same scales: if only some holders accepted a number, the generators of the
// holders would be out of step from then on.
func gamma(n Numbers, shape float64) float64 {
	if shape >= 1 {
		return gammaFromOne(n, shape)
	}
	for {
		above := gammaFromOne(n, shape+1)
		if g := above * exactmath.ExpNegative(-exactmath.Log(1-n.Float64())/shape); g > 0 {
			return g
		}
	}
}

func gammaFromOne(n Numbers, shape float64) float64 {
	d := shape - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := n.NormFloat64()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		least := float64(x*x)/2 + d - float64(d*v) + float64(d*exactmath.Log(v))
		if exactmath.Log(1-n.Float64()) < least {
			return d * v
		}
	}
}
