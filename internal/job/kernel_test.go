package job_test

import (
	"strings"
	"testing"
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
