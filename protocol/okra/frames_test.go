package okra

import (
	"fmt"
	"math"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

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

// The encoder of a session has the blocks of the session's width, and their frames are orthonormal.
func TestBlocksAreOfTheSessionsWidth(t *testing.T) {
	const f = 640
	for _, width := range []int{0, minBlock, maxBlockWidth} {
		e := mustEncoder(t, Spec{Mode: Paper, BlockWidth: width}, 3, f)
		if width == 0 {
			width = defaultBlockWidth
		}
		frames := e.(*block).frames
		if want := int(math.Round(f / float64(width))); len(frames) != want {
			t.Errorf("width %d: %d blocks, want %d", width, len(frames), want)
		}
		y, gram := linalg.New[float64](f, e.Width()), linalg.New[float64](f, f)
		e.Encode(y, identity(f))
		linalg.Syrk(gram, y)
		for i := range f {
			spread := 0
			for _, v := range y.Row(i) {
				if v != 0 {
					spread++
				}
			}
			if spread > width+3+(e.Width()-f) {
				t.Errorf("width %d: feature %d is in %d coordinates", width, i, spread)
			}
			for j, v := range gram.Row(i) {
				if want := map[bool]float64{true: 1}[i == j]; !(math.Abs(v-want) <= 1e-12) {
					t.Fatalf("width %d: rows %d and %d of the frames have the product %v", width, i, j, v)
				}
			}
		}
	}
}

// Each block has a frame of its own: two frames of one size have no entry in common.
func TestBlocksHaveTheirOwnFrames(t *testing.T) {
	const f = 2 * minBlock
	p := mustParams(t, Spec{Mode: Paper, BlockWidth: minBlock})
	for seed := range byte(50) {
		e, err := NewEncoder(p, Seed{seed}, f, 0)
		if err != nil {
			t.Fatal(err)
		}
		frames := e.(*block).frames
		if len(frames) < 2 || frames[0].rows != frames[1].rows {
			continue
		}
		y, seen := linalg.New[float64](f, f), make(map[float64]bool)
		e.Encode(y, identity(f))
		for _, v := range y.Data {
			if v != 0 && seen[math.Abs(v)] {
				t.Fatalf("the entry %v is in two places", v)
			}
			seen[math.Abs(v)] = true
		}
		return
	}
	t.Fatal("no seed gives two blocks of one size")
}

// All frames are applied when the pieces of work have unequal numbers of frames: no value stays in
// clear, and norms stay.
func TestPiecesHaveAllFrames(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const f, rows = 20100, 512
	e := mustEncoder(t, Spec{Mode: Paper}, 3, f)
	if n, frames := e.pieces(rows), len(e.(*block).frames); n < 2 || frames%n == 0 {
		t.Fatalf("%d pieces of %d frames: the rows do not try what they should", n, frames)
	}
	x, y := linalg.New[float64](rows, f), linalg.New[float64](rows, e.Width())
	clear, norm := make(map[float64]bool), 0.0
	for j := range f {
		v := 1 + float64(j)/f
		x.Row(0)[j], clear[v] = v, true
		norm += v * v
	}
	e.Encode(y, x)
	encoded := 0.0
	for _, v := range y.Row(0) {
		if clear[v] {
			t.Fatalf("the value %v is in clear", v)
		}
		encoded += v * v
	}
	if math.Abs(encoded-norm) > 1e-9*norm {
		t.Errorf("the squared norm is %v, was %v", encoded, norm)
	}
}

// A session has the encoder that it names.
func TestEncodersAreThoseOfTheirNames(t *testing.T) {
	for name, want := range map[string]string{Hadamard: "*okra.hadamard", Haar: "*okra.haar", HBH: "*okra.hbh", Flake: "*okra.flake", Block: "*okra.block"} {
		spec := Spec{Encoder: name}
		if name == Block {
			spec.Mode = Paper
		}
		if got := fmt.Sprintf("%T", mustEncoder(t, spec, 1, 192)); got != want {
			t.Errorf("encoder %s is %s, want %s", name, got, want)
		}
	}
}

// The first column of a uniformly random frame is uniform on the sphere, and
// so is every other: squared entries have mean 1/width and variance
// 2(width-1)/(width^2(width+2)).
func TestFramesAreUniform(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const f, k, seeds = 5, 3, 3000
	for _, spec := range []Spec{{Encoder: Haar}, {Mode: Paper}, {Encoder: Flake}} {
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
