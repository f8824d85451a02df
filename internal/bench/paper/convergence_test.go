package paper

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/fdskl"
	"github.com/mercer-fl/mercer/internal/method/fdsvrg"
	"github.com/mercer-fl/mercer/internal/method/ppsvmv"
	"github.com/mercer-fl/mercer/internal/method/secureboost"
	boosting "github.com/mercer-fl/mercer/protocol/secureboost"
	"github.com/mercer-fl/mercer/report"
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
		if got := errorAfter(t, c, 1, step); math.Abs(got-want) > 1e-12 {
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

// errorAfter returns the value of a line at a step of a curve.
func errorAfter(t *testing.T, c report.Curve, line int, step string) float64 {
	t.Helper()
	at := slices.Index(c.Steps, step)
	if at < 0 || line >= len(c.Lines) {
		t.Fatalf("the curve has %d lines and the steps %v, want line %d at step %s", len(c.Lines), c.Steps, line, step)
	}
	return c.Lines[line].Values[at]
}

// lengthened returns a result whose error and seconds tell the job's method and its length.
func lengthened(j *job.Job) *method.Result {
	var wrong, seconds, compare, pooled float64
	switch keys := j.Protocol.Values.(type) {
	case *fdskl.Keys:
		n := float64(keys.Directions)
		if wrong, seconds = 8/n, n/128; keys.Training == fdskl.Faithful {
			wrong, seconds, compare, pooled = .25+16/n, n/64, n/1024, .5-n/(1<<14)
		} else if keys.Directions == 2048 { // more directions than 1,024, and a larger error
			wrong = .0625
		}
	case *fdsvrg.Keys:
		_, l := learner.OptimizerParamsOf(j)
		wrong, seconds = .5/float64(l.Iterations), float64(l.Iterations)/8
	case *secureboost.Keys:
		wrong, seconds = .25/float64(j.Learner.Values.(*learner.BoostedTrees).Rounds), .5
		if keys.HE == boosting.Paillier {
			seconds = 3
		}
	case *ppsvmv.Keys:
		wrong, seconds = .125, 7
	default: // pooled
		wrong, seconds = .0625, 2
	}
	return &method.Result{
		Metrics: learner.Metrics{"accuracy": 1 - wrong}, Pooled: learner.Metrics{"accuracy": 1 - pooled},
		Timings: map[string]float64{"protocol": seconds / 2, "learn": seconds / 2, "compare": compare, "align": 100},
	}
}

// Each training of each method is one point: its seconds and its error. The time of a number of encrypted
// trees is that number times the time of the first. A line shows the least error so far.
func TestFigure3HasAPointForEachTraining(t *testing.T) {
	runner, _ := small(t, lengthened)
	runner.Has = func(string) bool { return true }
	f, err := guFigure3(t.Context(), runner)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string][2]float64)
	for _, r := range f.Rows {
		point := got[r.Cell]
		point[map[string]int{"s": 0, "error": 1}[r.Figure]] = r.Ours.Mean
		got[r.Cell] = point
	}
	want := make(map[string][2]float64)
	for cell, point := range map[string][2]float64{
		algorithm1 + ", 256 iterations": {4, .3125}, algorithm1 + ", 1024 iterations": {16, .265625}, algorithm1 + ", 4096 iterations": {64, .25390625},
		"DSG, pooled, 256 iterations": {.25, .484375}, "DSG, pooled, 1024 iterations": {1, .4375}, "DSG, pooled, 4096 iterations": {4, .25},
		oneShot + ", 64 directions": {.5, .125}, oneShot + ", 256 directions": {2, .03125}, oneShot + ", 1024 directions": {8, .0078125}, oneShot + ", 2048 directions": {16, .0625},
		"FD-SVRG, 2 iterations": {.25, .25}, "FD-SVRG, 10 iterations": {1.25, .05}, "FD-SVRG, 40 iterations": {5, .0125},
		"SecureBoost, 1 trees": {3, .25}, "SecureBoost, 5 trees": {15, .05}, "SecureBoost, 20 trees": {60, .0125}, "SecureBoost, 50 trees": {150, .005},
		"PP-SVMV, all rows": {7, .125}, "LIBSVM's kernel, pooled, all rows": {2, .0625},
	} {
		want["phishing (original), "+cell] = point
	}
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); d != "" {
		t.Error(d)
	}
	if len(f.Curves) != 1 || len(f.Curves[0].Lines) != 7 {
		t.Fatalf("curves %+v, want one of seven methods", f.Curves)
	}
	for _, at := range []struct {
		line int
		step string
		want float64
	}{{0, "5", .3125}, {0, "100", .25390625}, {1, "1", .125}, {1, "20", .0078125}, {2, "2", .05}, {3, "20", .05}, {4, "1", .4375}, {5, "10", .125}, {6, "2", .0625}} {
		if got := errorAfter(t, f.Curves[0], at.line, at.step); math.Abs(got-at.want) > 1e-12 {
			t.Errorf("%s has the error %v after %s s, want %v", f.Curves[0].Lines[at.line].Name, got, at.step, at.want)
		}
	}
	var verdicts []Verdict
	for _, c := range f.Claims { // of FD-SVRG, SecureBoost and PP-SVMV, first by Algorithm 1, then by one-shot FDSKL
		verdicts = append(verdicts, c.Verdict)
	}
	if d := cmp.Diff([]Verdict{Fails, Fails, Fails, Fails, Fails, Holds}, verdicts); d != "" {
		t.Errorf("claims %+v: %s", f.Claims, d)
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
