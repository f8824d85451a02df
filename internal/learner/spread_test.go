package learner

import (
	"math"
	"testing"
)

// Mean and sample deviation of eight runs, with divisor 7.
func TestSpreadOfRuns(t *testing.T) {
	var runs []Metrics
	for _, v := range []float64{2, 4, 4, 4, 5, 5, 7, 9} {
		runs = append(runs, Metrics{"accuracy": v})
	}
	runs[7]["auc"] = .5 // a figure of one run only
	all := Spreads(runs)
	if s := all["accuracy"]; s.Mean != 5 || math.Abs(s.Deviation-math.Sqrt(32./7)) > 1e-15 || len(s.Values) != 8 {
		t.Errorf("%+v, want mean 5 and deviation %v", s, math.Sqrt(32./7))
	}
	if s := all["auc"]; s.Mean != .5 || s.Deviation != 0 || len(s.Values) != 1 {
		t.Errorf("%+v of one value", s)
	}
}
