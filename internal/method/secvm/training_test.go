package secvm

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// knownWindow is the result of a window whose sum of subgradients over n records is known, for the
// given weights of the classes.
type knownWindow struct {
	sum         []float64
	n           float64
	minus, plus float64
}

func (knownWindow) Enough() bool { return true }

func (c knownWindow) Gradient(minus, plus float64) ([]float64, float64, error) {
	if minus != c.minus || plus != c.plus {
		return nil, 0, fmt.Errorf("the classes have weights %v and %v, want %v and %v", minus, plus, c.minus, c.plus)
	}
	return c.sum, c.n, nil
}

func (knownWindow) Outcomes() (none [2]secvm.Outcome) { return none }

// A job's training makes the steps of the paper's equations 2 and 7 with the job's lambda, rate and class
// weights, and its model is the mean of as many last weight vectors as the job says, two by default.
func TestTrainingMakesThePapersSteps(t *testing.T) {
	const lambda, n = .5, 100.
	for learning, eta := range map[string]func(step float64) float64{
		"":                      func(step float64) float64 { return 1 / (lambda * step) },
		", schedule: published": func(step float64) float64 { return lambda / step },
		", schedule: constant, rate: 0.25, average: 3": func(float64) float64 { return .25 },
	} {
		text := strings.NewReplacer("{name: secvm,", "{name: secvm, mode: paper,", ", aggregation: secagg, dropped: 0.1", "", "lambda: 100, iterations: 2", "lambda: 0.5, iterations: 4, class_weight: {yes: 1.5}"+learning).Replace(enrolledJob)
		j := read(t, text)
		if got := learner.StepsOf(j).Lambda; got != lambda {
			t.Fatalf("lambda %v", got)
		}
		training, err := NewTraining(j, [2]string{"no", "yes"})
		if err != nil {
			t.Fatal(err)
		}
		w, all := make([]float64, training.Params().Features()), [][]float64(nil)
		for step := 1.; step <= 4; step++ {
			if _, got := training.Published(); !slices.EqualFunc(got, w, isNear) {
				t.Fatalf("%q, step %v: weights %v, want %v", learning, step, got, w)
			}
			c := knownWindow{make([]float64, len(w)), n, 1, 1.5}
			for k := range c.sum {
				c.sum[k] = 10 * math.Sin(step+float64(k)) // stays within the bound of the weights
			}
			if over, err := training.Close(c); err != nil || !over {
				t.Fatalf("%v, %v", over, err)
			}
			w = slices.Clone(w)
			for k := range w {
				w[k] = (1-eta(step)*lambda)*w[k] + eta(step)*c.sum[k]/n
			}
			all = append(all, w)
		}
		averaged := 2
		if strings.Contains(learning, "average: 3") {
			averaged = 3
		}
		w = make([]float64, len(w))
		for _, last := range all[4-averaged:] {
			for k, v := range last {
				w[k] += v / float64(averaged)
			}
		}
		if got := training.Model().Weights; !slices.EqualFunc(got, w, isNear) {
			t.Errorf("%q: the model has weights %v, want %v", learning, got, w)
		}
	}
}

func isNear(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

// In mode paper no weight that devices are sent is beyond 1/lambda, whatever the sums are.
func TestPublishedWeightsAreBounded(t *testing.T) {
	j := read(t, strings.NewReplacer("{name: secvm,", "{name: secvm, mode: paper,", ", aggregation: secagg, dropped: 0.1", "", "lambda: 100", "lambda: 0.5").Replace(enrolledJob))
	training, err := NewTraining(j, [2]string{"no", "yes"})
	if err != nil {
		t.Fatal(err)
	}
	c := knownWindow{make([]float64, training.Params().Features()), 1, 1, 1}
	for k := range c.sum {
		c.sum[k] = 1000 * float64(1-k%2*2)
	}
	if over, err := training.Close(c); err != nil || !over {
		t.Fatalf("%v, %v", over, err)
	}
	_, w := training.Published()
	for k, v := range w {
		if want := 2 * float64(1-k%2*2); v != want {
			t.Errorf("weight %d is %v, want %v", k, v, want)
		}
	}
}
