package sealed

import (
	"errors"
	"testing"
)

// Rows are computed once and in order, and no piece is longer than the limit unless it is one row.
func TestPiecesOfRows(t *testing.T) {
	for _, n := range []int{0, 1, 5, 512, 4096} {
		cost := func(i int) int { return 2 * (n - i) * n }
		var p pieces
		next, longest := 0, 0
		p.rows(n, cost, func(lo, hi int) {
			sum := 0
			for i := lo; i < hi; i++ {
				sum += cost(i)
			}
			if lo != next || hi <= lo || sum > pieceProducts && hi > lo+1 {
				t.Errorf("%d rows: rows %d to %d after %d, %d multiply-adds", n, lo, hi, next, sum)
			}
			next, longest = hi, max(longest, sum)
		})
		number := len(p)
		for ran := true; ran; {
			var err error
			if ran, err = p.run(); err != nil {
				t.Fatal(err)
			}
		}
		if next != n || n == 4096 && (number < 1000 || longest > pieceProducts) {
			t.Errorf("%d rows: %d computed in %d pieces", n, next, number)
		}
	}
}

// A piece that fails stays, and those after it wait.
func TestPieceFails(t *testing.T) {
	var p pieces
	ran := false
	fails := errors.New("fails")
	p.then(func() error { return fails })
	p.then(func() error { ran = true; return nil })
	for range 2 {
		if did, err := p.run(); did || !errors.Is(err, fails) || ran {
			t.Errorf("%v, %v; the next ran: %v", did, err, ran)
		}
	}
	fails = nil
	for range 2 {
		if did, err := p.run(); !did || err != nil {
			t.Errorf("%v, %v", did, err)
		}
	}
	if !ran || len(p) > 0 {
		t.Error("a piece is left")
	}
}
