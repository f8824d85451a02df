package job

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// The learners on random features of columns that several parties hold: see
// learn/linear. Each is called by its loss.
const (
	Logistic    LearnerName = "logistic"
	SmoothHinge LearnerName = "smooth-hinge"
	Squared     LearnerName = "squared"
	Huber       LearnerName = "huber"
)

func randomLearners() []LearnerName { return []LearnerName{Logistic, SmoothHinge, Squared, Huber} }

// LaplacianProduct is the product of a laplacian kernel for each column,
// exp(-gamma times the sum of |x_j-z_j|). It is no function of inner products, and
// of protocol fdskl only.
const LaplacianProduct KernelName = "laplacian-product"

// Training says in what order the label holder asks for phases, and what it
// learns from them; see protocol fdskl.
type Training string

// The trainings. Cached asks for all phases once and learns at home; the others
// are the published algorithm and its practical variants, with new directions in
// each iteration.
const (
	Cached   Training = "cached"
	Faithful Training = "faithful" // one row and one direction in each iteration
	Blocks   Training = "block"    // a batch of rows and a block of directions
	Precond  Training = "precond"  // the same, by Newton's steps
)

// Tree is the shape in which phases are added up.
type Tree string

// The trees.
const (
	BinaryTree Tree = "binary"
	StarTree   Tree = "star"
	ChainTree  Tree = "chain"
)

// Defaults of fdskl and its learners.
const (
	defaultPhases       = 1024 // directions
	defaultPhaseBits    = 16
	defaultRandomLambda = 1e-6
	defaultBatch        = 256
	defaultBlocks       = 64
	defaultRate         = 4 // 1 of Newton's steps
	maxPhases           = 1 << 20
	maxTurns            = 1 << 16 // directions of one of several active workers: a request has room for them
)

// fdsklKeys are the keys that only protocol fdskl has.
func fdsklKeys() []string { return []string{"training", "bits", "tree", "active"} }

// finishFDSKL checks the parameters of protocol fdskl.
func (p *Protocol) finishFDSKL(in *section.Place) error {
	if p.Mode == "" {
		p.Mode = Hardened
	}
	if p.Training == "" {
		p.Training = Cached
	}
	if p.Tree == "" {
		p.Tree = BinaryTree
	}
	if !in.Given("bits") {
		p.Bits = defaultPhaseBits
	}
	if err := p.finishIDs(in); err != nil {
		return err
	}
	switch err := in.Count("directions", &p.Directions, defaultPhases); {
	case err != nil:
		return err
	case p.Directions > maxPhases:
		return in.Refuse("directions", "directions is %d; write up to %d", p.Directions, maxPhases)
	case !slices.Contains([]int{8, 16, 32}, p.Bits):
		return in.Refuse("bits", "bits is %d; a phase has 8, 16 or 32", p.Bits)
	case p.Mode == Paper && in.Given("tree") && p.Tree != BinaryTree:
		return in.Refuse("tree", "mode paper has trees of its own; remove tree")
	}
	return p.finishActive(in)
}

// finishActive checks how many learn. Several make iterations of the published
// algorithm in turns: at the same time, as the paper has it, the model would depend
// on timing, and a job that goes on after a crash would end in another one.
func (p *Protocol) finishActive(in *section.Place) error {
	switch err := in.Count("active", &p.Active, 1); {
	case err != nil:
		return err
	case p.Active > 1 && p.Training != Faithful:
		return in.Refuse("active", "several active workers take turns at one row and one direction; add training: faithful, or remove active")
	case p.Active > 1 && p.Directions%p.Active != 0:
		return in.Refuse("directions", "directions is %d; write a multiple of %d, as many for each active worker", p.Directions, p.Active)
	case p.Active > 1 && p.Directions/p.Active > maxTurns:
		return in.Refuse("directions", "directions is %d; write up to %d for each active worker", p.Directions, maxTurns)
	}
	return nil
}

// finishFDSKL checks that learner and kernel are those of random features, and
// what goes with them.
func (j *Job) finishFDSKL(in *section.Place) error {
	if fdskl := j.Protocol.Name == FDSKL; fdskl != slices.Contains(randomLearners(), j.Learner.Name) {
		return in.Refuse("learner", "protocol %s and learner %s do not go together; fdskl runs %s, and nothing else does", j.Protocol.Name, j.Learner.Name, section.Join(randomLearners()))
	} else if !fdskl {
		return j.refuseRandom(in)
	}
	switch {
	case len(j.Kernels()) > 1 || !slices.Contains([]KernelName{RBF, Laplacian, LaplacianProduct, RationalQuadratic, Matern}, j.Kernel.Name):
		return in.Refuse("kernel", "protocol fdskl needs one kernel with random features: rbf, laplacian, laplacian-product, rational-quadratic or matern")
	case j.Protocol.Active > len(j.Parties()):
		return in.Refuse("protocol", "%d active workers of %d parties; write up to %d", j.Protocol.Active, len(j.Parties()), len(j.Parties()))
	case j.Protocol.Active > 1 && j.Prediction == Open:
		return in.Refuse("prediction", "several active workers each keep a part of the model, which no prediction adds up in this version; remove prediction, or active")
	case j.Compares(ExactKernel) && j.Kernel.Name == LaplacianProduct:
		return in.Refuse("compare", "the laplacian-product kernel is known by its random features only; remove exact-kernel")
	case j.Data.Folds > 0:
		return in.Refuse("data", "protocol fdskl chooses nothing by folds; use test: {fraction: 0.25}")
	}
	return j.finishTraining(in)
}

// refuseRandom refuses what goes with random features only.
func (j *Job) refuseRandom(in *section.Place) error {
	if j.Compares(ExactKernel) {
		return in.Refuse("compare", "exact-kernel is of protocol fdskl, which has random features in the kernel's place; remove it")
	}
	for _, k := range j.Kernels() {
		if k.Name == LaplacianProduct {
			return in.Refuse("kernel", "the laplacian-product kernel is no function of inner products, and of protocol fdskl only; use laplacian")
		}
	}
	return nil
}

// finishTraining fills in what the training needs of the learner, and refuses
// what it does not use.
func (j *Job) finishTraining(in *section.Place) error {
	l, training := &j.Learner, j.Protocol.Training
	switch {
	case training == Cached && (l.Rate != 0 || l.Batch != 0 || l.Iterations != 0):
		return in.Refuse("learner", "training cached has no rate, batch or iterations; remove them, or add training: block to protocol")
	case training == Cached:
		return nil
	case training == Faithful && (l.Batch > 1 || l.Iterations != 0):
		return in.Refuse("learner", "training faithful takes one row and one direction in each iteration; remove batch and iterations, directions says how many there are")
	case l.Iterations > j.Protocol.Directions:
		return in.Refuse("learner", "%d iterations with %d directions; each needs one at least", l.Iterations, j.Protocol.Directions)
	}
	if l.Rate == 0 && training == Precond {
		l.Rate = 1
	}
	orElse(&l.Rate, defaultRate)
	if training != Faithful {
		orElse(&l.Batch, defaultBatch)
		orElse(&l.Iterations, min(defaultBlocks, j.Protocol.Directions))
	}
	if l.Rate*l.Lambda >= 1 {
		return in.Refuse("learner", "rate %g times lambda %g must be below 1; write a smaller rate", l.Rate, l.Lambda)
	}
	return nil
}

// orElse sets a number that is not given.
func orElse[T int | float64](dst *T, v T) {
	if *dst == 0 {
		*dst = v
	}
}
