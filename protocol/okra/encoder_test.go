package okra

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/prg"
	"github.com/mercer-fl/mercer/linalg"
)

var encoders = []Spec{{Encoder: Hadamard}, {Encoder: Haar}, {Encoder: Block, Mode: Paper}}

// widths holds small, odd, prime and binary numbers of features, and the
// neighbours of the places where buckets and blocks change.
var widths = []int{1, 2, 3, 5, 7, 31, 64, 97, 100, 143, 144, 255, 256, 257, 1000, 1021, 2048, 4999, 5000}

func mustParams(t testing.TB, s Spec) Params {
	t.Helper()
	p, err := NewParams(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustEncoder(t testing.TB, s Spec, seed byte, f int) Encoder {
	t.Helper()
	e, err := NewEncoder(mustParams(t, s), Seed{seed}, f, Padding(f))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// randomRows returns values in [0, 1), as rows are after scaling.
func randomRows(label string, n, f int) linalg.Matrix[float64] {
	s := prg.New([32]byte{1}, label)
	m := linalg.New[float64](n, f)
	for i := range m.Data {
		m.Data[i] = s.Float64()
	}
	return m
}

// encodeParts encodes as two parties would: each its own rows.
func encodeParts(e Encoder, x linalg.Matrix[float64]) linalg.Matrix[float64] {
	y := linalg.New[float64](x.Rows, e.Width())
	half := x.Rows / 2
	e.Encode(y.Panel(0, half), x.Panel(0, half))
	e.Encode(y.Panel(half, x.Rows), x.Panel(half, x.Rows))
	return y
}

// naiveGram is the dumb twin: one plain sum for each entry.
func naiveGram(x linalg.Matrix[float64]) linalg.Matrix[float64] {
	g := linalg.New[float64](x.Rows, x.Rows)
	for i := range x.Rows {
		for j := range x.Rows {
			for c, v := range x.Row(i) {
				g.Row(i)[j] += v * x.Row(j)[c]
			}
		}
	}
	return g
}

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

// worstKernelError is the largest relative difference over all kernels and
// entries.
func worstKernelError(got, want linalg.Matrix[float64], f int) (worst float64) {
	for _, k := range kernelsOf {
		for i := range want.Rows {
			for j := range want.Rows {
				a, b := k(got, i, j, float64(f)), k(want, i, j, float64(f))
				worst = max(worst, math.Abs(a-b)/max(math.Abs(b), 1e-300))
			}
		}
	}
	return worst
}

func TestKernelsOfEncodedRowsEqualNaive(t *testing.T) {
	for _, spec := range encoders {
		for _, f := range widths {
			if spec.Encoder == Haar && f == 4999 {
				continue // quadratic, and 5000 has the same width
			}
			t.Run(fmt.Sprintf("%s/%d", spec.Encoder, f), func(t *testing.T) {
				x := randomRows("kernels", 7, f)
				copy(x.Row(6), x.Row(0)) // the same person at both parties
				y := encodeParts(mustEncoder(t, spec, 3, f), x)
				want := naiveGram(x)
				if worst := worstKernelError(naiveGram(y), want, f); worst > 1e-9 {
					t.Errorf("float64: relative error %.2g, at most 1e-9", worst)
				}
				for i, v := range y.Data {
					y.Data[i] = float64(float32(v))
				}
				if worst := worstKernelError(naiveGram(y), want, f); worst > 1e-6 {
					t.Errorf("float32: relative error %.2g, at most 1e-6", worst)
				}
			})
		}
	}
}

// The columns of Gamma are orthonormal, and no feature passes through: each
// spreads over many coordinates (for encoder block, over those of its block).
// The numbers of features give widths of all shapes between two powers of two;
// without the signs between the windows, f = 224 kept .79 of a feature.
func TestEncodersMixFeatures(t *testing.T) {
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
				if spec.Mode == Paper {
					limit = .55
				}
				if largest := slices.MaxFunc(y.Row(i), cmpAbs); math.Abs(largest) > limit {
					t.Errorf("%v, f = %d: feature %d keeps %.2f of itself in one coordinate", spec, f, i, largest)
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

// A row's encoding does not depend on its neighbours, on its place, or on how
// many calls are made: parties of any size agree, and replays give the same
// bytes.
func TestEncodingIsRowByRow(t *testing.T) {
	for _, spec := range encoders {
		for _, f := range []int{3, 300} {
			x := randomRows("row by row", 70, f)
			e := mustEncoder(t, spec, 5, f)
			together := linalg.New[float64](x.Rows, e.Width())
			e.Encode(together, x)
			again := mustEncoder(t, spec, 5, f)
			for i := range x.Rows {
				alone := linalg.New[float64](1, e.Width())
				again.Encode(alone, x.Panel(i, i+1))
				if !slices.Equal(alone.Row(0), together.Row(i)) {
					t.Fatalf("%s: row %d of %d features differs when encoded alone", spec.Encoder, i, f)
				}
			}
			e.Encode(linalg.New[float64](0, e.Width()), x.Panel(0, 0))
		}
	}
}

// Rows inside wider matrices: encoders respect strides.
func TestEncodersRespectStrides(t *testing.T) {
	for _, spec := range encoders {
		e := mustEncoder(t, spec, 6, 10)
		x := randomRows("strides", 4, 10)
		want := linalg.New[float64](4, e.Width())
		e.Encode(want, x)
		wide, out := linalg.New[float64](4, 17), linalg.New[float64](4, e.Width()+3)
		for i := range out.Data {
			out.Data[i] = -7
		}
		src, dst := columns(wide, 2, 12), columns(out, 1, 1+e.Width())
		for i := range 4 {
			copy(src.Row(i), x.Row(i))
		}
		e.Encode(dst, src)
		for i := range 4 {
			if !slices.Equal(dst.Row(i), want.Row(i)) {
				t.Errorf("%s: row %d differs under strides", spec.Encoder, i)
			}
			if row := out.Row(i); row[0] != -7 || row[1+e.Width()] != -7 {
				t.Errorf("%s: row %d writes beside its columns", spec.Encoder, i)
			}
		}
	}
}

func TestEncoderDependsOnEverything(t *testing.T) {
	x := randomRows("depends", 1, 150)
	encode := func(s Spec, seed byte, k int) []float64 {
		e, err := NewEncoder(mustParams(t, s), Seed{seed}, 150, k)
		if err != nil {
			t.Fatal(err)
		}
		y := linalg.New[float64](1, e.Width())
		e.Encode(y, x)
		return y.Data
	}
	seen := make(map[float64]string)
	for _, spec := range []Spec{{}, {Rounds: 2}, {Encoder: Haar}, {Mode: Paper}, {Mode: Paper, BlockWidth: 64}} {
		for seed := range byte(2) {
			for _, k := range []int{0, 64, 65} {
				name := fmt.Sprint(spec, seed, k)
				y := encode(spec, seed, k)
				if old, dup := seen[y[0]]; dup {
					t.Errorf("%s and %s encode alike", old, name)
				}
				seen[y[0]] = name
			}
		}
	}
}

func TestPadding(t *testing.T) {
	for f := range 20001 {
		if f == 0 {
			continue
		}
		k, least := Padding(f), max(64, int(math.Ceil(float64(f)/50)))
		n := f + k
		for n%2 == 0 && n > 15 {
			n /= 2
		}
		if n < 8 || n > 15 {
			t.Fatalf("f = %d: width %d is in no bucket", f, f+k)
		}
		if k < least || f+k > (f+least)*9/8+1 {
			t.Fatalf("f = %d: k = %d, at least %d, one bucket more at most", f, k, least)
		}
	}
	for f, want := range map[int]int{1: 72 - 1, 8: 72 - 8, 9: 80 - 9, 64: 128 - 64, 1024: 1152 - 1024, 36608: 40960 - 36608, 524288: 589824 - 524288, MaxFeatures: 4718592 - MaxFeatures} {
		if got := Padding(f); got != want {
			t.Errorf("Padding(%d) = %d, want %d", f, got, want)
		}
	}
}

func TestNewEncoderRefuses(t *testing.T) {
	good := mustParams(t, Spec{})
	for _, c := range []struct {
		p    Params
		f, k int
		want string
	}{
		{Params{}, 10, 64, "okra: parameters that NewParams did not make"},
		{good, 0, 64, "okra: 0 features and 64 extra dimensions; at most 4194304 of each"},
		{good, 1, -1, "okra: 1 features and -1 extra dimensions; at most 4194304 of each"},
		{good, MaxFeatures + 1, 64, "okra: 4194305 features and 64 extra dimensions; at most 4194304 of each"},
		{mustParams(t, Spec{Encoder: Haar}), 8192, 1, "okra: encoder haar costs (f+k)^2 for each row and takes at most 8192 coordinates, not 8193; use encoder: hadamard"},
	} {
		if _, err := NewEncoder(c.p, Seed{}, c.f, c.k); err == nil || err.Error() != c.want {
			t.Errorf("f = %d, k = %d: %v, want %s", c.f, c.k, err, c.want)
		}
	}
}

func TestSeedIsNotPrinted(t *testing.T) {
	s := Seed{0xab, 0xcd}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(verb, s); got != "okra.Seed(secret)" {
			t.Errorf("%s prints %q", verb, got)
		}
	}
}

// The integer part of an encoder is the same bits everywhere and for ever.
func TestGoldenIntegers(t *testing.T) {
	h := mustEncoder(t, Spec{}, 7, 100).(*hadamard)
	if got, want := [3]int{h.width, h.window, len(h.layers)}, [3]int{176, 128, 4}; got != want {
		t.Errorf("hadamard: shape %v, want %v", got, want)
	}
	layers := make([]order, len(h.layers)) // with bit 31 for -1
	for i, l := range h.layers {
		layers[i] = slices.Clone(l.order.(order))
		for j, sign := range l.signs {
			layers[i][j] |= uint32(sign) & (1 << 31)
		}
	}
	const minus = 1 << 31
	if got, want := layers[0][:6], (order{minus | 24, 94, minus | 136, 169, minus | 6, minus | 113}); !slices.Equal(got, want) {
		t.Errorf("hadamard: first layer begins %#v, want %#v", got, want)
	}
	if got, want := checksum(layers...), uint32(1456002430); got != want {
		t.Errorf("hadamard: layers have checksum %d, want %d", got, want)
	}
	if got, want := h.between[2][:12], []int8{1, -1, 1, 1, -1, -1, 1, -1, 1, 1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("hadamard: signs between the last windows begin %v, want %v", got, want)
	}
	b := mustEncoder(t, Spec{Mode: Paper}, 7, 1000).(*block)
	var sizes, rows []int
	for _, f := range b.frames {
		sizes, rows = append(sizes, f.cols), append(rows, f.rows)
	}
	if want := []int{99, 97, 103, 101, 103, 98, 97, 99, 101, 102}; !slices.Equal(sizes, want) {
		t.Errorf("block: sizes %v, want %v", sizes, want)
	}
	if want := []int{116, 117, 118, 117, 117, 113, 113, 110, 115, 116}; !slices.Equal(rows, want) {
		t.Errorf("block: rows %v, want %v", rows, want)
	}
	if got, want := checksum(b.in, b.out), uint32(2008615904); got != want {
		t.Errorf("block: permutations have checksum %d, want %d", got, want)
	}
}

func checksum(layers ...order) (sum uint32) {
	for _, l := range layers {
		for _, v := range l {
			sum = sum*16777619 ^ v
		}
	}
	return sum
}

func TestBlockSizes(t *testing.T) {
	for _, width := range []int{minBlock, defaultBlockWidth, maxBlockWidth} {
		for _, f := range append([]int{95, 96, 191, 192, 193, 100000}, widths...) {
			sizes := blockSizes(prg.New([32]byte{byte(f)}, "sizes"), width, f)
			mean, sum := float64(f)/float64(len(sizes)), 0
			for _, s := range sizes {
				sum += s
				if math.Abs(float64(s)-mean) > 3 || s < 1 {
					t.Errorf("f = %d, width %d: a block of %d, mean %.1f", f, width, s, mean)
				}
			}
			if sum != f || math.Abs(float64(len(sizes))-float64(f)/float64(width)) > 1 {
				t.Errorf("f = %d, width %d: %d blocks of %d features in all", f, width, len(sizes), sum)
			}
		}
	}
}

// The first column of a uniformly random frame is uniform on the sphere, and
// so is every other: squared entries have mean 1/width and variance
// 2(width-1)/(width^2(width+2)).
func TestFramesAreUniform(t *testing.T) {
	const f, k, seeds = 5, 3, 3000
	for _, spec := range []Spec{{Encoder: Haar}, {Mode: Paper}} {
		var mean, square [f][f + k]float64
		var corner float64
		for seed := range seeds {
			e, err := NewEncoder(mustParams(t, spec), Seed{byte(seed), byte(seed >> 8)}, f, k)
			if err != nil {
				t.Fatal(err)
			}
			y := linalg.New[float64](f, f+k)
			e.Encode(y, identity(f))
			for i := range f {
				for j, v := range y.Row(i) {
					mean[i][j] += v / seeds
					square[i][j] += v * v / seeds
				}
			}
			corner += y.Row(0)[0] * y.Row(1)[1] * y.Row(0)[1] * y.Row(1)[0] / seeds
		}
		const n = f + k
		for i := range f {
			for j := range n {
				if math.Abs(mean[i][j]) > 5*math.Sqrt(1./n/seeds) {
					t.Errorf("%s: entry (%d, %d) has mean %v", spec.Encoder, i, j, mean[i][j])
				}
				if sd := math.Sqrt(2 * (n - 1.) / (n * n * (n + 2)) / seeds); math.Abs(square[i][j]-1./n) > 5*sd {
					t.Errorf("%s: entry (%d, %d) has mean square %v, want %v", spec.Encoder, i, j, square[i][j], 1./n)
				}
			}
		}
		// The mixed fourth moment of Haar matrices is -1/((n-1)n(n+2)).
		if want := -1. / ((n - 1) * n * (n + 2)); math.Abs(corner-want) > 5*.02/math.Sqrt(seeds) {
			t.Errorf("%s: mixed moment %v, want %v", spec.Encoder, corner, want)
		}
	}
}
