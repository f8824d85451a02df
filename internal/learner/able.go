package learner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/hinge"
	"github.com/mercer-fl/mercer/learn/linear"
)

// Each of these interfaces stands for a kind of input, such as a kernel matrix. A learner's
// settings implement the interfaces of the inputs from which the learner can learn. A method checks
// for the interface of its input, so that no method lists learners and no learner lists methods. An
// ability of a single learner is checked by its type.
type (
	// KernelLearner learns from a kernel matrix. Methods that compute one, such as okra and pooled, use it.
	KernelLearner interface{ Solver(seed uint64) Solver }
	// SumsLearner learns from sums of products of random features. Methods moments and sealed use it.
	SumsLearner interface{ Sums() Objective }
	// LossLearner learns by minimising a convex loss. Method fdskl gives it random features, and
	// method fd-svrg columns.
	LossLearner interface {
		Loss() (linear.Loss, error)
		// OptimizerParams returns the learner's settings. The method completes them while it reads
		// a job.
		OptimizerParams() *Descent
		// Exact returns a similar learner that uses the exact kernel in place of random features. Its
		// loss can differ. The argument is the number of training rows.
		Exact(rows float64) job.Named
	}
	// Rowwise marks learners that read rows of the kernel matrix on demand and keep a limited
	// number of them. Other learners on a kernel need the whole matrix.
	Rowwise interface{ Rowwise() }
	// RowWeighted marks learners on a kernel that take a weight for each training row. They use
	// [Training.Weights].
	RowWeighted interface{ WeighsRows() }
)

// Able returns a text that lists all learners for which isAble returns true. Classifiers come
// first, then regressions, then the others. The text conjunction joins the last two names.
func Able(conjunction string, isAble func(*job.Job) bool) string {
	var classes, numbers, others []string
	for _, k := range Table() {
		names := &others
		switch task := k.Task(); {
		case task.Classes:
			names = &classes
		case task.Numbers:
			names = &numbers
		}
		if isAble(&job.Job{Learner: job.Named{Kind: k, Values: k.New()}}) {
			*names = append(*names, k.Name())
		}
	}
	all := slices.Concat(classes, numbers, others)
	if n := len(all) - 1; n > 0 {
		return strings.Join(all[:n], ", ") + conjunction + all[n]
	}
	return strings.Join(all, "")
}

// On reports whether a job's learner implements the interface C.
func On[C any](j *job.Job) bool {
	_, able := j.Learner.Values.(C)
	return able
}

// OnRows makes the checks of [OnMatrix], except that it accepts learners on two views of each row. It is for
// methods that have rows, and can therefore hide the columns of a view.
func OnRows(j *job.Job, in *section.Place) error {
	if UsesViews(j) {
		return cmp.Or(checkWeight(j, in), checkViews(j, in))
	}
	return OnMatrix(j, in)
}

// RunsOnMatrix reports whether [OnMatrix] accepts a job's learner.
func RunsOnMatrix(j *job.Job) bool { return On[KernelLearner](j) && !UsesViews(j) }

// OnMatrix refuses learners that need more than a kernel matrix, kernels that need more than inner
// products, and weights of rows that the learner does not take. The error names a protocol that runs them,
// or a learner or kernel to use instead.
func OnMatrix(j *job.Job, in *section.Place) error {
	protocol, name := j.Protocol.Name(), j.Learner.Name()
	switch {
	case UsesViews(j):
		return in.Refuse("learner", "learner %s runs with protocols okra, flake and pooled only; use kpca", name)
	case On[KernelLearner](j):
	case On[SumsLearner](j):
		return in.Refuse("learner", "learner %s runs with protocols moments and sealed only; use svc", name)
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
	return checkWeight(j, in)
}

// checkWeight refuses weights of rows if the learner does not take them. The error names the learners
// that do.
func checkWeight(j *job.Job, in *section.Place) error {
	if j.Data.Weight == "" || On[RowWeighted](j) {
		return nil
	}
	return in.Refuse("data.weight", "learner %s takes no weights of rows; remove \"weight\", or use %s", j.Learner.Name(), Able(" or ", On[RowWeighted]))
}

// Objective describes what a learner optimises on sums of products of random features.
type Objective struct {
	Penalty    float64 // weight of the squared norm; in a Gaussian process, the noise variance
	Process    bool    // the learner is a Gaussian process, which also computes a likelihood and deviations
	Components int     // number of principal components; 0: a regression on the labels
}

// ObjectiveOf returns a learner's objective on sums. It returns false if the learner cannot learn
// from sums.
func ObjectiveOf(l job.Named) (Objective, bool) {
	on, able := l.Values.(SumsLearner)
	if !able {
		return Objective{}, false
	}
	return on.Sums(), true
}

// Steps holds the settings of a learner that makes steps along sums of subgradients.
type Steps struct {
	ClassWeight map[string]float64 // factor of the loss for each class; other classes have 1
	Lambda      float64            // weight of the squared norm
	Iterations  int
	Average     int // number of last weight vectors whose average is the result
	Schedule    hinge.Schedule
	Rate        float64 // length of each step with schedule constant
}

// Profile holds the settings of a learner that learns from lists of liked items.
type Profile struct {
	Lambda    float64 // penalty for uneven weights
	Recommend int     // number of items to recommend to each person
}
