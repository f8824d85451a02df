package linalg_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// columnsOf returns the transpose.
func columnsOf(m linalg.Matrix[float64]) linalg.Matrix[float64] {
	t := linalg.New[float64](m.Cols, m.Rows)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			t.Row(j)[i] = v
		}
	}
	return t
}

func TestCholeskyLowRank(t *testing.T) {
	for _, n := range []int{0, 1, 2, 30, 130} {
		for _, rank := range []int{0, 1, n / 2, n} {
			x := noise[float64](n, min(rank, n), 12)
			a := product(x, x)
			r, err := linalg.CholeskyLowRank(a)
			if err != nil {
				t.Fatal(err)
			}
			if r.Rows > rank {
				t.Errorf("n = %d: rank %d, want %d", n, r.Rows, rank)
			}
			c := columnsOf(r)
			near(t, fmt.Sprint("R^T R of ", n, " rank ", rank), product(c, c), a, 1e-12)
		}
	}
}

func TestCholeskyLowRankRefuses(t *testing.T) {
	for _, value := range []float64{-1, math.NaN()} {
		a := identity(9)
		a.Row(5)[5] = value
		var pivot *linalg.PivotError
		if _, err := linalg.CholeskyLowRank(a); !errors.As(err, &pivot) || pivot.Index != 5 {
			t.Errorf("%v: error %v", value, err)
		}
	}
	indefinite := linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1, 2, 2, 1}}
	var pivot *linalg.PivotError
	if _, err := linalg.CholeskyLowRank(indefinite); !errors.As(err, &pivot) {
		t.Errorf("indefinite: error %v", err)
	}
}

// TestCholeskyLowRankLimits: an eigenvalue of 1e-12 of the largest is a dimension,
// one of -1e-6 an error, and one of -1e-12 rounding.
func TestCholeskyLowRankLimits(t *testing.T) {
	for _, c := range []struct {
		value float64
		rank  int
		fails bool
	}{{1e-12, 3, false}, {1e-18, 2, false}, {-1e-12, 2, false}, {-1e-6, 0, true}} {
		a := identity(3)
		a.Row(1)[1] = c.value
		r, err := linalg.CholeskyLowRank(a)
		if (err != nil) != c.fails || err == nil && r.Rows != c.rank {
			t.Errorf("%v: rank %d, %v", c.value, r.Rows, err)
		}
	}
}
