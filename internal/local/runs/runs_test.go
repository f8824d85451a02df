package runs

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
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

func TestTurnsListEachPartyAndSpreadOverThem(t *testing.T) {
	runs := []*method.Result{
		{Metrics: learner.Metrics{"accuracy": 0.5, "auc": 0.75}, Training: 70, HeldOut: 30, Timings: map[string]float64{"total": 1}, Alone: []method.Alone{{Party: "south"}}},
		{Metrics: learner.Metrics{"accuracy": 1}, Training: 30, HeldOut: 70, Timings: map[string]float64{"total": 3}, Alone: []method.Alone{{Party: "north"}}},
	}
	r := turnsOf([]string{"north", "south"}, runs)
	if got := r.Together["accuracy"]; got.Mean != 0.75 || math.Abs(got.Deviation-math.Sqrt(0.125)) > 1e-15 {
		t.Errorf("accuracy %+v; want mean 0.75, deviation sqrt(1/8)", got)
	}
	if got := r.Parties[1]; got.Party != "south" || got.Training != 30 || got.HeldOut != 70 || got.Metrics["accuracy"] != 1 || got.Alone[0].Party != "north" {
		t.Errorf("south %+v", got)
	}
	if r.Pooled != nil || r.Seconds.Mean != 2 {
		t.Errorf("pooled %v of nothing, %g s", r.Pooled, r.Seconds.Mean)
	}
}

func TestRunsOfAJob(t *testing.T) {
	j := &job.Job{Seed: 7, Repeats: 2}
	j.Data.Partition.Parties = []string{"north", "south"}
	if got := Of(j); len(got) != 2 || got[0].Name != "" || got[1].Name != "repeat-2" || got[1].Job.Seed != 8 || got[0].Job.Repeats != 0 {
		t.Errorf("two splits: %+v", got)
	}
	j.Repeats, j.Data.Test.Parties = 0, job.Each
	got := Of(j)
	if len(got) != 2 || got[1].Name != "without-south" || got[1].Job.Data.Test != (job.Test{Party: "south"}) || got[1].Job.Seed != 7 {
		t.Errorf("each party: %+v", got)
	}
	results := []*method.Result{{Timings: map[string]float64{}}, {Timings: map[string]float64{}}}
	if r := Collect(j, got, results); r != results[0] || len(r.LeaveOneSiteOut.Parties) != 2 || r.Repeats != nil {
		t.Errorf("collected %+v", r)
	}
}
