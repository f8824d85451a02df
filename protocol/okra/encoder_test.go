package okra

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

var encoders = []Spec{{Encoder: Hadamard}, {Encoder: Haar}, {Encoder: HBH}, {Encoder: Block, Mode: Paper}, {Encoder: Flake}, {Encoder: Flake, Mode: Paper}}

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

// A row's encoding does not depend on its neighbours, on its place, or on how
// many calls are made: parties of any size agree, and replays give the same
// bytes.
func TestEncodingIsRowByRow(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
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
	for _, spec := range []Spec{{}, {Rounds: 2}, {Encoder: Haar}, {Encoder: HBH}, {Mode: Paper}, {Mode: Paper, BlockWidth: 64}, {Encoder: Flake}, {Encoder: Flake, Mode: Paper}} {
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
		{Params{}, 10, 64, "okra: the parameters are empty; make them with NewParams"},
		{good, 0, 64, "okra: rows have 0 features and 64 extra dimensions; at least 1 feature and 0 extra dimensions, and at most 4194304 of each, are allowed"},
		{good, 1, -1, "okra: rows have 1 features and -1 extra dimensions; at least 1 feature and 0 extra dimensions, and at most 4194304 of each, are allowed"},
		{good, MaxFeatures + 1, 64, "okra: rows have 4194305 features and 64 extra dimensions; at least 1 feature and 0 extra dimensions, and at most 4194304 of each, are allowed"},
		{mustParams(t, Spec{Encoder: Haar}), 8192, 1, `okra: encoder haar, whose cost is quadratic in the width, takes at most 8192 coordinates, not 8193; write "encoder: hadamard"`},
		{mustParams(t, Spec{Encoder: Flake}), 8193, 64, "okra: encoder flake, whose cost is cubic in the number of features, takes at most 8192 features, not 8193; use protocol okra"},
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

// The integer part of an encoder has the same bits everywhere, permanently.
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
	if got, want := checksum(b.in, b.out), uint32(1366068264); got != want {
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
