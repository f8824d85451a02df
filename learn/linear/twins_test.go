package linear

import (
	"math/rand/v2"
	"testing"
)

// twin is a training by doubly stochastic gradients in one place: each iteration takes
// a number of rows and of directions.
type twin struct {
	rows, directions int
	params           DSGParams
	rho              float64 // of Newton's step, if not 0
}

// drawer is a generator of the standard library.
type drawer struct{ *rand.Rand }

func (d drawer) Uint64n(n uint64) uint64 { return d.Uint64N(n) }

// run goes through all directions of a table, and returns what it learnt.
func (w twin) run(t *testing.T, table *Phases[float64], y []float64) *Stochastic {
	t.Helper()
	w.params.PerDirection = 2
	s, err := NewStochastic(OptimizerParams{w.params, w.rows, 2 * w.directions, table.Features(), w.rho}, row(y), drawer{rand.New(rand.NewPCG(1, 1))})
	if err != nil {
		t.Fatal(err)
	}
	for rows, _ := s.Draw(); rows != nil; rows, _ = s.Draw() {
		if err := s.Learn(table); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// One row and one direction at a time learn slowly (.028 after eight times as
// many, says the reference implementation); blocks come near those who see all
// rows, with the best of a few rates.
func TestTwinsLearn(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	digits := classes(t, load(t, "digits"), "1", "3", "5", "7", "9")
	wdbc := classes(t, load(t, "wdbc"), "1").standardised()
	for _, tt := range []struct {
		name  string
		p     problem
		scale float64 // times the median distance
		w     twin
		most  float64
	}{
		{"wdbc faithful", wdbc, 1, twin{1, 1, DSGParams{Loss: Logistic{}, Rate: 4, Lambda: 1e-5}, 0}, .10},
		{"wdbc block", wdbc, 1, twin{256, 32, DSGParams{Loss: SmoothHinge{}, Rate: 4, Lambda: 1e-5}, 0}, .03},
		{"wdbc Newton", wdbc, 1, twin{256, 64, DSGParams{Loss: Logistic{}, Rate: 1}, 1e-3}, .03},
		{"digits block", digits, 0.5, twin{256, 32, DSGParams{Loss: SmoothHinge{}, Rate: 16, Lambda: 1e-5}, 0}, .03},
		{"digits Newton", digits, 1, twin{512, 64, DSGParams{Loss: SmoothHinge{}, Rate: 1}, 1e-3}, .03},
	} {
		train, test := tt.p.split(t, 1)
		d := gaussian(train.x.Cols, tt.scale*train.medianDistance(), 1)
		learnt := tt.w.run(t, phases[float64](train, d, 2048, 16).Unscaled(), train.y)
		got := wrong(Decide(phases[float64](test, d, 2048, 16).Unscaled(), learnt.Coefficients()).Data, test.y)
		t.Logf("%s: test error %.4f", tt.name, got)
		if got > tt.most {
			t.Errorf("%s: test error %.4f, want at most %v", tt.name, got, tt.most)
		}
	}
}
