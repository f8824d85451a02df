package cli

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
)

func TestRepeatsSpreadEachFigureOverTheRunsThatHaveIt(t *testing.T) {
	runs := []*method.Result{
		{Metrics: learner.Metrics{"accuracy": 0.5, "auc": 0.75}, Alone: []method.Alone{{Party: "north", Metrics: learner.Metrics{"accuracy": 0.25}}}, Timings: map[string]float64{"total": 1}},
		{Metrics: learner.Metrics{"accuracy": 1}, Alone: []method.Alone{{Party: "north", Failure: "one class"}}, Timings: map[string]float64{"total": 3}},
	}
	r := repeatsOf([]uint64{1, 2}, runs)
	if got := r.Together["accuracy"]; got.Mean != 0.75 || math.Abs(got.Deviation-math.Sqrt(0.125)) > 1e-15 || len(got.Values) != 2 {
		t.Errorf("accuracy %+v; want mean 0.75, deviation sqrt(1/8)", got)
	}
	if got := r.Together["auc"]; got.Mean != 0.75 || got.Deviation != 0 || len(got.Values) != 1 {
		t.Errorf("auc %+v; want the only value", got)
	}
	if got := r.Alone[0].Figures["accuracy"]; got.Mean != 0.25 || len(got.Values) != 1 {
		t.Errorf("north alone %+v", got)
	}
	if r.Pooled != nil || r.ExactKernel != nil {
		t.Errorf("figures of nothing: %v, %v", r.Pooled, r.ExactKernel)
	}
	if r.Seconds.Mean != 2 {
		t.Errorf("%g s on average, want 2", r.Seconds.Mean)
	}
}
