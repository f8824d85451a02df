package sealed

import (
	"errors"
	"slices"
	"testing"
)

// finish runs all pieces.
func (p *pieces) finish(t testing.TB) {
	t.Helper()
	for len(*p) > 0 {
		if _, err := p.run(); err != nil {
			t.Fatal(err)
		}
	}
}

// Rows are computed once and in order, and no piece is longer than the limit unless it is one row.
func TestPiecesOfRows(t *testing.T) {
	for _, n := range []int{0, 1, 5, 512, 4096} {
		work := func(i int) int { return 2 * (n - i) * n }
		var p pieces
		next, longest := 0, 0
		p.split(n, work, func(lo, hi int) {
			sum := 0
			for i := lo; i < hi; i++ {
				sum += work(i)
			}
			if lo != next || hi <= lo || sum > stepWork && hi > lo+1 {
				t.Errorf("%d rows: rows %d to %d after %d, %d multiply-adds", n, lo, hi, next, sum)
			}
			next, longest = hi, max(longest, sum)
		})
		number := len(p)
		for len(p) > 0 {
			if _, err := p.run(); err != nil {
				t.Fatal(err)
			}
		}
		if next != n || n == 4096 && (number < 1000 || longest > stepWork) {
			t.Errorf("%d rows: %d computed in %d pieces", n, next, number)
		}
	}
}

// A piece that fails stays, and those after it wait.
func TestPieceFails(t *testing.T) {
	var p pieces
	ran := false
	fails := errors.New("fails")
	p.then(1, func() error { return fails })
	p.then(1, func() error { ran = true; return nil })
	for range 2 {
		if did, err := p.run(); did || !errors.Is(err, fails) || ran {
			t.Errorf("%v, %v; the next ran: %v", did, err, ran)
		}
	}
	fails = nil
	if did, err := p.run(); !did || err != nil || !ran || len(p) > 0 {
		t.Errorf("%v, %v; ran: %v, %d left", did, err, ran, len(p))
	}
}

// A step runs pieces in order as long as they fit, and at least one.
func TestPiecesOfAStep(t *testing.T) {
	var p pieces
	var order []int
	for i, work := range []int{2 * stepWork, stepWork / 2, stepWork / 2, 1, stepWork, 0, 7} {
		p.then(work, func() error { order = append(order, i); return nil })
	}
	var ends []int
	for len(p) > 0 {
		if did, err := p.run(); !did || err != nil {
			t.Fatal(did, err)
		}
		ends = append(ends, len(order))
	}
	if !slices.Equal(order, []int{0, 1, 2, 3, 4, 5, 6}) || !slices.Equal(ends, []int{1, 3, 4, 6, 7}) {
		t.Errorf("order %v in steps up to %v", order, ends)
	}
}
