package job

import (
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/kernel"
)

// Kernel holds a kernel's name and parameters, most with the names of LIBSVM and scikit-learn.
// Parameters that the kernel does not use are zero.
type Kernel struct {
	Name        KernelName
	Gamma       float64 // for rbf, laplacian and polynomial, in GammaUnit; for laplacian-product, without a unit
	GammaUnit   GammaUnit
	Coef0       float64 // for polynomial
	Degree      int     // for polynomial and the Boolean kernels
	Clause      int     // number of people in a term, for kernels dnf and cnf
	Alpha       float64 // for rational-quadratic
	LengthScale float64 // for rational-quadratic and matern
	Nu          float64 // for matern
	Amplitude   float64 // for rbf and rational-quadratic; 0 means 1
	// Coefficients lists the factors of the powers of x.z in kernel dot-product, beginning with the
	// constant.
	Coefficients []float64
}

// GammaUnit names the unit of gamma; "" for a plain number. The process that learns computes the value of
// another unit from the training rows or their Gram matrix; in fdskl, each party computes it over its own
// columns. The number in the file is divided by this value. For the laplacian, whose distance is not squared,
// it is divided by the value's square root.
type GammaUnit string

// The units.
const (
	Median GammaUnit = "median" // median squared distance between training rows
	Norm   GammaUnit = "norm"   // mean squared norm of the training rows
)

// Spec converts the kernel to the form that [kernel.New] takes.
func (k Kernel) Spec() kernel.Spec {
	return kernel.Spec{
		Name: string(k.Name), Gamma: k.Gamma, Coef0: k.Coef0, Degree: k.Degree,
		Alpha: k.Alpha, LengthScale: k.LengthScale, Nu: k.Nu, Amplitude: k.Amplitude, Coefficients: k.Coefficients,
	}
}

// Over converts gamma from its unit to a plain number. The argument is the value of the unit.
func (k Kernel) Over(unit float64) Kernel {
	if k.Name == Laplacian {
		unit = math.Sqrt(unit)
	}
	k.Gamma, k.GammaUnit = k.Gamma/unit, ""
	return k
}

// KernelName names a kernel function.
type KernelName string

// The kernels. Each is a function of the inner products x.z, x.x and z.z of two rows x and z.
const (
	Linear            KernelName = "linear"
	RBF               KernelName = "rbf"
	Polynomial        KernelName = "polynomial"
	RationalQuadratic KernelName = "rational-quadratic"
	Laplacian         KernelName = "laplacian"
	Matern            KernelName = "matern"
	Cosine            KernelName = "cosine"
	Tanimoto          KernelName = "tanimoto"
	DotProduct        KernelName = "dot-product"
)

// LaplacianProduct is the product of a laplacian kernel for each column, exp(-gamma times the sum
// of |x_j-z_j|). It is not a function of inner products, and only protocol fdskl supports it.
const LaplacianProduct KernelName = "laplacian-product"

func kernelNames() []KernelName {
	return append([]KernelName{Linear, RBF, Polynomial, RationalQuadratic, Laplacian, Matern, Cosine, Tanimoto, DotProduct, LaplacianProduct}, BooleanKernels()...)
}

// Formula returns the kernel's formula for rows x and z as text. D is their squared Euclidean
// distance.
func (k KernelName) Formula() string {
	return map[KernelName]string{
		Linear:            "x·z",
		RBF:               "amplitude exp(-gamma D)",
		Polynomial:        "(gamma x·z + coef0)^degree",
		RationalQuadratic: "amplitude (1 + D / (2 alpha length_scale²))^(-alpha)",
		Laplacian:         "exp(-gamma √D)",
		Matern:            "the Matérn kernel of smoothness nu at the distance √D / length_scale",
		Cosine:            "x·z / √(x·x z·z)",
		Tanimoto:          "x·z / (x·x + z·z - x·z)",
		DotProduct:        "a₀ + a₁ x·z + a₂ (x·z)² + ..., with coefficients [a₀, a₁, a₂, ...]",
		LaplacianProduct:  "exp(-gamma sum of |x_j - z_j|)",
		Conjunctive:       "how many sets of degree people all like both items",
		Disjunctive:       "how many sets of degree people have one who likes x and one who likes z",
		DNF:               "how many sets of degree groups of clause people have, for each item, a group in which all like it",
		CNF:               "how many sets of degree groups of clause people have, for each item, one who likes it in every group",
	}[k]
}

// Keys returns the keys that a kernel takes in the job file, except its name.
func (k KernelName) Keys() []string {
	switch k {
	case RBF:
		return []string{"gamma", "gamma_unit", "amplitude"}
	case Laplacian:
		return []string{"gamma", "gamma_unit"}
	case LaplacianProduct:
		return []string{"gamma"}
	case Polynomial:
		return []string{"gamma", "gamma_unit", "coef0", "degree"}
	case RationalQuadratic:
		return []string{"alpha", "length_scale", "amplitude"}
	case Matern:
		return []string{"length_scale", "nu"}
	case DotProduct:
		return []string{"coefficients"}
	case Conjunctive, Disjunctive:
		return []string{"degree"}
	case DNF, CNF:
		return []string{"degree", "clause"}
	}
	return nil
}

// otherKernels returns the kernels by names that other programs give to them.
func otherKernels() map[string]KernelName {
	return map[string]KernelName{"gaussian": RBF, "radial": RBF, "squared-exponential": RBF, "poly": Polynomial, "vanilla": Linear, "jaccard": Tanimoto, "exponential": Laplacian}
}

// Section declares the keys of all kernels.
func (k *Kernel) Section() *section.Section {
	return &section.Section{Name: "kernel", Fields: []section.Field{
		{Key: "name", Value: section.Choice[KernelName]{Noun: "kernel", Dst: &k.Name, Known: kernelNames(), Other: otherKernels()}, Need: "add name: rbf", Doc: "The kernel."},
		{Key: "gamma", Value: section.Number{Dst: &k.Gamma}, List: true, Else: "1 beside gamma_unit; without it the kernel needs gamma",
			Doc: "The factor of the squared distance, the distance or the inner product, above 0."},
		{Key: "gamma_unit", Value: section.Choice[GammaUnit]{Noun: "gamma_unit", Dst: &k.GammaUnit, Known: []GammaUnit{Median, Norm}},
			Else: "none: gamma is a plain number", Doc: "The unit of gamma, measured on the training rows: the median squared distance, or the mean squared norm. Gamma is divided by it."},
		{Key: "coef0", Value: section.Number{Dst: &k.Coef0}, List: true, Else: "0", Doc: "The constant, 0 or more, that polynomial adds to the inner product."},
		{Key: "degree", Value: section.Whole{Dst: &k.Degree}, List: true, Else: "3 with polynomial; the Boolean kernels need it",
			Doc: "The power of polynomial, 1 to 64. For a Boolean kernel, the size of its formulas, 1 to 20."},
		{Key: "clause", Value: section.Whole{Dst: &k.Clause}, Else: "none; dnf and cnf need it", Doc: "The number of people in each group of dnf or cnf, 1 to 20."},
		{Key: "alpha", Value: section.Number{Dst: &k.Alpha}, List: true, Else: "1", Doc: "The mixture of length scales in rational-quadratic, above 0."},
		{Key: "length_scale", Value: section.Number{Dst: &k.LengthScale}, List: true, Else: "1",
			Doc: "The length scale of rational-quadratic and matern, above 0."},
		{Key: "nu", Value: section.Number{Dst: &k.Nu}, List: true, Else: "1.5", Doc: "The smoothness of matern: 0.5, 1.5 or 2.5."},
		{Key: "amplitude", Value: section.Number{Dst: &k.Amplitude}, List: true, Else: "1",
			Doc: "The factor before rbf and rational-quadratic, above 0. With gp, it is the variance of the function."},
		{Key: "coefficients", Value: section.Numbers{Dst: &k.Coefficients, Most: maxCoefficients}, Else: "none; dot-product needs them",
			Doc: "The factors of the powers of the inner product in dot-product, from the constant on: 2 to 65 numbers, none below 0."},
	}, Finish: k.finish}
}

// finish checks the parameters and sets scikit-learn's defaults. The polynomial kernel has the
// defaults of SVC for degree and coef0; the rational quadratic and Matérn kernels have those of Gaussian
// processes.
func (k *Kernel) finish(in *section.Place) error {
	for _, key := range []string{"gamma", "gamma_unit", "coef0", "degree", "clause", "alpha", "length_scale", "nu", "amplitude", "coefficients"} {
		if in.Given(key) && !slices.Contains(k.Name.Keys(), key) {
			return in.Refuse(key, "the %s kernel has no %s; remove it", k.Name, key)
		}
	}
	for _, key := range k.Name.Keys() {
		if err := k.finishParameter(in, key); err != nil {
			return err
		}
	}
	return k.checkRange(in)
}

// checkRange refuses positive parameters beyond the range of package kernel.
func (k *Kernel) checkRange(in *section.Place) error {
	positive := map[string]float64{"gamma": k.Gamma, "alpha": k.Alpha, "length_scale": k.LengthScale, "amplitude": k.Amplitude}
	for _, key := range k.Name.Keys() { // in a fixed order, so that the same file has the same error
		if v := positive[key]; in.Given(key) && v != 0 && (v < kernel.LeastParameter || v > kernel.MostParameter) {
			return in.Refuse(key, "%s is %g; write a number from %g to %g", key, v, kernel.LeastParameter, kernel.MostParameter)
		}
	}
	return nil
}

func (k *Kernel) finishParameter(in *section.Place, key string) error {
	switch key {
	case "gamma":
		if !in.Given(key) && k.GammaUnit == "" {
			return in.Refuse(key, "the %s kernel needs gamma; add one such as \"gamma: 0.5\", or \"gamma_unit: median\" to measure it on the data", k.Name)
		}
		in.Fallback(key, &k.Gamma, 1)
		return in.Positive(key, k.Gamma)
	case "coef0":
		if k.Coef0 < 0 {
			return in.Refuse(key, "coef0 is %g; a number below 0 makes no kernel, so write 0 or more", k.Coef0)
		}
	case "degree":
		return k.finishDegree(in)
	case "coefficients":
		return k.finishCoefficients(in)
	case "clause":
		return checkDegree(in, key, k.Name, k.Clause)
	case "alpha":
		in.Fallback(key, &k.Alpha, 1)
		return in.Positive(key, k.Alpha)
	case "length_scale":
		in.Fallback(key, &k.LengthScale, 1)
		return in.Positive(key, k.LengthScale)
	case "amplitude":
		return k.finishAmplitude(in)
	case "nu":
		in.Fallback(key, &k.Nu, 1.5)
		if k.Nu != 0.5 && k.Nu != 1.5 && k.Nu != 2.5 {
			return in.Refuse(key, "nu is %g; write 0.5, 1.5 or 2.5", k.Nu)
		}
	}
	return nil
}

// finishAmplitude removes an amplitude of 1, so that job files with it and without it give equal
// jobs.
func (k *Kernel) finishAmplitude(in *section.Place) error {
	if !in.Given("amplitude") {
		return nil
	}
	if err := in.Positive("amplitude", k.Amplitude); err != nil {
		return err
	}
	if k.Amplitude == 1 {
		k.Amplitude = 0
	}
	return nil
}

// maxCoefficients is the number of powers from 0 to 64.
const maxCoefficients = 65

func (k *Kernel) finishCoefficients(in *section.Place) error {
	const key = "coefficients"
	switch list := k.Coefficients; {
	case !in.Given(key):
		return in.Refuse(key, "the dot-product kernel needs coefficients; add one for each power of the inner product, such as \"coefficients: [0, 1, 0.5]\"")
	case len(list) < 2:
		return in.Refuse(key, "coefficients needs 2 numbers or more; write the constant and at least one other")
	case slices.Min(list) < 0:
		return in.Refuse(key, "one of the coefficients is %g; a number below 0 makes no kernel, so write 0 or more", slices.Min(list))
	case list[len(list)-1] == 0:
		return in.Refuse(key, "the last of the coefficients is 0; leave it out")
	}
	return nil
}

func (k *Kernel) finishDegree(in *section.Place) error {
	if k.Name != Polynomial {
		return checkDegree(in, "degree", k.Name, k.Degree)
	}
	if !in.Given("degree") {
		k.Degree = 3
	}
	if k.Degree < 1 || k.Degree > 64 {
		return in.Refuse("degree", "degree is %d; write a whole number from 1 to 64", k.Degree)
	}
	return nil
}

// String returns the kernel's name and all its settings.
func (k Kernel) String() string { return k.Section().String() }

// The Boolean kernels compare two items of a recommender. They count the formulas over people that
// are true of both items. Degree is the number of people in a formula. In dnf and cnf, Degree is
// the number of terms, and Clause the number of people in a term. See learn/komd.
const (
	Conjunctive KernelName = "conjunctive" // formula: all people of a set like the item
	Disjunctive KernelName = "disjunctive" // formula: at least one person of a set likes the item
	DNF         KernelName = "dnf"         // formula: OR of terms, each of which is an AND over people
	CNF         KernelName = "cnf"         // formula: AND of terms, each of which is an OR over people
)

// BooleanKernels returns the names of the Boolean kernels.
func BooleanKernels() []KernelName { return []KernelName{Conjunctive, Disjunctive, DNF, CNF} }

// MaxItemDegree is the greatest degree or clause of a kernel between items. It equals learn/komd's
// limit.
const MaxItemDegree = 20

// checkDegree refuses a degree or clause that learn/komd does not support.
func checkDegree(in *section.Place, key string, kernel KernelName, v int) error {
	switch {
	case !in.Given(key):
		return in.Refuse(key, "the %s kernel needs %s; add one such as \"%s: 2\"", kernel, key, key)
	case v < 1 || v > MaxItemDegree:
		return in.Refuse(key, "%s is %d; write 1 to %d", key, v, MaxItemDegree)
	}
	return nil
}
