package fdskl

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Adding and taking off eight bytes at a time is adding word by word.
func TestWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom([]ring{8, 16, 32}).Draw(t, "bits")
		n := rapid.IntRange(0, 40).Draw(t, "words")
		a := rapid.SliceOfN(rapid.Byte(), n*r.bytes(), n*r.bytes()).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Byte(), n*r.bytes(), n*r.bytes()).Draw(t, "b")
		sum, difference := bytes.Clone(a), bytes.Clone(a)
		r.add(sum, b)
		r.sub(difference, b)
		mask := uint32(1<<r - 1)
		for i := range n {
			if got, want := r.word(sum, i), (r.word(a, i)+r.word(b, i))&mask; got != want {
				t.Fatalf("word %d of the sum is %d, want %d", i, got, want)
			}
			if got, want := r.word(difference, i), (r.word(a, i)-r.word(b, i))&mask; got != want {
				t.Fatalf("word %d of the difference is %d, want %d", i, got, want)
			}
		}
	})
}

// A part of a chunk is masked as the whole chunk is, chunks differ, and what one
// of a pair adds the other takes off.
func TestMasks(t *testing.T) {
	m, back := newMask([32]byte{1}, false), newMask([32]byte{1}, true)
	for _, r := range []ring{8, 16, 32} {
		size := 3*stripBytes + 4
		whole, other := make([]byte, size), make([]byte, size)
		r.apply([]mask{m}, 5, whole)
		r.apply([]mask{m}, 6, other)
		if bytes.Equal(whole[:64], other[:64]) {
			t.Errorf("%d bits: two chunks have the same mask", r)
		}
		twin := make([]byte, size)
		m.strip(r, new(tile), 5, 0, twin)
		if !bytes.Equal(whole, twin) {
			t.Errorf("%d bits: strips of a chunk are masked otherwise than the chunk", r)
		}
		r.apply([]mask{back}, 5, whole)
		if !bytes.Equal(whole, make([]byte, size)) {
			t.Errorf("%d bits: a mask put on and taken off leaves something", r)
		}
	}
}

// Two rows are masked differently in the same direction, in both modes: with one mask for both, a
// receiver of both would see the difference of their phases. Each request has its own masks.
func TestOwnMasksAreFresh(t *testing.T) {
	f := newFederation(t, Spec{Mode: Paper, Bits: 16, Rows: 2, Directions: 1}, 3)
	var own, pairs [2][16]byte
	for row := range own {
		q := Request{Rows: Spans(row), Directions: Span{0, 1}}
		hash := q.hash(f.session.ID(), 1, f.params.trees(3))
		f.params.ring().apply([]mask{ownMask(f.setup(1), hash)}, 0, own[row][:])
		f.params.ring().apply(pairMasks(f.session.ID(), 1, make([][32]byte, 3), hash)[:1], 0, pairs[row][:])
	}
	if own[0] == own[1] || pairs[0] == pairs[1] {
		t.Error("two rows have the same mask")
	}
	base := Request{Rows: Spans(1), Directions: Span{0, 1}}
	seen := map[[32]byte]string{base.hash(f.session.ID(), 1, nil): "a request"}
	for name, hash := range map[string][32]byte{
		"other directions":  Request{Rows: base.Rows, Directions: Span{1, 1}}.hash(f.session.ID(), 1, nil),
		"more directions":   Request{Rows: base.Rows, Directions: Span{0, 2}}.hash(f.session.ID(), 1, nil),
		"a later request":   base.hash(f.session.ID(), 2, nil),
		"another session":   base.hash([32]byte{1}, 1, nil),
		"along other trees": base.hash(f.session.ID(), 1, f.params.trees(3)),
	} {
		if old, dup := seen[hash]; dup {
			t.Errorf("%s has the masks of %s", name, old)
		}
		seen[hash] = name
	}
}

// In mode paper one passive worker, drawn for each direction, adds an offset (line 6 of Algorithm 3).
// All are drawn about equally often, and a worker's offsets follow from its own seed.
func TestOffsetsAreOfADrawnWorker(t *testing.T) {
	const directions, workers = 3000, 4
	f := newFederation(t, Spec{Mode: Paper, Bits: 32, Rows: 2, Directions: directions}, workers)
	r, all := f.params.ring(), Span{0, directions}
	times := make([]int, directions)
	for w := 1; w < workers; w++ {
		setup := f.setup(w)
		own := directionOffsets(setup, w, workers, all, r)
		setup.Seed[0]++
		other, n := directionOffsets(setup, w, workers, all, r), 0
		for j := range directions {
			a, b := r.word(own, j), r.word(other, j)
			if (a == 0) != (b == 0) || a != 0 && a == b {
				t.Errorf("worker %d adds %d in direction %d, and %d with another seed", w, a, j, b)
			}
			if a != 0 {
				times[j], n = times[j]+1, n+1
			}
		}
		if n < 870 || n > 1130 { // five deviations
			t.Errorf("worker %d is drawn for %d of %d directions", w, n, directions)
		}
	}
	whole, rest := directionOffsets(f.setup(1), 1, workers, all, r), directionOffsets(f.setup(1), 1, workers, Span{7, directions - 7}, r)
	if !slices.Equal(whole[7*r.bytes():], rest) {
		t.Error("the offset of a direction depends on the first direction of the request")
	}
	if slices.Contains(times, 0) || slices.Max(times) > 1 {
		t.Errorf("the offset of a direction is of up to %d workers, or of none", slices.Max(times))
	}
}
