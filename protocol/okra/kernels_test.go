package okra

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// kernelsOf computes the paper's four kernels (section 3.1) from a Gram matrix,
// with amplitude 1, degree 3, alpha 1.5 and 1/(2 l^2) = 1/f.
var kernelsOf = map[string]func(g linalg.Matrix[float64], i, j int, f float64) float64{
	"linear":     func(g linalg.Matrix[float64], i, j int, _ float64) float64 { return g.Row(i)[j] },
	"polynomial": func(g linalg.Matrix[float64], i, j int, f float64) float64 { return math.Pow(1+g.Row(i)[j]/f, 3) },
	"rbf":        func(g linalg.Matrix[float64], i, j int, f float64) float64 { return math.Exp(-distance(g, i, j) / f) },
	"rational quadratic": func(g linalg.Matrix[float64], i, j int, f float64) float64 {
		return math.Pow(1+distance(g, i, j)/f/1.5, -1.5)
	},
}

func distance(g linalg.Matrix[float64], i, j int) float64 {
	if i == j {
		return 0
	}
	return max(0, g.Row(i)[i]+g.Row(j)[j]-2*g.Row(i)[j])
}

// productKernels are the same kernels as jobs compute them.
func productKernels(t *testing.T, f int) map[string]kernel.Kernel {
	t.Helper()
	list := make(map[string]kernel.Kernel)
	for name, spec := range map[string]kernel.Spec{
		"linear":     {Name: "linear"},
		"polynomial": {Name: "polynomial", Gamma: 1 / float64(f), Coef0: 1, Degree: 3},
		"rbf":        {Name: "rbf", Gamma: 1 / float64(f)},
		// 1/(2 alpha l^2) = 1/(1.5 f)
		"rational quadratic": {Name: "rational-quadratic", Alpha: 1.5, LengthScale: math.Sqrt(float64(f) / 2)},
	} {
		k, err := kernel.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		list[name] = k
	}
	return list
}

// worstKernelError is the largest relative difference over all kernels and
// entries, of the product's kernels on encoded rows from the formulas on the rows.
func worstKernelError(t *testing.T, got, want linalg.Matrix[float64], f int) (worst float64) {
	t.Helper()
	product := productKernels(t, f)
	for name, k := range kernelsOf {
		for i := range want.Rows {
			for j := range want.Rows {
				a, b := product[name].At(got.Row(i)[j], got.Row(i)[i], got.Row(j)[j]), k(want, i, j, float64(f))
				worst = max(worst, math.Abs(a-b)/max(math.Abs(b), 1e-300))
			}
		}
	}
	return worst
}

func TestKernelsOfEncodedRowsEqualNaive(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, spec := range encoders {
		for _, f := range widths {
			if spec.Encoder == Haar && f == 4999 {
				continue // quadratic, and 5000 has the same width
			}
			if spec.Encoder == Flake && f > 1021 {
				continue // cubic
			}
			t.Run(fmt.Sprintf("%s/%d", spec.Encoder, f), func(t *testing.T) {
				x := randomRows("kernels", 7, f)
				copy(x.Row(6), x.Row(0)) // the same person at both parties
				y := encodeParts(mustEncoder(t, spec, 3, f), x)
				want := naiveGram(x)
				if worst := worstKernelError(t, naiveGram(y), want, f); !(worst <= 1e-9) {
					t.Errorf("float64: relative error %.2g, at most 1e-9", worst)
				}
				for i, v := range y.Data {
					y.Data[i] = float64(float32(v))
				}
				if worst := worstKernelError(t, naiveGram(y), want, f); !(worst <= 1e-6) {
					t.Errorf("float32: relative error %.2g, at most 1e-6", worst)
				}
			})
		}
	}
}

// The columns of Gamma are orthonormal, and no feature passes through: each
// spreads over many coordinates (for encoder block, over the coordinates of its block).
// The numbers of features give widths of all shapes between two powers of two;
// without the signs between the windows, f = 224 kept .79 of a feature.
func TestEncodersMixFeatures(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, spec := range append([]Spec{{Rounds: 2}}, encoders...) {
		for _, f := range []int{192, 224, 256, 288, 320, 352, 384, 416} {
			e := mustEncoder(t, spec, 4, f)
			y := linalg.New[float64](f, e.Width())
			e.Encode(y, identity(f))
			for i := range f {
				if got := dot(y.Row(i), y.Row(i)); math.Abs(got-1) > 1e-13 {
					t.Fatalf("%v, f = %d: column %d has squared length %v", spec, f, i, got)
				}
				if got := dot(y.Row(i), y.Row((i+1)%f)); math.Abs(got) > 1e-13 {
					t.Fatalf("%v, f = %d: <column %d, the next> = %v", spec, f, i, got)
				}
				limit := .42
				if spec.Encoder == Block {
					limit = .55
				}
				if largest := slices.MaxFunc(y.Row(i), cmpAbs); math.Abs(largest) > limit {
					t.Errorf("%v, f = %d: feature %d keeps %.2f of itself in one coordinate", spec, f, i, largest)
				}
			}
		}
	}
}

// Each coordinate of an encoded row mixes features with hidden dimensions. The features' share of a
// coordinate is 1 where no hidden dimension reaches it, and 0 where no feature does.
func TestHiddenDimensionsReachEveryCoordinate(t *testing.T) {
	for _, spec := range append([]Spec{{Rounds: 2}}, encoders...) {
		for _, f := range []int{64, 192, 224} {
			e := mustEncoder(t, spec, 5, f)
			y := linalg.New[float64](f, e.Width())
			e.Encode(y, identity(f))
			for j := range e.Width() {
				share := dot(y.Column(j), y.Column(j))
				if share < .1 || share > .98 {
					t.Errorf("%v, f = %d: features have a share of %.3f in coordinate %d", spec, f, share, j)
				}
			}
		}
	}
}

func identity(n int) linalg.Matrix[float64] {
	m := linalg.New[float64](n, n)
	for i := range n {
		m.Row(i)[i] = 1
	}
	return m
}

func cmpAbs(a, b float64) int {
	if math.Abs(a) < math.Abs(b) {
		return -1
	}
	return 1
}
