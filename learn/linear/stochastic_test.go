package linear

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// Iterations are steps of DSG on the rows drawn, until all features have been
// used; the last block may be smaller.
func TestStochastic(t *testing.T) {
	features, y := noise(20, 9, 1), make([]float64, 9)
	for i := range y {
		y[i] = Sign(features.Row(0)[i])
	}
	source := dense{features}
	p := DSGParams{Loss: Logistic{}, Rate: 0.5, Lambda: 0.1, PerDirection: 2}
	for _, rho := range []float64{0, 0.1} {
		s, err := NewStochastic(OptimizerParams{p, 4, 6, 20, rho}, row(y), drawer{rand.New(rand.NewPCG(1, 2))})
		if err != nil {
			t.Fatal(err)
		}
		d, err := NewDSG(1, p)
		if err != nil {
			t.Fatal(err)
		}
		var ends []int
		for rows, end := s.Draw(); rows != nil; rows, end = s.Draw() {
			if len(rows) != 4 || !slices.IsSorted(rows) {
				t.Fatalf("rows %v", rows)
			}
			ends = append(ends, end)
			phi, targets := linalg.New[float64](end-d.Features(), 4), linalg.New[float64](1, 4)
			for i, r := range rows {
				targets.Data[i] = y[r]
			}
			source.ReadAt(phi, d.Features(), rows)
			u := d.Decide(source, rows)
			if rho == 0 {
				d.Step(phi, u, targets)
			} else if err := d.StepNewton(phi, u, targets, rho); err != nil {
				t.Fatal(err)
			}
			if err := s.Learn(source); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(ends, []int{6, 12, 18, 20}) {
			t.Errorf("features %v", ends)
		}
		if !slices.Equal(s.Coefficients().Data, d.Coefficients().Data) {
			t.Errorf("rho %v: coefficients %v, want %v", rho, s.Coefficients().Data, d.Coefficients().Data)
		}
		if s.Learn(source) == nil {
			t.Error("learns from rows that nobody has drawn")
		}
	}
}

// Batches are drawn at random: of one row and of several, every row is drawn as often as any other,
// within five deviations, and the next batch is another one. A batch of more rows than there are has
// them all.
func TestBatchesAreDrawnAtRandom(t *testing.T) {
	const rows, draws = 9, 9000
	for _, batch := range []int{1, 4, rows, rows + 3} {
		p := OptimizerParams{DSGParams{Loss: Square{}, Rate: 1}, batch, 1, 1, 0}
		s, err := NewStochastic(p, linalg.New[float64](1, rows), drawer{rand.New(rand.NewPCG(3, 4))})
		if err != nil {
			t.Fatal(err)
		}
		var times [rows]int
		var before []int
		again := 0
		for range draws {
			drawn, _ := s.Draw()
			for _, r := range drawn {
				times[r]++
			}
			if slices.Equal(drawn, before) {
				again++
			}
			before = slices.Clone(drawn)
		}
		share := min(1, float64(batch)/rows)
		for r, n := range times {
			if math.Abs(float64(n)-draws*share) > 5*math.Sqrt(draws*share*(1-share)) {
				t.Errorf("batches of %d: row %d is drawn %d times, want about %.0f", batch, r, n, draws*share)
			}
		}
		if batch < rows && again > draws/7 { // one in 9, or one in 126
			t.Errorf("batches of %d: %d of %d are the one before", batch, again, draws)
		}
	}
}

// dense gives features from a matrix, features x rows.
type dense struct{ m linalg.Matrix[float64] }

func (d dense) ReadAt(dst linalg.Matrix[float64], feature int, rows []int) {
	for j := range dst.Rows {
		for i, r := range rows {
			dst.Row(j)[i] = d.m.Row(feature + j)[r]
		}
	}
}

func TestStochasticErrors(t *testing.T) {
	p := DSGParams{Loss: Square{}, Rate: 1, PerDirection: 2}
	draw := drawer{rand.New(rand.NewPCG(1, 2))}
	for name, c := range map[string]OptimizerParams{
		"no loss": {Batch: 1, Block: 2, Features: 2}, "batch": {p, 0, 2, 2, 0}, "block": {p, 1, 3, 4, 0},
		"features": {p, 1, 2, 3, 0}, "rho": {p, 1, 2, 2, -1},
	} {
		if _, err := NewStochastic(c, row([]float64{1}), draw); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := NewStochastic(OptimizerParams{p, 1, 2, 2, 0}, linalg.New[float64](1, 0), draw); err == nil {
		t.Error("no rows: no error")
	}
}
