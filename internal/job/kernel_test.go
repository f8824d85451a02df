package job_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/job"
)

// Every key of a kernel in a job file, away from its default, is a parameter of the kernel.
func TestKeysOfAKernelReachIt(t *testing.T) {
	for keys, want := range map[string]string{
		"linear":                                                          "linear",
		"rbf, gamma: 0.25, amplitude: 2.5":                                "rbf gamma=0.25 amplitude=2.5",
		"rbf, gamma: 0.25, amplitude: 0.5":                                "rbf gamma=0.25 amplitude=0.5",
		"rational-quadratic, amplitude: 0.75":                             "rational-quadratic length_scale=1 alpha=1 amplitude=0.75",
		"laplacian, gamma: 0.3":                                           "laplacian gamma=0.3",
		"matern, length_scale: 1.5, nu: 2.5":                              "matern length_scale=1.5 nu=2.5",
		"dot-product, coefficients: [0, 2]":                               "dot-product coefficients=0,2",
		"polynomial, gamma: 0.25, coef0: 1.5, degree: 4":                  "polynomial gamma=0.25 coef0=1.5 degree=4",
		"rational-quadratic, alpha: 0.5, length_scale: 1.5, amplitude: 3": "rational-quadratic length_scale=1.5 alpha=0.5 amplitude=3",
	} {
		j, err := reader().Parse("job.yaml", []byte(strings.Replace(minimal, "rbf, gamma: 0.5", keys, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := j.Kernel.Spec().Canonical(); err != nil || got != want {
			t.Errorf("{name: %s}: %q, %v; want %q", keys, got, err, want)
		}
	}
}

// A kernel whose gamma has a unit becomes one whose gamma is a number, and keeps all its other settings.
func TestUnitsChangeGammaAlone(t *testing.T) {
	for name, gamma := range map[job.KernelName]float64{job.RBF: .5, job.RationalQuadratic: .5, job.Laplacian: 1} { // laplacian has the root of the unit
		k := job.Kernel{Name: name, Gamma: 2, GammaUnit: job.Median, Amplitude: 3, Alpha: 5, LengthScale: 7, Coef0: 9, Degree: 11}
		want := k
		want.Gamma, want.GammaUnit = gamma, ""
		if d := cmp.Diff(want, k.Over(4)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
