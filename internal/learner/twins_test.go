package learner

import (
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// Each linear learner has the loss of its name, by its formula.
func TestLossOfEachLearner(t *testing.T) {
	for _, tt := range []struct {
		learner LossLearner
		want    func(u, y float64) float64
	}{
		{new(Logistic), func(u, y float64) float64 { return math.Log(1 + math.Exp(-y*u)) }},
		{new(Squared), func(u, y float64) float64 { return (u - y) * (u - y) }},
		{new(SmoothHinge), func(u, y float64) float64 {
			switch z := y * u; {
			case z <= 0:
				return .5 - z
			case z < 1:
				return (1 - z) * (1 - z) / 2
			}
			return 0
		}},
		{&Huber{Delta: .75}, func(u, y float64) float64 {
			if e := math.Abs(u - y); e > .75 {
				return .75 * (e - .75/2)
			}
			return (u - y) * (u - y) / 2
		}},
	} {
		loss, err := tt.learner.Loss()
		if err != nil {
			t.Fatal(err)
		}
		for u := -2.; u <= 2; u += .25 {
			for _, y := range []float64{-1, 1} {
				if got, want := loss.Value(u, y), tt.want(u, y); math.Abs(got-want) > 1e-15 {
					t.Errorf("%T of %v, target %v: %v, want %v", tt.learner, u, y, got, want)
				}
			}
		}
	}
}

// Each learner trains the machine of its name with its own settings: its decisions are those of
// package svm on the same rows. Two values of a setting have different decisions.
func TestSettingsReachTheMachines(t *testing.T) {
	task := tumours(t)
	for i, label := range task.Labels {
		task.Labels[i] = map[string]string{"M": "1", "B": "-1", "1": "1", "0": "-1"}[label]
	}
	train, held := task.Rows()
	codes := make([]int, len(train))
	targets := make([]float64, len(train))
	for i, row := range train {
		targets[i] = 1
		if task.Labels[row] == "-1" {
			codes[i], targets[i] = 1, -1
		}
	}
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: .02})
	if err != nil {
		t.Fatal(err)
	}
	all := kernel.Materialize(kernel.Of(task.Gram, k)).K
	src := kernel.Dense{K: part(all, train, train)}
	classified := func(c *svm.Classifier, err error) (*svm.Machine, error) {
		if err != nil {
			return nil, err
		}
		p := c.Pairs[0]
		return &svm.Machine{Support: linalg.At(c.Support(), p.Index), Coef: p.Coef, Rho: p.Rho}, nil
	}
	for name, tt := range map[string]func(v float64) (Solver, *svm.Machine, error){
		"svc": func(v float64) (Solver, *svm.Machine, error) {
			p := svm.Params{C: v * 10, Tol: 1e-9}
			m, err := classified(svm.TrainSVC(src, codes, []string{"1", "-1"}, p, nil))
			return SVC{Params: p}, m, err
		},
		"nu-svc": func(v float64) (Solver, *svm.Machine, error) {
			p := svm.NuParams{Nu: v, Tol: 1e-9}
			m, err := classified(svm.TrainNuSVC(src, codes, []string{"1", "-1"}, p, nil))
			return NuSVC{NuParams: p}, m, err
		},
		"one-class": func(v float64) (Solver, *svm.Machine, error) {
			p := svm.NuParams{Nu: v, Tol: 1e-9}
			m, err := svm.TrainOneClass(src, p)
			return OneClass{NuParams: p}, m, err
		},
		"svr, C": func(v float64) (Solver, *svm.Machine, error) {
			p := svm.SVRParams{C: v * 10, Epsilon: .1, Tol: 1e-9}
			m, err := svm.TrainSVR(src, targets, p)
			return SVR{SVRParams: p}, m, err
		},
		"svr, epsilon": func(v float64) (Solver, *svm.Machine, error) {
			p := svm.SVRParams{C: 1, Epsilon: v, Tol: 1e-9}
			m, err := svm.TrainSVR(src, targets, p)
			return SVR{SVRParams: p}, m, err
		},
	} {
		var before []float64
		for _, v := range []float64{.1, .4} {
			solver, machine, err := tt(v)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			f, _ := mustFit(t, task, Spec{Kernel: k, Solver: solver})
			want := machine.Decisions(part(all, held, linalg.At(train, machine.Support)))
			got := f.Decisions.Column(0)
			for i, d := range want {
				if math.Abs(math.Abs(got[i])-math.Abs(d)) > 1e-6*(1+math.Abs(d)) {
					t.Errorf("%s, %v: decision %d is %v, by package svm %v", name, v, i, got[i], d)
				}
			}
			if before != nil && slices.EqualFunc(got, before, func(a, b float64) bool { return math.Abs(a-b) < 1e-4 }) {
				t.Errorf("%s: the setting changes nothing", name)
			}
			before = got
		}
	}
}

// part returns a copy of the given rows and columns of a matrix.
func part(m linalg.Matrix[float64], rows, cols []int) linalg.Matrix[float64] {
	out := linalg.New[float64](len(rows), len(cols))
	for i, r := range rows {
		copy(out.Row(i), linalg.At(m.Row(r), cols))
	}
	return out
}
