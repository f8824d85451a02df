package job

import (
	"slices"

	"github.com/mercer-fl/mercer/kernel"
)

// Kernel names a kernel and its parameters, called as in LIBSVM and
// scikit-learn. Parameters that the kernel does not use are zero.
type Kernel struct {
	Name        KernelName
	Gamma       float64 // rbf, laplacian, polynomial
	Coef0       float64 // polynomial
	Degree      int     // polynomial
	Alpha       float64 // rational-quadratic
	LengthScale float64 // rational-quadratic
}

// Spec returns what [kernel.New] takes.
func (k Kernel) Spec() kernel.Spec {
	return kernel.Spec{
		Name: string(k.Name), Gamma: k.Gamma, Coef0: k.Coef0, Degree: k.Degree,
		Alpha: k.Alpha, LengthScale: k.LengthScale,
	}
}

// KernelName names a family of kernels.
type KernelName string

// The kernels. Each is a function of x.z, x.x and z.z.
const (
	Linear            KernelName = "linear"
	RBF               KernelName = "rbf"
	Polynomial        KernelName = "polynomial"
	RationalQuadratic KernelName = "rational-quadratic"
	Laplacian         KernelName = "laplacian"
	Cosine            KernelName = "cosine"
	Tanimoto          KernelName = "tanimoto"
)

func kernelNames() []KernelName {
	return []KernelName{Linear, RBF, Polynomial, RationalQuadratic, Laplacian, Cosine, Tanimoto}
}

// parameters returns the keys that a kernel takes, beside its name.
func (k KernelName) parameters() []string {
	switch k {
	case RBF, Laplacian:
		return []string{"gamma"}
	case Polynomial:
		return []string{"gamma", "coef0", "degree"}
	case RationalQuadratic:
		return []string{"alpha", "length_scale"}
	}
	return nil
}

func (k *Kernel) section() *section {
	return &section{name: "kernel", fields: []field{
		{key: "name", value: choice[KernelName]{"kernel", &k.Name, kernelNames(), []KernelName{"matern"}}, need: "add name: rbf"},
		{key: "gamma", value: number{&k.Gamma}},
		{key: "coef0", value: number{&k.Coef0}},
		{key: "degree", value: whole{&k.Degree}},
		{key: "alpha", value: number{&k.Alpha}},
		{key: "length_scale", value: number{&k.LengthScale}},
		{key: "nu", value: later{"it belongs to the matern kernel"}},
	}, finish: k.finish}
}

// finish takes its defaults from scikit-learn: those of SVC for the polynomial
// kernel, that of its Gaussian processes for the rational quadratic.
func (k *Kernel) finish(in *place) error {
	for _, key := range []string{"gamma", "coef0", "degree", "alpha", "length_scale"} {
		if in.given(key) && !slices.Contains(k.Name.parameters(), key) {
			return in.refuse(key, "the %s kernel has no %s; remove it", k.Name, key)
		}
	}
	for _, key := range k.Name.parameters() {
		if err := k.finishParameter(in, key); err != nil {
			return err
		}
	}
	return nil
}

func (k *Kernel) finishParameter(in *place, key string) error {
	switch key {
	case "gamma":
		if !in.given(key) {
			return in.refuse(key, "the %s kernel needs gamma; add one such as gamma: 0.5", k.Name)
		}
		return in.positive(key, k.Gamma)
	case "coef0":
		if k.Coef0 < 0 {
			return in.refuse(key, "coef0 is %g; below 0 this is no kernel, so write 0 or more", k.Coef0)
		}
	case "degree":
		if !in.given(key) {
			k.Degree = 3
		}
		if k.Degree < 1 || k.Degree > 64 {
			return in.refuse(key, "degree is %d; write a whole number from 1 to 64", k.Degree)
		}
	case "alpha":
		in.fallback(key, &k.Alpha, 1)
		return in.positive(key, k.Alpha)
	case "length_scale":
		in.fallback(key, &k.LengthScale, 1)
		return in.positive(key, k.LengthScale)
	}
	return nil
}
