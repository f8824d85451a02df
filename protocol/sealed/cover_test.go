package sealed

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// Sources hand out no word twice, and go on after a refusal.
func TestCoversServeOnce(t *testing.T) {
	c := computation{}
	cover := newCovers(c, pairAC, [2][32]byte{})
	draw := func(step int, of purpose) ([]ring128.Word, error) {
		words := make([]ring128.Word, 3)
		return words, cover.draw(words, step, of)
	}
	var all []ring128.Word
	for _, at := range []struct {
		step  int
		of    purpose
		fails bool
	}{
		{0, opening, false}, {0, opening, true}, {0, dealing, false}, {0, opening, true}, {1, dealing, false},
		{1, opening, true}, {0, squared, true}, {1, dealing, true}, {-1, refreshing, true}, {1, squared, false}, {300, opening, false}, {299, refreshing, true},
	} {
		words, err := draw(at.step, at.of)
		if (err != nil) != at.fails {
			t.Errorf("step %d, purpose %d: %v", at.step, at.of, err)
		}
		if at.fails && !slices.Equal(words, make([]ring128.Word, 3)) {
			t.Errorf("step %d, purpose %d: words with a refusal", at.step, at.of)
		}
		if !at.fails {
			all = append(all, words...)
		}
	}
	distinct(t, all)
}

func distinct(t *testing.T, words []ring128.Word) {
	t.Helper()
	seen := map[ring128.Word]bool{}
	for _, w := range words {
		if seen[w] {
			t.Errorf("the word %v twice", w)
		}
		seen[w] = true
	}
}

// Each part of a stream's name, and each keeper's contribution, makes other words.
func TestCoversDifferInEachName(t *testing.T) {
	base := computation{generation: 1}
	session := base
	session.session = protocol.SessionID{1}
	generation := base
	generation.generation = 2
	var all []ring128.Word
	for _, c := range []*covers{
		newCovers(base, pairAC, [2][32]byte{}), newCovers(session, pairAC, [2][32]byte{}), newCovers(generation, pairAC, [2][32]byte{}),
		newCovers(base, pairBC, [2][32]byte{}), newCovers(base, pairAC, [2][32]byte{{1}}), newCovers(base, pairAC, [2][32]byte{{}, {1}}),
	} {
		words := make([]ring128.Word, 1)
		for step := range 3 {
			for of := opening; of <= refreshing; of++ {
				if err := c.draw(words, step, of); err != nil {
					t.Fatal(err)
				}
				all = append(all, words...)
			}
		}
	}
	distinct(t, all)
}

// A cut is right at the border of the shares' range, where one without fresh words is always wrong.
func TestCutsAreRefreshed(t *testing.T) {
	border := ring128.Word{Hi: 1<<63 - 1, Lo: 1<<64 - 1}
	for _, z := range []int64{-5 << 20, 5 << 20} {
		first := []ring128.Word{border}
		if z > 0 {
			first[0] = border.Add(ring128.FromInt64(1)) // the lowest
		}
		second := []ring128.Word{ring128.FromInt64(z).Sub(first[0])}
		plain := slices.Clone(first)
		other := slices.Clone(second)
		ring128.TruncateFirst(plain, 20)
		ring128.TruncateSecond(other, 20)
		if v, ok := plain[0].Add(other[0]).Int64(); ok && v >= z>>20 && v <= z>>20+1 {
			t.Fatalf("the cut of %d is right without fresh words", z)
		}
		a, b := newCutter(serverA, seeds(computation{}, pairAB)), newCutter(serverB, seeds(computation{}, pairAB))
		for range 70 {
			x, y := slices.Clone(first), slices.Clone(second)
			a.cut(x, 20)
			b.cut(y, 20)
			if v, ok := x[0].Add(y[0]).Int64(); !ok || v < z>>20 || v > z>>20+1 || a.err != nil || b.err != nil {
				t.Errorf("%d cut by 20 bits is %d (%v, %v)", z, v, a.err, b.err)
			}
		}
	}
}

// Each cut has fresh words. After an error of its source a cutter does nothing.
func TestCutterStops(t *testing.T) {
	covers := seeds(computation{}, pairAB)
	c := newCutter(serverA, covers)
	first, second := make([]ring128.Word, 1), make([]ring128.Word, 1)
	c.cut(first, 1)
	c.cut(second, 1)
	if c.err != nil || first[0] == second[0] {
		t.Fatalf("two cuts: %v and %v (%v)", first, second, c.err)
	}
	words := []ring128.Word{{Lo: 8}}
	for _, c.number = range []int{0, 2} {
		if c.cut(words, 1); c.err == nil || words[0].Lo != 8 {
			t.Errorf("cut %d, after one with words that served before: %v (%v)", c.number, words, c.err)
		}
	}
}
