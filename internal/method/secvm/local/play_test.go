package local

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/secvm"
	"github.com/mercer-fl/mercer/linalg"
)

const anonymous = `apiVersion: mercer/v1
kind: Job
metadata: {name: anonymous}
spec:
  data:
    source: words.svm
    label: label
    partition: {by: devices}
    test: {fraction: 0.25}
  protocol: {name: secvm, bins: 64, packages: 24, cohort: 50}
  kernel: {name: linear}
  learner: {name: linear-svm, lambda: 0.01, iterations: 40}
`

// words makes records up whose label follows from two of forty words.
func words(rows int) *dataset.Set {
	r := rand.New(rand.NewPCG(1, 2))
	start, cols, values, labels := []int{0}, []int32{}, []float64{}, []string{}
	for range rows {
		label := []string{"-1", "+1"}[r.IntN(2)]
		for c := range int32(40) {
			chance := .2
			if c == 7 && label == "+1" || c == 11 && label == "-1" {
				chance = .9
			}
			if r.Float64() < chance {
				cols, values = append(cols, c), append(values, 1)
			}
		}
		start, labels = append(start, len(cols)), append(labels, label)
	}
	x, err := dataset.NewCSR(40, start, cols, values)
	if err != nil {
		panic(err)
	}
	return &dataset.Set{Name: "words", X: x, Labels: labels}
}

func devicesConfig(t *testing.T, text string) people {
	t.Helper()
	j := jobtest.Parse(t, text)
	return people{Play: local.Play{Job: j, Dir: t.TempDir(), Seed: daemon.InsecureSeeds(1)}, rows: words(400)}
}

func runDevices(t *testing.T, c people) *method.Result {
	t.Helper()
	r, err := c.play(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// figuresOf returns what only results of SecVM have.
func figuresOf(t *testing.T, r *method.Result) *secvm.Figures {
	t.Helper()
	d, err := method.DetailsOf[secvm.Details](r)
	if err != nil {
		t.Fatal(err)
	}
	return d.SecVM
}

// The devices learn nearly what pooled data would, and leaves a model that
// predicts as the testing devices did.
func TestDevices(t *testing.T) {
	c := devicesConfig(t, anonymous)
	r := runDevices(t, c)
	if got, pooled := r.Metrics["accuracy"], r.Pooled["accuracy"]; got < .85 || got < pooled-.02 {
		t.Errorf("accuracy %.3f, pooled %.3f", got, pooled)
	}
	s := figuresOf(t, r)
	if s.Trainers+s.Testers != 400 || s.Testers < 70 || s.Testers > 130 || s.Windows != 41 || s.Sampled != 0 {
		t.Errorf("%+v", s)
	}
	if s.Majority < .5 || s.Majority > .7 || s.Majority != secvm.MajorityOf(s.Classes) {
		t.Errorf("the larger class is %v of %+v", s.Majority, s.Classes)
	}
	b, err := os.ReadFile(r.Models[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := secvm.DecodeLinearModel(b)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, label := range c.rows.Labels {
		if m.Predict(secvm.Features(c.rows.X, i)) == label {
			right++
		}
	}
	if got := float64(right) / 400; got < .85 {
		t.Errorf("the model predicts %.3f of all records", got)
	}
	if last := s.Averages[len(s.Averages)-1]; last.Iteration != 39 || last.Averaged != 50 {
		t.Errorf("the curve ends with %+v", last)
	}
	if s.BinCurve != nil {
		t.Error("other numbers of bins, which nobody asked for")
	}
}

// Covers and the order of packages change nothing that is learnt: where no step
// leaves the ball, both modes end in the same weights. Where steps do, hardened
// weights are kept within, and published ones are not.
func TestDevicesAsPublished(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	weights := func(r *method.Result) []float64 {
		b, err := os.ReadFile(r.Models[0].Path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := secvm.DecodeLinearModel(b)
		if err != nil {
			t.Fatal(err)
		}
		return m.Weights
	}
	norm := func(w []float64) float64 { return math.Sqrt(linalg.Dot(w, w)) }
	asPublished := func(text string) string {
		return strings.Replace(text, "{name: secvm,", "{name: secvm, mode: paper,", 1)
	}
	strong := strings.Replace(anonymous, "lambda: 0.01", "lambda: 4", 1)
	hardened, paper := runDevices(t, devicesConfig(t, strong)), runDevices(t, devicesConfig(t, asPublished(strong)))
	if !slices.Equal(weights(hardened), weights(paper)) {
		t.Error("the two modes end in different weights")
	}
	short := strings.Replace(anonymous, "iterations: 40", "iterations: 1", 1)
	if got := norm(weights(runDevices(t, devicesConfig(t, short)))); math.Abs(got-10) > 1e-9 { // 1/sqrt(0.01)
		t.Errorf("after the first step hardened weights have norm %g, where the ball has 10", got)
	}
	if got := norm(weights(runDevices(t, devicesConfig(t, asPublished(short))))); got < 20 {
		t.Errorf("published weights of norm %g have not left the ball", got)
	}
	if !strings.Contains(fmt.Sprint(paper.Leakage["broker"]), "mode: paper") {
		t.Errorf("%v", paper.Leakage["broker"])
	}
}

// More bins, fewer collisions; with the job's number of bins the curve has the
// job's accuracy.
func TestDevicesBins(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r := runDevices(t, devicesConfig(t, anonymous+"  compare: [curve]\n"))
	c := figuresOf(t, r).BinCurve
	if len(c) != 11 || c[0].Bins != 64 || c[10].Bins != 1<<16 {
		t.Fatalf("%v", c)
	}
	if c[0].Accuracy != r.Metrics["accuracy"] || c[10].Accuracy < c[0].Accuracy-.02 || r.Pooled != nil {
		t.Errorf("%v; the job's accuracy is %v", c, r.Metrics["accuracy"])
	}
}

// A source of its own for tests, weighted classes, records cut to the packages.
func TestDevicesHeldOut(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	text := strings.NewReplacer("{fraction: 0.25}", "{source: more.svm}", "packages: 24", "packages: 8",
		"iterations: 40}", `iterations: 40, class_weight: {"+1": 4}}`).Replace(anonymous)
	c := devicesConfig(t, text)
	first := make([]int, 100)
	for i := range first {
		first[i] = i
	}
	tables := map[string]*dataset.Set{"words.svm": c.rows, "more.svm": c.rows.Subset(first)}
	c.Rows = func(source string) (*dataset.Set, error) { return tables[source], nil }
	r, err := play(t.Context(), c.Play)
	if err != nil {
		t.Fatal(err)
	}
	if figuresOf(t, r).Testers != 100 || figuresOf(t, r).Trainers != 400 || figuresOf(t, r).Sampled == 0 {
		t.Errorf("%+v", figuresOf(t, r))
	}
	plain := runDevices(t, devicesConfig(t, anonymous))
	share := func(c secvm.ClassTest) float64 { return float64(c.Correct) / float64(c.Tested) }
	if share(figuresOf(t, r).Classes[1]) < share(figuresOf(t, plain).Classes[1]) {
		t.Errorf("the class of weight 4 is predicted right in %.3f, without it in %.3f", share(figuresOf(t, r).Classes[1]), share(figuresOf(t, plain).Classes[1]))
	}
}

func TestBadDevices(t *testing.T) {
	for want, change := range map[string]func(*people){
		"the labels have 1 classes":            func(c *people) { c.rows.Labels = slices.Repeat([]string{"a"}, 400) },
		"the labels have 3 classes":            func(c *people) { c.rows.Labels = slices.Repeat([]string{"a", "b", "c", "a"}, 100) },
		"the labels have 3 classes; secvm":     func(c *people) { c.heldOut = words(1); c.heldOut.Labels = []string{"prime"} },
		"no label column":                      func(c *people) { c.rows.Labels = nil },
		`lower "cohort"`:                       func(c *people) { secvm.KeysOf(c.Job).Cohort = 390 },
		`which is not among the job's classes`: func(c *people) { secvm.KeysOf(c.Job).Classes = []string{"a", "b"} },
		`the labels have a class "+1", which`:  func(c *people) { secvm.KeysOf(c.Job).Classes = []string{"-1", "b"} },
		`the labels have a class "-1", which`:  func(c *people) { secvm.KeysOf(c.Job).Classes = []string{"b", "+1"} },
		`class_weight names class "malignant"`: func(c *people) { learner.StepsOf(c.Job).ClassWeight = map[string]float64{"malignant": 2} },
		"use 3 (for participation, bias and ":  func(c *people) { secvm.KeysOf(c.Job).Packages = 2 },
	} {
		c := devicesConfig(t, anonymous)
		change(&c)
		if _, err := c.play(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
