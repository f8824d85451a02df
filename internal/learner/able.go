package learner

import (
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/hinge"
	"github.com/mercer-fl/mercer/learn/linear"
)

// These interfaces name the inputs from which several learners can learn; the learner's values
// implement them. A method checks for the interface that it serves, so no method lists learners and
// no learner lists methods. Abilities of a single learner are checked by its type.
type (
	// KernelLearner learns from a kernel matrix: methods okra, gram and pooled.
	KernelLearner interface{ Solver(seed uint64) Solver }
	// SumsLearner learns from sums of products of random features: method moments.
	SumsLearner interface{ Sums() Objective }
	// LossLearner learns with a convex loss: from random features in method fdskl, from columns in
	// fd-svrg.
	LossLearner interface {
		Loss() (linear.Loss, error)
		// OptimizerParams returns the settings, which the method completes while a job is read.
		OptimizerParams() *Descent
		// Exact returns the learner on the kernel matrix that random features approximate, with the
		// given number of training rows.
		Exact(rows float64) job.Named
	}
	// Rowwise learners read rows of the kernel matrix on demand, and keep as many as a limit
	// allows. Other learners on a kernel need the whole matrix.
	Rowwise interface{ Rowwise() }
)

// Able lists, for a message, the learners whose jobs have an ability: first learners of classes,
// then learners of numbers.
func Able(last string, able func(*job.Job) bool) string {
	var classes, numbers, others []string
	for _, k := range Table() {
		names := &others
		switch task := k.Task(); {
		case task.Classes:
			names = &classes
		case task.Numbers:
			names = &numbers
		}
		if able(&job.Job{Learner: job.Named{Kind: k, Values: k.New()}}) {
			*names = append(*names, k.Name())
		}
	}
	all := slices.Concat(classes, numbers, others)
	if n := len(all) - 1; n > 0 {
		return strings.Join(all[:n], ", ") + last + all[n]
	}
	return strings.Join(all, "")
}

// On reports whether a job's learner has an ability.
func On[C any](j *job.Job) bool {
	_, able := j.Learner.Values.(C)
	return able
}

// OnRows refuses as [OnMatrix] does, but accepts learners of two views: the method has rows, in
// which the columns of a view can be hidden.
func OnRows(j *job.Job, in *section.Place) error {
	if UsesViews(j) {
		return checkViews(j, in)
	}
	return OnMatrix(j, in)
}

// OnMatrix refuses learners and kernels that need more than a kernel matrix computed from inner
// products. Each of these runs with one protocol, or few.
func OnMatrix(j *job.Job, in *section.Place) error {
	protocol, name := j.Protocol.Name(), j.Learner.Name()
	switch {
	case UsesViews(j):
		return in.Refuse("learner", "learner %s runs with protocols okra, flake and pooled only; use kpca", name)
	case On[KernelLearner](j):
	case On[SumsLearner](j):
		return in.Refuse("learner", "learner %s runs with protocol moments only; use svc", name)
	case ProfileOf(j) != nil:
		return in.Refuse("learner", "protocol %s does not run learner %s; use protocol fedcfk", protocol, name)
	case StepsOf(j) != nil:
		return in.Refuse("learner", "protocol %s does not run learner %s; use protocol secvm", protocol, name)
	case TreesOf(j) != nil:
		return in.Refuse("learner", "protocol %s does not run learner %s; use protocol secureboost", protocol, name)
	default:
		return in.Refuse("learner", "protocol %s does not run learner %s; protocol fdskl runs %s", protocol, name, Able(", ", On[LossLearner]))
	}
	for _, k := range j.Kernels() {
		if k.Name == job.LaplacianProduct {
			return in.Refuse("kernel", "the laplacian-product kernel is no function of inner products and runs with protocol fdskl only; use laplacian")
		}
	}
	return nil
}

// Objective describes how a learner learns from sums of products of random features.
type Objective struct {
	Penalty    float64 // of the squared norm; of a process, the variance of a measurement
	Process    bool    // a Gaussian process, which chooses by the likelihood and has deviations
	Components int     // principal components; 0: a regression on the labels
}

// ObjectiveOf returns a learner's objective on sums; false for a learner that does not learn from
// sums.
func ObjectiveOf(l job.Named) (Objective, bool) {
	on, able := l.Values.(SumsLearner)
	if !able {
		return Objective{}, false
	}
	return on.Sums(), true
}

// Steps are the settings of a learner that makes steps on sums of subgradients.
type Steps struct {
	ClassWeight map[string]float64 // factor of the loss by class; classes not named have 1
	Lambda      float64            // price of the squared norm
	Iterations  int
	Average     int // last weight vectors that are averaged
	Schedule    hinge.Schedule
}

// Profile holds the settings of a learner on lists of liked items.
type Profile struct {
	Lambda    float64 // price of uneven weights
	Recommend int     // items that each person is recommended
}
