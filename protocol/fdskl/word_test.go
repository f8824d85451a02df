package fdskl

import (
	"bytes"
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

// In mode paper two rows are masked differently in the same direction: with one mask for both, a
// receiver of both would see the difference of their phases.
func TestOwnMasksAreFresh(t *testing.T) {
	f := newFederation(t, Spec{Mode: Paper, Bits: 16, Rows: 2, Directions: 1}, 3)
	masked := make([][]byte, 2)
	for row := range masked {
		q := Request{Rows: Spans(row), Directions: Span{0, 1}}
		masked[row] = make([]byte, 16)
		f.params.ring().apply([]mask{ownMask(f.setup(1), q.hash(f.session.ID(), 1, f.params.trees(3)))}, 0, masked[row])
	}
	if bytes.Equal(masked[0], masked[1]) {
		t.Error("two rows have the same mask")
	}
}
