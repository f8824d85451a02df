package kernel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/linalg"
)

// Kernel is a positive semidefinite function of two rows that depends only on their inner products.
// It is safe for concurrent use. [New] returns one.
type Kernel interface {
	// Name returns the name by which [New] knows the kernel.
	Name() string
	// At returns k(x, z), given the inner products x.z, x.x and z.z.
	At(xz, xx, zz float64) float64
	// Map sets dst[j] to At(xz[j], xx, zz[j]). The three slices are of one
	// length; dst can be xz.
	Map(dst []float64, xz []float64, xx float64, zz []float64)
}

// pointwise is a kernel given by a function that computes one value.
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

// mapped is a kernel given by a function that computes many values.
type mapped struct {
	name string
	of   func(dst, xz []float64, xx float64, zz []float64)
}

func (k mapped) Name() string { return k.name }

// At calls the vector function with one entry, so that At and Map round alike.
func (k mapped) At(xz, xx, zz float64) float64 {
	value := [1]float64{xz}
	k.of(value[:], value[:], xx, []float64{zz})
	return value[0]
}

func (k mapped) Map(dst, xz []float64, xx float64, zz []float64) {
	k.of(dst[:len(xz)], xz, xx, zz[:len(xz)])
}

// amplified is a kernel multiplied by a positive number.
type amplified struct {
	Kernel
	by float64
}

func (k amplified) At(xz, xx, zz float64) float64 { return k.by * k.Kernel.At(xz, xx, zz) }

func (k amplified) Map(dst, xz []float64, xx float64, zz []float64) {
	k.Kernel.Map(dst, xz, xx, zz)
	for j := range dst[:len(xz)] {
		dst[j] *= k.by
	}
}

// cosine returns the cosine of the angle between two rows. It is 0 if a row is 0, as in
// scikit-learn.
func cosine(xz, xx, zz float64) float64 {
	if xx == 0 || zz == 0 {
		return 0
	}
	return min(1, max(-1, xz/math.Sqrt(xx*zz)))
}

// family is the set of all kernels of one name.
type family struct {
	name  string
	takes []string // names of the parameters
	build func(Spec) Kernel
}

func families() []family {
	return []family{
		{"linear", nil, linear},
		{"rbf", []string{"gamma", amplitude}, rbf},
		{"polynomial", []string{"gamma", "coef0", "degree"}, polynomial},
		{"rational-quadratic", []string{"length_scale", "alpha", amplitude}, rationalQuadratic},
		{"laplacian", []string{"gamma"}, laplacian},
		{"matern", []string{"length_scale", "nu"}, matern},
		{"cosine", nil, fixed("cosine", cosine)},
		{"tanimoto", nil, fixed("tanimoto", tanimoto)},
		{"dot-product", []string{coefficients}, dotProduct},
	}
}

// coefficients is the name of the list of parameters of the dot-product kernel.
const coefficients = "coefficients"

// amplitude is the name of the parameter that multiplies a kernel.
const amplitude = "amplitude"

// maxDegree is the greatest power in a polynomial or dot-product kernel.
const maxDegree = 64

// dotProduct returns the kernel that is the sum of a_d (x.z)^d, where no a_d is negative. Every
// continuous function of x.z alone that is positive semidefinite in all dimensions is such a sum,
// possibly infinite (Schoenberg 1942). Every product is rounded separately, so that values are the
// same on all machines.
func dotProduct(s Spec) Kernel {
	last := len(s.Coefficients) - 1
	return pointwise{s.Name, func(xz, _, _ float64) float64 {
		sum := s.Coefficients[last]
		for d := last - 1; d >= 0; d-- {
			sum = float64(sum*xz) + s.Coefficients[d]
		}
		return sum
	}}
}

func laplacian(s Spec) Kernel {
	return mapped{s.Name, func(dst, xz []float64, xx float64, zz []float64) {
		linalg.Laplacian(dst, xz, xx, zz, s.Gamma)
	}}
}

func linear(Spec) Kernel {
	return mapped{"linear", func(dst, xz []float64, _ float64, _ []float64) { copy(dst, xz) }}
}

func matern(s Spec) Kernel {
	return mapped{s.Name, func(dst, xz []float64, xx float64, zz []float64) {
		switch s.Nu {
		case 0.5:
			linalg.Laplacian(dst, xz, xx, zz, 1/s.LengthScale)
		case 1.5:
			linalg.Matern32(dst, xz, xx, zz, s.LengthScale)
		default:
			linalg.Matern52(dst, xz, xx, zz, s.LengthScale)
		}
	}}
}

func polynomial(s Spec) Kernel {
	return mapped{s.Name, func(dst, xz []float64, _ float64, _ []float64) {
		linalg.Polynomial(dst, xz, s.Gamma, s.Coef0, s.Degree)
	}}
}

func rationalQuadratic(s Spec) Kernel {
	return mapped{s.Name, func(dst, xz []float64, xx float64, zz []float64) {
		linalg.RationalQuadratic(dst, xz, xx, zz, s.LengthScale, s.Alpha)
	}}
}

func rbf(s Spec) Kernel {
	return mapped{s.Name, func(dst, xz []float64, xx float64, zz []float64) {
		linalg.RBF(dst, xz, xx, zz, s.Gamma)
	}}
}

// tanimoto computes the Tanimoto kernel (Ralaivola, Swamidass, Saigo, Baldi 2005). It is 1 for two
// rows of zeros.
func tanimoto(xz, xx, zz float64) float64 {
	if union := xx + zz - xz; union > 0 {
		return xz / union
	}
	return 1
}

func fixed(name string, at func(xz, xx, zz float64) float64) func(Spec) Kernel {
	return func(Spec) Kernel { return pointwise{name, at} }
}

func (f family) takesParameter(name string) bool { return slices.Contains(f.takes, name) }

// parameter describes one numerical parameter of a Spec.
type parameter struct {
	name     string
	fallback float64 // default value, which 0 stands for
	get      func(Spec) float64
	set      func(*Spec, float64)
	valid    func(float64) bool
	want     string
}

func parameters() []parameter {
	return []parameter{
		{
			"gamma", 0, func(s Spec) float64 { return s.Gamma }, func(s *Spec, v float64) { s.Gamma = v },
			positive, positiveRange + `; scikit-learn's gamma="scale" is 1 / (features * variance of all entries)`,
		},
		{
			"coef0", 0, func(s Spec) float64 { return s.Coef0 }, func(s *Spec, v float64) { s.Coef0 = v },
			func(v float64) bool { return v == 0 || positive(v) }, "0 or more, or the kernel is not positive semidefinite",
		},
		{
			"degree", 3, func(s Spec) float64 { return float64(s.Degree) }, func(s *Spec, v float64) { s.Degree = int(v) },
			func(v float64) bool { return 1 <= v && v <= maxDegree }, "1 to 64",
		},
		{
			"length_scale", 1, func(s Spec) float64 { return s.LengthScale }, func(s *Spec, v float64) { s.LengthScale = v },
			positive, positiveRange,
		},
		{
			"alpha", 1, func(s Spec) float64 { return s.Alpha }, func(s *Spec, v float64) { s.Alpha = v },
			positive, positiveRange,
		},
		{
			"nu", 1.5, func(s Spec) float64 { return s.Nu }, func(s *Spec, v float64) { s.Nu = v },
			func(v float64) bool { return v == 0.5 || v == 1.5 || v == 2.5 }, "0.5, 1.5 or 2.5",
		},
		{
			amplitude, 1, func(s Spec) float64 { return s.Amplitude }, func(s *Spec, v float64) { s.Amplitude = v },
			positive, positiveRange,
		},
	}
}

// LeastParameter and MostParameter bound gamma, length_scale, alpha and amplitude, and coef0 and
// coefficients that are not 0. Beyond them, products of parameters could overflow, and the kernel of a row
// with itself could be NaN.
const (
	LeastParameter = 1e-100
	MostParameter  = 1e100
)

// positiveRange describes the numbers from LeastParameter to MostParameter.
const positiveRange = "a number above 0 (1e-100 to 1e100)"

func positive(v float64) bool { return LeastParameter <= v && v <= MostParameter }

// Names returns the names of all kernels.
func Names() []string {
	var names []string
	for _, f := range families() {
		names = append(names, f.name)
	}
	return names
}

// find returns the family with the given name.
func find(name string) (family, error) {
	all := families()
	if i := slices.IndexFunc(all, func(f family) bool { return f.name == name }); i >= 0 {
		return all[i], nil
	}
	meant := ""
	if near, ok := nearest(name); ok {
		meant = fmt.Sprintf("; did you mean %q?", near)
	}
	return family{}, fmt.Errorf("kernel: %q is not the name of a kernel%s (the names are %s)", name, meant, strings.Join(Names(), ", "))
}

// nearest returns the kernel name most similar to the given name, if it is similar enough. It also
// completes an abbreviation such as "poly".
func nearest(name string) (string, bool) {
	for _, known := range Names() {
		if len(name) >= 3 && strings.HasPrefix(known, strings.ToLower(name)) {
			return known, true
		}
	}
	return fuzzymatch.Nearest(name, Names()...)
}

// complete replaces zeros by defaults and checks every parameter.
func (s Spec) complete() (Spec, family, error) {
	f, err := find(s.Name)
	if err != nil {
		return Spec{}, family{}, err
	}
	for _, p := range parameters() {
		if err := p.complete(&s, f); err != nil {
			return Spec{}, family{}, err
		}
	}
	return s, f, s.checkCoefficients(f)
}

func (s Spec) checkCoefficients(f family) error {
	list := s.Coefficients
	switch takes := f.takesParameter(coefficients); {
	case !takes && list == nil:
		return nil
	case !takes:
		return fmt.Errorf("kernel: %s has no parameter %s; it takes %s", f.name, coefficients, f.parameterList())
	}
	return validateCoefficients(list)
}

// validateCoefficients refuses a list of coefficients that is too short or too long, a coefficient that is
// negative or out of range, and a last coefficient of 0.
func validateCoefficients(list []float64) error {
	if len(list) < 2 || len(list) > maxDegree+1 {
		return fmt.Errorf("kernel: dot-product needs 2 to %d coefficients, one for each power from 0 on, but %d are given", maxDegree+1, len(list))
	}
	for d, a := range list {
		if a != 0 && !positive(a) {
			return fmt.Errorf("kernel: the coefficient of power %d is %v; it must be 0 or %s, because otherwise the kernel would not be positive semidefinite", d, a, positiveRange)
		}
	}
	if list[len(list)-1] == 0 {
		return errors.New("kernel: the last coefficient is 0; remove it")
	}
	return nil
}

func (p parameter) complete(s *Spec, f family) error {
	v := p.get(*s)
	switch {
	case !f.takesParameter(p.name) && v == 0:
		return nil
	case !f.takesParameter(p.name):
		return fmt.Errorf("kernel: %s has no parameter %s; it takes %s", f.name, p.name, f.parameterList())
	case v == 0 && p.fallback != 0:
		p.set(s, p.fallback)
		return nil
	case v == 0 && !p.valid(v):
		return fmt.Errorf("kernel: %s needs the parameter %s; it must be %s", f.name, p.name, p.want)
	case !p.valid(v):
		return fmt.Errorf("kernel: %s of %s is %v; it must be %s", p.name, f.name, v, p.want)
	}
	return nil
}

func (f family) parameterList() string {
	if len(f.takes) == 0 {
		return "no parameters"
	}
	return strings.Join(f.takes, ", ")
}
