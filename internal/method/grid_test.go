package method_test

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// What fills a gap does not take a column off its grid: the server can leave out the filled rows.
func TestGridWithoutFilledRows(t *testing.T) {
	m := linalg.New[float64](50, 1)
	set := &dataset.Set{X: dataset.NewDense(m), Filled: make([]bool, 50)}
	for i := range m.Rows {
		m.Row(i)[0] = float64(i % 20)
	}
	for _, i := range []int{7, 31} {
		m.Row(i)[0], set.Filled[i] = math.Pi, true
	}
	if got := method.GridOf(set); got != method.AllGrid {
		t.Errorf("two of 50 rows are filled: %v", got)
	}
	if got := method.GridOf(set.Subset([]int{7, 8, 31, 33, 36, 39})); got != method.AllGrid {
		t.Errorf("a subset: %v", got)
	}
	set.Filled[7] = false // then the value is the column's own
	if got := method.GridOf(set); got != method.NoGrid {
		t.Errorf("a value off the grid: %v", got)
	}
}

// Few rows without filled gaps say nothing: one has no column that varies, and any two are on a grid.
func TestGridOfFewWholeRows(t *testing.T) {
	for _, whole := range []int{1, 2} {
		m := linalg.New[float64](50, 1)
		set := &dataset.Set{X: dataset.NewDense(m), Filled: make([]bool, 50)}
		for i := range m.Rows {
			m.Row(i)[0], set.Filled[i] = float64(i%20), i >= whole
		}
		if got := method.GridOf(set); got != method.AllGrid {
			t.Errorf("%d of 50 rows are whole, all on a grid: %v", whole, got)
		}
		for i := range m.Rows {
			m.Row(i)[0] = math.Sqrt(float64(i + 2))
		}
		if got := method.GridOf(set); got != method.NoGrid {
			t.Errorf("%d of 50 rows are whole, none on a grid: %v", whole, got)
		}
	}
}
