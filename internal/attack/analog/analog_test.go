package analog

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The assignment costs as little as the best of all assignments.
func TestAssign(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		n := 1 + random.IntN(6)
		m := n + random.IntN(3)
		cost := make([][]float64, n)
		for i := range cost {
			cost[i] = make([]float64, m)
			for j := range cost[i] {
				cost[i][j] = float64(random.IntN(20)) // with ties
			}
		}
		got, taken := 0., make(map[int]bool)
		for i, j := range assign(cost) {
			if taken[j] {
				t.Fatalf("column %d is given twice", j)
			}
			taken[j] = true
			got += cost[i][j]
		}
		if want := cheapest(cost, 0, make([]bool, m)); math.Abs(got-want) > 1e-9 {
			t.Fatalf("costs %v, the best is %v: %v", got, want, cost)
		}
	}
}

// cheapest tries all assignments of the rows from one on.
func cheapest(cost [][]float64, row int, taken []bool) float64 {
	if row == len(cost) {
		return 0
	}
	best := math.Inf(1)
	for j, c := range cost[row] {
		if !taken[j] {
			taken[j] = true
			best = min(best, c+cheapest(cost, row+1, taken))
			taken[j] = false
		}
	}
	return best
}

// Of rows that are public ones turned, everything is read.
func TestTurnedRows(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	const classes, features = 8, 5
	means := make([][features]float64, classes)
	for c := range means {
		for j := range means[c] {
			means[c][j] = 9 * random.NormFloat64()
		}
	}
	rows, labels := mat.NewDense(80, features, nil), make([]int, 80)
	for i := range labels {
		labels[i] = i % classes
		for j := range features {
			rows.Set(i, j, random.NormFloat64()*float64(j+1)+means[labels[i]][j])
		}
	}
	p := Public{rows, labels}
	if r := R2(rows, p.Guess(Gram(rows), labels, features), rows); r < 1-1e-9 {
		t.Errorf("R2 %v", r)
	}
}
