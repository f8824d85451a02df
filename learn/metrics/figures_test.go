package metrics_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
)

// Rows that count twice are as two rows.
func TestRankedEqualsTwin(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(2, 20).Draw(r, "rows")
		scores := rapid.SliceOfN(rapid.Map(rapid.IntRange(-3, 3), func(i int) float64 { return float64(i) }), n, n).Draw(r, "scores")
		positive := rapid.SliceOfN(rapid.Bool(), n, n).Draw(r, "positive")
		times := rapid.SliceOfN(rapid.IntRange(0, 3), n, n).Draw(r, "times")
		positive[0], positive[1], times[0], times[1] = true, false, 1, 2
		ranked, err := metrics.Rank(positive, scores)
		if err != nil {
			r.Fatal(err)
		}
		many, some := drawn(positive, times), drawn(scores, times)
		got, ok := ranked.AUC(times)
		if want := pairs(many, some); !ok || math.Abs(got-want) > 1e-15 {
			r.Fatalf("AUC %v, want %v", got, want)
		}
		again, err := metrics.Rank(many, some)
		if err != nil {
			r.Fatal(err)
		}
		a, _ := ranked.AveragePrecision(times)
		if b, _ := again.AveragePrecision(nil); math.Abs(a-b) > 1e-15 {
			r.Fatalf("average precision %v, of repeated rows %v", a, b)
		}
	})
}

// A thinned curve keeps its ends, its order and nearly its area.
func TestThin(t *testing.T) {
	n := 5000
	positive, scores := make([]bool, n), make([]float64, n)
	for i := range n {
		positive[i], scores[i] = i%3 == 0, math.Sin(float64(i))
		if positive[i] {
			scores[i] += 0.5
		}
	}
	r, err := metrics.Rank(positive, scores)
	if err != nil {
		t.Fatal(err)
	}
	area := func(c metrics.Curve) (sum float64) {
		for i := 1; i < len(c.X); i++ {
			sum += (c.X[i] - c.X[i-1]) * (c.Y[i] + c.Y[i-1]) / 2
		}
		return sum
	}
	whole := r.ROC()
	thin := whole.Thin(200)
	if len(whole.X) < 400 || len(thin.X) > 200 || len(thin.X) < 150 || len(thin.Y) != len(thin.X) || len(thin.Thresholds) != len(thin.X) {
		t.Fatalf("%d points of %d", len(thin.X), len(whole.X))
	}
	if last := len(thin.X) - 1; thin.X[0] != 0 || thin.Y[0] != 0 || thin.X[last] != 1 || thin.Y[last] != 1 {
		t.Error("an end is missing")
	}
	exact, _ := r.AUC(nil)
	if a, b := area(whole), area(thin); math.Abs(a-exact) > 1e-12 || math.Abs(b-a) > 1e-3 {
		t.Errorf("areas %v, %v, want %v", a, b, exact)
	}
	if same := thin.Thin(200); len(same.X) != len(thin.X) {
		t.Error("a curve that is thin has been thinned")
	}
}

// The same seed gives the same interval; a figure that mostly has no value has none.
func TestBootstrap(t *testing.T) {
	strata := []int{0, 0, 0, 1, 1}
	draw := func(seed uint64) *metrics.Interval {
		got, err := metrics.Bootstrap(strata, seed, 2, func(times []int, v []float64) {
			if times[0]+times[1]+times[2] != 3 || times[3]+times[4] != 2 {
				t.Fatalf("%v changes the sizes of strata", times)
			}
			v[0], v[1] = float64(times[0]), math.NaN()
		})
		if err != nil || got[1] != nil {
			t.Fatal(got, err)
		}
		return got[0]
	}
	if a, b := draw(1), draw(1); *a != *b || a.Low != 0 || a.High < 2 {
		t.Errorf("%v and %v", a, b)
	}
	if _, err := metrics.Bootstrap(nil, 1, 0, nil); err == nil {
		t.Error("no rows are accepted")
	}
	if strata = []int{40, 40, 40, 700, 700}; *draw(1) != *draw(1) {
		t.Error("strata above the number of rows are drawn otherwise")
	}
}

func TestImpossibleFiguresAreErrors(t *testing.T) {
	nan := math.NaN()
	for what, err := range map[string]error{
		"one class":           second(metrics.Rank([]bool{true, true}, []float64{1, 2})),
		"a score NaN":         second(metrics.Rank([]bool{true, false}, []float64{1, nan})),
		"no rows":             second(metrics.Rank(nil, nil)),
		"probability 2":       second(metrics.Brier([]int{0}, matrix([][]float64{{2, -1}}))),
		"class 2 of 2":        second(metrics.Brier([]int{2}, matrix([][]float64{{1, 0}}))),
		"no rows to score":    second(metrics.Brier(nil, linalg.New[float64](0, 2))),
		"no bins":             second(metrics.CalibrationUniform([]bool{true}, []float64{1}, 0)),
		"no bins of quantile": second(metrics.CalibrationQuantile([]bool{true}, []float64{1}, -1)),
		"no rows in bins":     second(metrics.CalibrationQuantile(nil, nil, 10)),
		"probability NaN":     second(metrics.CalibrationQuantile([]bool{true}, []float64{nan}, 2)),
		"threshold 1":         second(metrics.DecisionCurve([]bool{true}, []float64{1}, []float64{1})),
		"benefit of -1":       second(metrics.DecisionCurve([]bool{true}, []float64{-1}, []float64{0.5})),
		"error NaN":           second(metrics.MAE([]float64{nan}, []float64{1})),
		"residual infinite":   second(metrics.NewResiduals([]float64{math.Inf(1)}, []float64{1})),
		"pairs of one class":  second(metrics.RankPairs([]int{0, 0}, linalg.New[float64](2, 2))),
	} {
		if err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
}

func second[T any](_ T, err error) error { return err }
