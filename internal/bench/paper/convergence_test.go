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
	sources := make(map[string]bool)
	runner, _ := small(t, func(j *job.Job) *method.Result {
		sources[j.Data.Source] = true
		accuracy, seconds := .9, 3.
		if k, is := j.Protocol.Values.(*fdskl.Keys); is {
			accuracy, seconds = 1-8/float64(k.Directions), float64(k.Directions)/128
			if k.Training == fdskl.Faithful {
				accuracy = 0.8
			}
		}
		if j.Protocol.Name() == "pooled" {
			accuracy = .75
		}
		return &method.Result{
			Metrics: map[string]float64{"accuracy": accuracy}, Pooled: map[string]float64{"accuracy": .75},
			Timings: map[string]float64{"protocol": seconds, "compare": seconds / 10},
		}
	})
	runner.Has, runner.Quick = func(string) bool { return true }, false
	f, err := guFigure3(t.Context(), runner)
	if err != nil {
		t.Fatal(err)
	}
	if !sources["phishing"] || !sources["a9a/a9a + a9a/a9a.t"] || len(sources) != 2 || len(f.Curves) != 2 {
		t.Errorf("%d curves of %v, want phishing and a9a", len(f.Curves), sources)
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
	for i, want := range map[int]float64{5: .1, 6: .25} { // PP-SVMV, and LIBSVM on all columns
		if l := c.Lines[i]; l.Name != []string{"PP-SVMV", "LIBSVM's kernel, pooled"}[i-5] || !(math.Abs(l.Values[len(l.Values)-1]-want) <= 1e-12) {
			t.Errorf("line %d: %+v, want the error %v", i, l, want)
		}
	}
	if len(f.Claims) != 10 || f.Claims[1].Numbers != "0.1000 after 2 s, beside 3 s" {
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
