package hinge

import (
	"fmt"
	"math"
	"slices"
)

// Schedule is a rule for the step length in iteration t = 1, 2, ...
type Schedule string

// These are the schedules. Pegasos is 1/(lambda t); its first step discards the weights at the
// start. Published is lambda/t, as in the code of SecVM's server: lambda is then both the weight of
// the regulariser and a learning rate, and convergence is slow. Constant is the learning rate of
// the paper's equation 2.
const (
	Pegasos   Schedule = "pegasos"
	Published Schedule = "published"
	Constant  Schedule = "constant"
)

// Spec holds the settings of a training.
type Spec struct {
	Lambda   float64  // weight of the regulariser, above 0
	Schedule Schedule // "" means Pegasos
	Rate     float64  // length of each step of Constant, above 0; Rate times Lambda is below 1
	Average  int      // number of last weight vectors to average; 0 means 2, as published
	// Radius is the radius of a ball around zero. Every step is projected onto the ball, including
	// the bias (Shalev-Shwartz et al., Pegasos, 2011, fig. 1). 0 means no projection, as published.
	// See [Radius].
	Radius float64
}

// Radius returns the radius of a ball that contains the weights with the least objective. The
// argument largest is the largest class weight. The norm of these weights is at most 1/sqrt(lambda).
// A class weight above 1 makes the ball larger, because steps on rows of that class can overshoot.
func Radius(lambda, largest float64) float64 { return math.Sqrt(max(1, largest) / lambda) }

// Trainer holds the state of a training. Its weights begin at zero.
type Trainer struct {
	spec Spec
	t    int
	w    []float64
	last [][]float64 // last weight vectors, oldest first, at most spec.Average
}

// New returns a trainer for the given number of features. The bias counts as a feature.
func New(s Spec, features int) (*Trainer, error) {
	if s.Schedule == "" {
		s.Schedule = Pegasos
	}
	if s.Average == 0 {
		s.Average = 2
	}
	switch {
	case !(s.Lambda > 0) || math.IsInf(s.Lambda, 0):
		return nil, fmt.Errorf("hinge: lambda is %g; use a finite number above 0", s.Lambda)
	case s.Schedule != Pegasos && s.Schedule != Published && s.Schedule != Constant:
		return nil, fmt.Errorf("hinge: schedule %q is not known; use %s, %s or %s", s.Schedule, Pegasos, Published, Constant)
	case s.Schedule == Constant && !(s.Rate > 0 && s.Rate*s.Lambda < 1):
		return nil, fmt.Errorf("hinge: the rate is %g; it must be above 0 and below 1/lambda = %g", s.Rate, 1/s.Lambda)
	case !(s.Radius >= 0) || math.IsInf(s.Radius, 0):
		return nil, fmt.Errorf("hinge: the radius of the ball is %g; it must be at least 0, where 0 means no ball", s.Radius)
	case s.Average < 1:
		return nil, fmt.Errorf("hinge: \"average\" is %d; it must be at least 1", s.Average)
	case features < 1:
		return nil, fmt.Errorf("hinge: there are %d features; there must be at least 1", features)
	}
	return &Trainer{spec: s, w: make([]float64, features)}, nil
}

// Resume returns a trainer that continues the training of an earlier trainer. The arguments
// iterations and vectors are the earlier trainer's [Trainer.Iterations] and [Trainer.Last]. The new
// trainer keeps the slice vectors without a copy.
func Resume(s Spec, features, iterations int, vectors [][]float64) (*Trainer, error) {
	t, err := New(s, features)
	if err != nil {
		return nil, err
	}
	if iterations < 0 || len(vectors) != min(iterations, t.spec.Average) {
		return nil, fmt.Errorf("hinge: the state holds the weight vectors of %d iterations, after %d iterations; it must hold those of the last %d, or of all iterations if there are fewer", len(vectors), iterations, t.spec.Average)
	}
	for _, w := range vectors {
		if len(w) != features {
			return nil, fmt.Errorf("hinge: one of the last weight vectors has %d features; it must have %d", len(w), features)
		}
		t.w = w
	}
	t.t, t.last = iterations, vectors
	return t, nil
}

// Spec returns the settings, with defaults filled in.
func (tr *Trainer) Spec() Spec { return tr.spec }

// Last returns the weight vectors that [Trainer.Mean] averages, oldest first. The caller must not
// change them.
func (tr *Trainer) Last() [][]float64 { return slices.Clone(tr.last) }

// Iterations returns the number of completed steps.
func (tr *Trainer) Iterations() int { return tr.t }

// Weights returns a copy of the weights at which the caller must compute the next sum.
func (tr *Trainer) Weights() []float64 { return slices.Clone(tr.w) }

// Step moves the weights along sum, which is a sum of subgradients over rows whose weights add up
// to n. It is equation 7 of the paper, with the sign of the paper's code.
func (tr *Trainer) Step(sum []float64, n float64) error {
	if len(sum) != len(tr.w) {
		return fmt.Errorf("hinge: the sum has %d features; it must have %d, like the weights", len(sum), len(tr.w))
	}
	if !(n > 0) {
		return fmt.Errorf("hinge: the weights of the rows in the sum add up to %g; they must add up to more than 0", n)
	}
	tr.t++
	eta := tr.eta()
	next := make([]float64, len(tr.w))
	for j, w := range tr.w {
		next[j] = (1-eta*tr.spec.Lambda)*w + eta*sum[j]/n
	}
	tr.project(next)
	tr.w = next
	if tr.last = append(tr.last, next); len(tr.last) > tr.spec.Average {
		tr.last = tr.last[1:]
	}
	return nil
}

// project moves weights outside the ball to the nearest point of the ball.
func (tr *Trainer) project(w []float64) {
	if tr.spec.Radius == 0 {
		return
	}
	if length := norm(w); length > tr.spec.Radius {
		for j := range w {
			w[j] *= tr.spec.Radius / length
		}
	}
}

// norm returns the Euclidean norm. It rounds in the same way on every machine.
func norm(w []float64) float64 {
	sum := 0.
	for _, v := range w {
		sum += float64(v * v) // the conversion prevents a fused multiply-add, whose rounding differs
	}
	return math.Sqrt(sum)
}

func (tr *Trainer) eta() float64 {
	switch tr.spec.Schedule {
	case Published:
		return tr.spec.Lambda / float64(tr.t)
	case Constant:
		return tr.spec.Rate
	}
	return 1 / (tr.spec.Lambda * float64(tr.t))
}

// Mean returns the mean of the last weight vectors. Rows are predicted with this mean.
func (tr *Trainer) Mean() []float64 {
	mean := make([]float64, len(tr.w))
	for _, w := range tr.last {
		for j, v := range w {
			mean[j] += v / float64(len(tr.last))
		}
	}
	return mean
}
