package metrics_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/learn/metrics"
)

type points struct {
	X, Y       []float64
	Thresholds []*float64
}

type bins struct{ True, Predicted []float64 }

// figures is testdata/figures.json, which testdata/figures.py wrote.
type figures struct {
	Binary struct {
		Truth, Predicted []int
		P                []float64
		AUC              float64 `json:"roc_auc"`
		AP               float64 `json:"average_precision"`
		ROC              points
		PR               points `json:"precision_recall"`
		Brier            float64
		Uniform          bins
		Quantile         bins
		Thresholds       []float64
		Benefit          []float64
		All              []float64 `json:"treat_all"`
		Intervals        map[string][2]float64
	}
	Many struct {
		Truth, Predicted, Rows             []int
		P                                  [][]float64
		Precision, Recall, F1, Specificity []float64
		Balanced                           float64 `json:"balanced_accuracy"`
		Brier, AUC                         float64
		Interval                           [2]float64 `json:"auc_interval"`
	}
	Regression struct {
		Truth, Predicted []float64
		MAE              float64
		Residuals        metrics.Residuals
		Intervals        map[string][2]float64
	}
}

func goldenFigures(t *testing.T) (g figures) {
	t.Helper()
	text, err := os.ReadFile("testdata/figures.json")
	if err == nil {
		err = json.Unmarshal(text, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// near fails unless two lists are equal up to 1e-12.
func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= 1e-12) {
			t.Fatalf("%s: value %d is %.17g, want %.17g", what, i, got[i], w)
		}
	}
}

func ones(codes []int) []bool {
	out := make([]bool, len(codes))
	for i, c := range codes {
		out[i] = c == 1
	}
	return out
}

func TestCurvesAsScikitLearn(t *testing.T) {
	g := goldenFigures(t).Binary
	r, err := metrics.Rank(ones(g.Truth), g.P)
	if err != nil {
		t.Fatal(err)
	}
	auc, _ := r.AUC(nil)
	ap, _ := r.AveragePrecision(nil)
	near(t, "areas", []float64{auc, ap}, []float64{g.AUC, g.AP})
	roc := r.ROC()
	near(t, "false positive rates", roc.X, g.ROC.X)
	near(t, "true positive rates", roc.Y, g.ROC.Y)
	for i, at := range g.ROC.Thresholds {
		if got := roc.Thresholds[i]; at == nil && !math.IsInf(got, 1) || at != nil && got != *at {
			t.Errorf("threshold %d is %v", i, got)
		}
	}
	pr := r.PrecisionRecall()
	slices.Reverse(pr.X)
	slices.Reverse(pr.Y)
	near(t, "recall", pr.X, g.PR.X)
	near(t, "precision", pr.Y, g.PR.Y)
}

func TestProbabilitiesAsScikitLearn(t *testing.T) {
	g := goldenFigures(t)
	positive := ones(g.Binary.Truth)
	two := make([][]float64, len(positive))
	for i, p := range g.Binary.P {
		two[i] = []float64{1 - p, p}
	}
	b, err := metrics.Brier(g.Binary.Truth, matrix(two))
	if err != nil {
		t.Fatal(err)
	}
	many, err := metrics.Brier(g.Many.Truth, matrix(g.Many.P))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "Brier scores", []float64{b, many}, []float64{g.Binary.Brier, g.Many.Brier})
	for what, f := range map[string]func([]bool, []float64, int) ([]metrics.Bin, error){"uniform": metrics.CalibrationUniform, "quantile": metrics.CalibrationQuantile} {
		got, err := f(positive, g.Binary.P, 10)
		if err != nil {
			t.Fatal(err)
		}
		want := g.Binary.Uniform
		if what == "quantile" {
			want = g.Binary.Quantile
		}
		var predicted, truth []float64
		rows := 0
		for _, bin := range got {
			predicted, truth, rows = append(predicted, bin.Predicted), append(truth, bin.True), rows+bin.Rows
		}
		near(t, what+" predicted", predicted, want.Predicted)
		near(t, what+" true", truth, want.True)
		if rows != len(positive) {
			t.Errorf("%s: %d rows in bins, want %d", what, rows, len(positive))
		}
	}
	curve, err := metrics.DecisionCurve(positive, g.Binary.P, g.Binary.Thresholds)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range curve {
		near(t, "net benefit", []float64{p.Model, p.All}, []float64{g.Binary.Benefit[i], g.Binary.All[i]})
	}
}

func TestPerClassAsScikitLearn(t *testing.T) {
	g := goldenFigures(t).Many
	m, err := metrics.NewConfusionMatrix(g.Truth, g.Predicted)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "balanced accuracy", []float64{m.BalancedAccuracy()}, []float64{g.Balanced})
	for i, c := range m.PerClass() {
		near(t, "class "+c.Class, []float64{*c.Recall, *c.Specificity, *c.F1}, []float64{g.Recall[i], g.Specificity[i], g.F1[i]})
		if c.Rows != g.Rows[i] {
			t.Errorf("class %s has %d rows, want %d", c.Class, c.Rows, g.Rows[i])
		}
		if c.Predicted > 0 {
			near(t, "precision", []float64{*c.Precision}, []float64{g.Precision[i]})
		} else if c.Precision != nil { // scikit-learn says 0
			t.Errorf("class %s was never predicted and has precision %v", c.Class, *c.Precision)
		}
	}
}

func TestResidualsAsNumpy(t *testing.T) {
	g := goldenFigures(t).Regression
	mae, err := metrics.MAE(g.Truth, g.Predicted)
	if err != nil {
		t.Fatal(err)
	}
	r, err := metrics.NewResiduals(g.Truth, g.Predicted)
	if err != nil {
		t.Fatal(err)
	}
	w := g.Residuals
	near(t, "residuals", []float64{mae, r.Mean, r.Deviation, r.Least, r.Quartile1, r.Median, r.Quartile3, r.Greatest},
		[]float64{g.MAE, w.Mean, w.Deviation, w.Least, w.Quartile1, w.Median, w.Quartile3, w.Greatest})
}

// drawn repeats each row as often as it was drawn.
func drawn[T any](rows []T, times []int) (out []T) {
	for i, n := range times {
		for range n {
			out = append(out, rows[i])
		}
	}
	return out
}

func TestIntervalsAsScipy(t *testing.T) {
	g := goldenFigures(t)
	b, r := g.Binary, g.Regression
	ranked, err := metrics.Rank(ones(b.Truth), b.P)
	if err != nil {
		t.Fatal(err)
	}
	check := func(got []*metrics.Interval, err error, want ...[2]float64) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			near(t, "interval", []float64{got[i].Low, got[i].High}, w[:])
		}
	}
	got, err := metrics.Bootstrap(b.Truth, 7, 3, func(times []int, v []float64) {
		v[0], _ = ranked.AUC(times)
		v[1], _ = ranked.AveragePrecision(times)
		v[2], _ = metrics.BalancedAccuracy(drawn(b.Truth, times), drawn(b.Predicted, times))
	})
	check(got, err, b.Intervals["auc"], b.Intervals["average_precision"], b.Intervals["balanced_accuracy"])
	got, err = metrics.Bootstrap(make([]int, len(r.Truth)), 11, 3, func(times []int, v []float64) {
		truth, predicted := drawn(r.Truth, times), drawn(r.Predicted, times)
		v[0], _ = metrics.RMSE(truth, predicted)
		v[1], _ = metrics.R2(truth, predicted)
		v[2], _ = metrics.MAE(truth, predicted)
	})
	check(got, err, r.Intervals["rmse"], r.Intervals["r2"], r.Intervals["mae"])
	pairs, err := metrics.RankPairs(g.Many.Truth, matrix(g.Many.P))
	if err != nil {
		t.Fatal(err)
	}
	auc, _ := pairs.AUC(nil)
	near(t, "area of many classes", []float64{auc}, []float64{g.Many.AUC})
	got, err = metrics.Bootstrap(g.Many.Truth, 3, 1, func(times []int, v []float64) { v[0], _ = pairs.AUC(times) })
	check(got, err, g.Many.Interval)
}
