package hinge_test

import (
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/learn/hinge"
)

// rows is a plain data set, the bias as last feature.
type rows struct {
	x [][]float64
	y []float64
}

// sum adds up subgradients the dumb way.
func (r rows) sum(w []float64) []float64 {
	g := make([]float64, len(w))
	for i, x := range r.x {
		if margin := r.y[i] * dot(w, x); margin < 1 {
			for j, v := range x {
				g[j] += r.y[i] * v
			}
		}
	}
	return g
}

func dot(a, b []float64) float64 {
	s := 0.
	for j := range a {
		s += a[j] * b[j]
	}
	return s
}

func (r rows) objective(w []float64, lambda float64) float64 {
	j := lambda / 2 * dot(w, w)
	for i, x := range r.x {
		j += max(0, 1-r.y[i]*dot(w, x)) / float64(len(r.x))
	}
	return j
}

func toy() rows {
	return rows{[][]float64{{1, 0, 2, 1}, {0, 1, 1, 1}, {1, 1, 0, 1}, {0, 0, 3, 1}}, []float64{1, -1, 1, -1}}
}

// Pegasos reaches the minimum of two small problems. Its weights come from the dual problem, solved by
// scipy.
func TestConverges(t *testing.T) {
	const lambda = .1
	lopsided := toy()
	lopsided.y = []float64{1, 1, 1, -1}
	for name, tt := range map[string]struct {
		rows rows
		want []float64
	}{
		"toy":                 {toy(), []float64{5. / 3, -2. / 3, -1. / 3, 0}},
		"lopsided":            {lopsided, []float64{1.4, 0.8, -0.6, 0.8}},
		"toy, each row twice": {rows{slices.Repeat(toy().x, 2), slices.Repeat(toy().y, 2)}, []float64{5. / 3, -2. / 3, -1. / 3, 0}},
	} {
		tr, err := hinge.New(hinge.Spec{Lambda: lambda, Average: 2000}, 4)
		if err != nil {
			t.Fatal(err)
		}
		for range 20000 {
			if err := tr.Step(tt.rows.sum(tr.Weights()), float64(len(tt.rows.y))); err != nil {
				t.Fatal(err)
			}
		}
		w := tr.Mean()
		for j, want := range tt.want {
			if math.Abs(w[j]-want) > 2e-3 {
				t.Errorf("%s: weight %d is %g, want %g", name, j, w[j], want)
			}
		}
		if got, best := tt.rows.objective(w, lambda), tt.rows.objective(tt.want, lambda); got > best+1e-4 {
			t.Errorf("%s: the objective is %g, and its minimum %g", name, got, best)
		}
		if tr.Iterations() != 20000 {
			t.Errorf("%d iterations", tr.Iterations())
		}
	}
}

// Within a ball that holds the minimum, steps that are projected onto it reach the
// minimum too, and none of them leaves it, however far the first would go.
func TestConvergesWithinTheBall(t *testing.T) {
	const lambda = .1
	r := toy()
	spec := hinge.Spec{Lambda: lambda, Average: 2000, Radius: hinge.Radius(lambda, 1)}
	free, err := hinge.New(hinge.Spec{Lambda: lambda, Average: 2000}, 4)
	if err != nil {
		t.Fatal(err)
	}
	held, err := hinge.New(spec, 4)
	if err != nil {
		t.Fatal(err)
	}
	out := 0
	for range 20000 {
		for _, tr := range []*hinge.Trainer{free, held} {
			if err := tr.Step(r.sum(tr.Weights()), 4); err != nil {
				t.Fatal(err)
			}
		}
		if norm := math.Sqrt(dot(held.Weights(), held.Weights())); norm > spec.Radius*(1+1e-12) {
			t.Fatalf("weights of norm %g in a ball of radius %g", norm, spec.Radius)
		}
		if norm := math.Sqrt(dot(free.Weights(), free.Weights())); norm > spec.Radius {
			out++
		}
	}
	if out == 0 {
		t.Error("without a ball no step has left it: the test shows nothing")
	}
	if a, b := r.objective(held.Mean(), lambda), r.objective(free.Mean(), lambda); math.Abs(a-b) > 1e-3 {
		t.Errorf("within the ball the objective is %g, without one %g", a, b)
	}
}

func TestMeanOfLast(t *testing.T) {
	for average, of := range map[int]int{0: 2, 1: 1, 2: 2, 3: 3} { // two by default, as published
		tr, err := hinge.New(hinge.Spec{Lambda: 1, Average: average}, 1)
		if err != nil {
			t.Fatal(err)
		}
		var all []float64
		for i := range 5 { // other sums, so that the weights differ
			if err := tr.Step([]float64{float64(i * i)}, 1); err != nil {
				t.Fatal(err)
			}
			all = append(all, tr.Weights()[0])
		}
		want := 0.
		for _, w := range all[5-of:] {
			want += w / float64(of)
		}
		if math.Abs(tr.Mean()[0]-want) > 1e-15 {
			t.Errorf("average %d: mean %g, want %g", average, tr.Mean()[0], want)
		}
	}
}

// A trainer that goes on in another process ends where one does that ran
// through.
func TestResume(t *testing.T) {
	spec := hinge.Spec{Lambda: .3, Average: 3}
	whole, err := hinge.New(spec, 2)
	if err != nil {
		t.Fatal(err)
	}
	parts := whole
	for i := range 7 {
		sum := []float64{float64(i), 1}
		if err := whole.Step(sum, 2); err != nil {
			t.Fatal(err)
		}
		if parts != whole {
			if err := parts.Step(sum, 2); err != nil {
				t.Fatal(err)
			}
		}
		if parts, err = hinge.Resume(spec, 2, parts.Iterations(), parts.Last()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(whole.Mean(), parts.Mean()) || !slices.Equal(whole.Weights(), parts.Weights()) {
		t.Errorf("%v, %v; want %v, %v", parts.Mean(), parts.Weights(), whole.Mean(), whole.Weights())
	}
	for _, last := range [][][]float64{nil, {{1, 2}}, {{1, 2}, {3}}} {
		if _, err := hinge.Resume(spec, 2, 2, last); err == nil {
			t.Errorf("%v was taken", last)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, s := range []hinge.Spec{{}, {Lambda: -1}, {Lambda: math.NaN()}, {Lambda: math.Inf(1)}, {Lambda: 1, Schedule: "other"}, {Lambda: 1, Average: -1}, {Lambda: 1, Radius: -1}, {Lambda: 1, Radius: math.Inf(1)}} {
		if _, err := hinge.New(s, 3); err == nil {
			t.Errorf("%+v was taken", s)
		}
	}
	tr, err := hinge.New(hinge.Spec{Lambda: 1}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if tr.Step(make([]float64, 2), 1) == nil || tr.Step(make([]float64, 3), 0) == nil || tr.Iterations() != 0 {
		t.Error("a sum of another length or over no rows was taken")
	}
}

// Two steps of equation 2 with a constant rate, computed by hand: the rows are (1) and (-1) with
// labels 1 and -1, lambda is .5 and the rate is .25.
func TestConstantRate(t *testing.T) {
	tr, err := hinge.New(hinge.Spec{Lambda: .5, Schedule: hinge.Constant, Rate: .25, Average: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []float64{.25, .875*.25 + .25} {
		if err := tr.Step([]float64{2}, 2); err != nil {
			t.Fatal(err)
		}
		if w := tr.Weights()[0]; w != want {
			t.Errorf("weight %v, want %v", w, want)
		}
	}
	for _, rate := range []float64{0, -1, 2, math.NaN()} {
		if _, err := hinge.New(hinge.Spec{Lambda: .5, Schedule: hinge.Constant, Rate: rate}, 1); err == nil {
			t.Errorf("rate %v is accepted", rate)
		}
	}
}

// The ball has the radius of Pegasos, the root of 1/lambda, and a larger one with a class weight above 1.
func TestRadius(t *testing.T) {
	for _, tt := range []struct{ lambda, largest, want float64 }{{.25, 1, 2}, {.25, .5, 2}, {.25, 4, 4}, {1, 1, 1}} {
		if got := hinge.Radius(tt.lambda, tt.largest); got != tt.want {
			t.Errorf("lambda %v, largest weight %v: radius %v, want %v", tt.lambda, tt.largest, got, tt.want)
		}
	}
}
