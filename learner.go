package mercer

import (
	"cmp"
	"math"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/learn/kmeans"
	"github.com/mercer-fl/mercer/learn/svm"
)

// Zero stands for the number 0 in a field where 0 selects the default, as in SVR{Epsilon:
// mercer.Zero}. Zero is the least positive float64. [Fit] and [FitNumbers] refuse Zero in a field that
// must be above 0, such as C.
const Zero = math.SmallestNonzeroFloat64

// or returns the given number, 0 for [Zero], or the default for 0.
func or(given, byDefault float64) float64 {
	if given == Zero {
		return 0
	}
	return cmp.Or(given, byDefault)
}

// Learner is a method that learns classes, clusters, or a region that contains the rows. The types
// of this package, such as [SVC], [NuSVC], [OneClass] or [KMeans], are learners.
type Learner interface {
	// learner returns the solver and whether the solver needs labels.
	learner() (learner.Solver, bool)
}

// Regressor is a method that learns to predict numbers.
type Regressor interface {
	regressor() learner.Solver
}

// SVC is C-support-vector classification, of two classes or more.
type SVC struct {
	C       float64            // cost of a margin error; 0 means 1
	Weights map[string]float64 // factor of C for each class; 1 for classes without an entry
	// Probability makes [Model.Probabilities] available. The training then takes several times as
	// long: five more trainings on four fifths of the rows calibrate the decisions, by Platt scaling.
	Probability bool
	Seed        uint64 // seed of the division into fifths
}

// NuSVC is nu-support-vector classification.
type NuSVC struct {
	Nu          float64 // upper bound on the share of margin errors, up to 1; 0 means 0.5
	Probability bool    // as in [SVC]
	Seed        uint64  // as in [SVC]
}

// OneClass learns a region that contains most of the rows. It takes no labels.
type OneClass struct {
	Nu float64 // greatest share of training rows outside the region, up to 1; 0 means 0.5
}

// KMeans is kernel k-means. It takes no labels.
type KMeans struct {
	Clusters int    // number of clusters; 0 means 8
	Seed     uint64 // seed for the random starts
}

// SVR is epsilon-support-vector regression.
type SVR struct {
	C       float64 // cost of an error beyond Epsilon; 0 means 1
	Epsilon float64 // error without cost, in the unit of the targets; 0 means 0.1, and [Zero] means 0
}

// Ridge is kernel ridge regression. It subtracts the mean of the targets before training and adds
// this mean to every prediction.
type Ridge struct {
	Alpha float64 // weight of the squared norm in the objective; 0 means 1
}

// GP is a Gaussian process. It trains on targets scaled to mean 0 and variance 1.
// [Model.Decisions] also returns the standard deviation of a measurement.
type GP struct {
	Noise float64 // variance of a measurement's noise if the targets are scaled to variance 1; 0 means 0.1
}

func (l SVC) learner() (learner.Solver, bool) {
	return learner.SVC{Params: svm.Params{C: or(l.C, 1), Weights: l.Weights}, Probability: l.Probability, Seed: l.Seed}, true
}

func (l NuSVC) learner() (learner.Solver, bool) {
	return learner.NuSVC{NuParams: svm.NuParams{Nu: or(l.Nu, 0.5)}, Probability: l.Probability, Seed: l.Seed}, true
}

func (l OneClass) learner() (learner.Solver, bool) {
	return learner.OneClass{NuParams: svm.NuParams{Nu: or(l.Nu, 0.5)}}, false
}

func (l KMeans) learner() (learner.Solver, bool) {
	return learner.KMeans{Params: kmeans.Params{Clusters: cmp.Or(l.Clusters, 8), Seed: l.Seed}}, false
}

func (l SVR) regressor() learner.Solver {
	return learner.SVR{SVRParams: svm.SVRParams{C: or(l.C, 1), Epsilon: or(l.Epsilon, 0.1)}}
}

func (l Ridge) regressor() learner.Solver { return learner.Ridge{Alpha: or(l.Alpha, 1)} }

func (l GP) regressor() learner.Solver { return learner.GP{Noise: or(l.Noise, 0.1)} }
