package paper

import (
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/fdskl"
)

// In this test errors depend on the directions; trees and iterations have one error.
func TestFigure3ShowsTheErrorThatEachMethodHasReached(t *testing.T) {
	runner, _ := small(t, func(j *job.Job) *method.Result {
		accuracy, seconds := .9, 3.
		if k, is := j.Protocol.Values.(*fdskl.Keys); is {
			accuracy, seconds = 1-8/float64(k.Directions), float64(k.Directions)/128
			if k.Training == fdskl.Faithful {
				accuracy = 0.8
			}
		}
		return &method.Result{
			Metrics: map[string]float64{"accuracy": accuracy}, Pooled: map[string]float64{"accuracy": .75},
			Timings: map[string]float64{"protocol": seconds, "compare": seconds / 10},
		}
	})
	runner.Has = func(string) bool { return true }
	f, err := guFigure3(t.Context(), runner)
	if err != nil {
		t.Fatal(err)
	}
	c := f.Curves[0]
	for step, want := range map[string]float64{"0.5": .125, "2": .03125, "10": .0078125, "200": .00390625} {
		if got := c.Lines[1].Values[slices.Index(c.Steps, step)]; math.Abs(got-want) > 1e-12 {
			t.Errorf("error after %s s: %v, want %v", step, got, want)
		}
	}
	if v := c.Lines[2].Values[0]; !math.IsNaN(v) {
		t.Errorf("FD-SVRG has an error of %v before it has ended", v)
	}
	if dsg := c.Lines[4]; dsg.Name != "DSG, pooled" || dsg.Values[len(dsg.Values)-1] != .25 {
		t.Errorf("the pooled twin of Algorithm 1: %+v", dsg)
	}
	if len(f.Claims) != 6 || f.Claims[1].Numbers != "0.1000 after 2 s, beside 3 s" {
		t.Errorf("claims %+v", f.Claims)
	}
	for i, claim := range f.Claims { // Algorithm 1 never reaches a rival's error, Mercer's training does
		want := []Verdict{Fails, Holds}[i%2]
		if claim.Verdict != want || claim.Surprises() {
			t.Errorf("claim %+v", claim)
		}
	}
}

func TestAMethodWithoutTheRivalsErrorDoesNotOvertake(t *testing.T) {
	ours, rival := course{trainings: []trained{{"", 1, .2}}}, course{trainings: []trained{{"", 50, .1}}}
	if c := overtakes(ours, rival, "set"); c.Verdict != Fails {
		t.Errorf("claim %+v", c)
	}
	if c := overtakes(rival, ours, "set"); c.Verdict != Fails {
		t.Errorf("a later method overtakes: %+v", c)
	}
}
