package learner

import "github.com/mercer-fl/mercer/internal/job"

// Table returns all learners, in the order of the documentation. No other list of learners exists.
// Each learner is a type in a file of its own, with its settings and, on a kernel, its solver.
func Table() []job.Learner {
	return []job.Learner{
		SVC{}, NuSVC{}, OneClass{}, SVR{}, Ridge{}, GP{}, KPCA{}, CCA{}, KMeans{}, CFKOMD{}, RidgeClassifier{}, LinearSVM{},
		Logistic{}, SmoothHinge{}, Squared{}, Huber{}, BoostedTrees{},
	}
}
