package metrics

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// binned puts rows with scores from 0 to 1 into bins.
func binned(positive []bool, scores []float64, bins int) (h Histogram, at []float64) {
	h = Histogram{make([]float64, bins), make([]float64, bins)}
	for i, s := range scores {
		bin := min(int(s*float64(bins)), bins-1)
		at = append(at, float64(bin))
		if positive[i] {
			h.Positive[bin]++
		} else {
			h.Negative[bin]++
		}
	}
	return h, at
}

// The figures of a histogram are the figures of rows whose scores are their bins, and the area is as far
// from the rows' own as the bound says, or less.
func TestHistogramsAreTiedRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 200).Draw(t, "rows")
		scores := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "scores")
		positive := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "classes")
		positive[0], positive[1] = true, false
		h, at := binned(positive, scores, rapid.IntRange(1, 30).Draw(t, "bins"))

		exact, err := ROCAUC(positive, scores)
		if err != nil {
			t.Fatal(err)
		}
		tied, err := Rank(positive, at)
		if err != nil {
			t.Fatal(err)
		}
		area, within, ok := h.AUC()
		if want, _ := tied.AUC(nil); !ok || math.Abs(area-want) > 1e-12 || math.Abs(area-exact) > within+1e-12 {
			t.Fatalf("area %v within %v, %t; of ties %v, of the rows %v", area, within, ok, want, exact)
		}
		ap, ok := h.AveragePrecision()
		if want, _ := tied.AveragePrecision(nil); !ok || math.Abs(ap-want) > 1e-12 {
			t.Fatalf("average precision %v, %t, of ties %v", ap, ok, want)
		}
		pr, want := h.PrecisionRecall(), tied.PrecisionRecall()
		if !slices.Equal(pr.X, want.X) || !slices.Equal(pr.Y, want.Y) || !slices.Equal(pr.Thresholds[1:], want.Thresholds[1:]) {
			t.Fatalf("precision and recall %v, of ties %v", pr, want)
		}
		roc := h.ROC()
		if len(roc.X) != len(pr.X) || !slices.Equal(roc.Y, pr.X) || roc.X[0] != 0 || roc.X[len(roc.X)-1] != 1 || !slices.IsSorted(roc.X) {
			t.Fatalf("ROC curve %v", roc)
		}
	})
}

// Scores of two classes that share no bin are known well enough: the bound is 0.
func TestHistogramsOfSeparateBins(t *testing.T) {
	h := Histogram{Positive: []float64{0, 3, 0, 7}, Negative: []float64{5, 0, 2, 0}}
	area, within, ok := h.AUC()
	if want := float64(5*10+2*7) / 70; area != want || within != 0 || !ok {
		t.Errorf("area %v within %v, %t, want %v", area, within, ok, want)
	}
	for _, none := range []Histogram{{}, {[]float64{1, 2}, []float64{0, 0}}, {[]float64{0, 0}, []float64{2, 0}}} {
		if _, _, ok := none.AUC(); ok {
			t.Errorf("%v has an area", none)
		}
	}
	if _, ok := (Histogram{[]float64{0, 0}, []float64{2, 0}}).AveragePrecision(); ok {
		t.Error("no positive row has an average precision")
	}
}
