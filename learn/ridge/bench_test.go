package ridge_test

import (
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
)

// source returns an rbf kernel of 2,000 rows of 20 columns, whose values are computed when they are
// read, and targets.
func source(b *testing.B) (kernel.Source, linalg.Matrix[float64]) {
	b.Helper()
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: .05})
	if err != nil {
		b.Fatal(err)
	}
	return kernel.Of(kernel.LinearGram(noise(2000, 20, 1)), k), noise(2, 2000, 2)
}

func BenchmarkFit(b *testing.B) {
	src, y := source(b)
	for b.Loop() {
		if _, err := ridge.Fit(src, y.Row(0), .5); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLeaveOneOut(b *testing.B) {
	src, y := source(b)
	for b.Loop() {
		if _, err := ridge.LeaveOneOut(src, y, nil, .5, never); err != nil {
			b.Fatal(err)
		}
	}
}
