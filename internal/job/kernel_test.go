package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/kernel"
)

// Every setting of a job's kernel reaches the kernel, each in its own place.
func TestSpecHasTheJobsSettings(t *testing.T) {
	got := Kernel{
		Name: DotProduct, Gamma: 2, Coef0: 3, Degree: 4, Alpha: 5, LengthScale: 6, Nu: 7, Amplitude: 8, Coefficients: []float64{9, 10, 11},
	}.Spec()
	want := kernel.Spec{
		Name: "dot-product", Gamma: 2, Coef0: 3, Degree: 4, Alpha: 5, LengthScale: 6, Nu: 7, Amplitude: 8, Coefficients: []float64{9, 10, 11},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
