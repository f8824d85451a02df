package job

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// Learner names a learner and its parameters, called as in LIBSVM and
// scikit-learn. Parameters that the learner does not use are zero.
type Learner struct {
	Name        LearnerName
	C           float64            // svc, svr: price of a margin error, above 0
	Nu          float64            // nu-svc, one-class: share of margin errors, in (0, 1]
	Epsilon     float64            // svr: error that costs nothing, in the unit of the labels
	Tol         float64            // support vector machines: stopping rule
	ClassWeight map[string]float64 // svc: factor of C by class; classes not named have 1
	Probability bool               // svc, nu-svc: probabilities of the classes
	Alpha       float64            // ridge, ridge-classifier: price of the squared norm
	Noise       float64            // gp: variance of a measurement where that of the labels is 1
	NComponents int                // kpca
	NClusters   int                // kmeans
	Recommend   int                // cf-komd: items that each person is recommended
	Lambda      float64            // cf-komd: price of uneven weights; linear-svm and those of fdskl: of the squared norm
	Iterations  int                // linear-svm: steps; fdskl: blocks of directions
	Average     int                // linear-svm: last weight vectors that are averaged
	Schedule    Schedule           // linear-svm
	Delta       float64            // huber: error from which on the loss is straight, in the unit of the labels
	Rate        float64            // fdskl, but for training cached: length of a step
	Batch       int                // fdskl, training block and precond: rows of a step
}

// LearnerName names a learner.
type LearnerName string

// The learners.
const (
	SVC      LearnerName = "svc"
	NuSVC    LearnerName = "nu-svc"
	OneClass LearnerName = "one-class"
	SVR      LearnerName = "svr"
	Ridge    LearnerName = "ridge"
	GP       LearnerName = "gp"
	KPCA     LearnerName = "kpca"
	KMeans   LearnerName = "kmeans"
	// RidgeClassifier is a ridge regression for each class, on +1 for its rows
	// and -1 for the others.
	RidgeClassifier LearnerName = "ridge-classifier"
	// CFKOMD is the recommender of learn/komd.
	CFKOMD LearnerName = "cf-komd"
	// LinearSVM is the support vector machine of learn/hinge.
	LinearSVM LearnerName = "linear-svm"
)

// The learners on random features of columns that several parties hold: see
// learn/linear. Each is called by its loss.
const (
	Logistic    LearnerName = "logistic"
	SmoothHinge LearnerName = "smooth-hinge"
	Squared     LearnerName = "squared"
	Huber       LearnerName = "huber"
)

// RandomLearners returns the learners on random features.
func RandomLearners() []LearnerName { return []LearnerName{Logistic, SmoothHinge, Squared, Huber} }

// Schedule says how long a step of linear-svm is; see learn/hinge.
type Schedule string

// The schedules.
const (
	Pegasos   Schedule = "pegasos"
	Published Schedule = "published"
)

// Defaults.
const (
	defaultIterations   = 300
	defaultAverage      = 2 // as published
	defaultLinearLambda = 1e-3
	defaultLambda       = 0.1
	defaultRecommend    = 10
	defaultRandomLambda = 1e-6
)

// lambda is a learner's default.
func (n LearnerName) lambda() float64 {
	switch n {
	case LinearSVM:
		return defaultLinearLambda
	case CFKOMD:
		return defaultLambda
	}
	return defaultRandomLambda
}

// OnKernelMatrix refuses learners and kernels that need more than the matrix of a
// kernel on inner products. Each is of one protocol.
func (j *Job) OnKernelMatrix(in *section.Place) error {
	protocol, l := j.Protocol.Name(), j.Learner.Name
	switch {
	case l == RidgeClassifier:
		return in.Refuse("learner", "learner ridge-classifier runs with protocol moments only; use svc")
	case l == CFKOMD:
		return in.Refuse("learner", "protocol %s and learner %s do not go together; fedcfk and cf-komd do", protocol, l)
	case l == LinearSVM:
		return in.Refuse("learner", "protocol %s and learner %s do not go together; secvm and linear-svm do", protocol, l)
	case slices.Contains(RandomLearners(), l):
		return in.Refuse("learner", "protocol %s and learner %s do not go together; fdskl runs %s, and nothing else does", protocol, l, section.Join(RandomLearners()))
	}
	for _, k := range j.Kernels() {
		if k.Name == LaplacianProduct {
			return in.Refuse("kernel", "the laplacian-product kernel is no function of inner products, and of protocol fdskl only; use laplacian")
		}
	}
	return nil
}

func learnerNames() []LearnerName {
	return []LearnerName{SVC, NuSVC, OneClass, SVR, Ridge, GP, KPCA, KMeans, CFKOMD, RidgeClassifier, LinearSVM, Logistic, SmoothHinge, Squared, Huber}
}

// laterLearners are planned.
func laterLearners() []LearnerName {
	return []LearnerName{"cca"}
}

// Classifies says that labels are classes.
func (n LearnerName) Classifies() bool {
	return n == SVC || n == NuSVC || n == RidgeClassifier || n == LinearSVM || n == Logistic || n == SmoothHinge
}

// Regresses says that labels are numbers.
func (n LearnerName) Regresses() bool {
	return n == SVR || n == Ridge || n == GP || n == Squared || n == Huber
}

// predicted says in words what labels hold.
func (n LearnerName) predicted() string {
	if n.Regresses() {
		return "the numbers to predict"
	}
	return "the classes"
}

// parameters returns the keys that a learner takes, beside its name.
func (n LearnerName) parameters() []string {
	switch n {
	case SVC:
		return []string{"C", "tol", "class_weight", "probability"}
	case NuSVC:
		return []string{"nu", "tol", "probability"}
	case OneClass:
		return []string{"nu", "tol"}
	case SVR:
		return []string{"C", "epsilon", "tol"}
	case Ridge, RidgeClassifier:
		return []string{"alpha"}
	case GP:
		return []string{"noise"}
	case KPCA:
		return []string{"n_components"}
	case KMeans:
		return []string{"n_clusters"}
	case CFKOMD:
		return []string{"lambda", "recommend"}
	case LinearSVM:
		return []string{"lambda", "iterations", "average", "schedule", "class_weight"}
	case Logistic, SmoothHinge, Squared:
		return []string{"lambda", "rate", "batch", "iterations"}
	case Huber:
		return []string{"lambda", "rate", "batch", "iterations", "delta"}
	}
	return nil
}

// Section declares the keys of all learners.
func (l *Learner) Section() *section.Section {
	return &section.Section{Name: "learner", Fields: []section.Field{
		{Key: "name", Value: section.Choice[LearnerName]{Noun: "learner", Dst: &l.Name, Known: learnerNames(), Later: laterLearners()}, Need: "add name: svc",
			Doc: "The learner."},
		{Key: "C", Value: section.Number{Dst: &l.C}, List: true, Else: "1", Doc: "The price of a margin error, above 0."},
		{Key: "nu", Value: section.Number{Dst: &l.Nu}, List: true, Else: "0.5", Doc: "The share of margin errors, above 0 and up to 1."},
		{Key: "epsilon", Value: section.Number{Dst: &l.Epsilon}, List: true, Else: "0.1",
			Doc: "The error that costs nothing, above 0, in the unit of the labels."},
		{Key: "tol", Value: section.Number{Dst: &l.Tol}, Else: "0.001", Doc: "The gap at which training stops, above 0; of svc, below 2."},
		{Key: "class_weight", Value: section.Weights{Dst: &l.ClassWeight}, Else: "1 for each class",
			Doc: "A factor of C (of the loss, in linear-svm) for each class, above 0."},
		{Key: "probability", Value: section.Yes{Dst: &l.Probability}, Else: "false", Doc: "The model tells the probabilities of the classes."},
		{Key: "alpha", Value: section.Number{Dst: &l.Alpha}, List: true, Else: "1", Doc: "The price of the squared norm, above 0."},
		{Key: "noise", Value: section.Number{Dst: &l.Noise}, List: true, Else: "0.1",
			Doc: "The variance of a measurement, above 0, where the variance of the labels is 1."},
		{Key: "n_components", Value: section.Whole{Dst: &l.NComponents}, Else: "2", Doc: "The number of components, 1 or more."},
		{Key: "n_clusters", Value: section.Whole{Dst: &l.NClusters}, Else: "8", Doc: "The number of clusters, 1 or more."},
		{Key: "lambda", Value: section.Number{Dst: &l.Lambda}, Else: "0.1 with cf-komd, 0.001 with linear-svm, else 1e-06",
			Doc: "The price, above 0, of the squared norm; in cf-komd, of uneven weights."},
		{Key: "recommend", Value: section.Whole{Dst: &l.Recommend}, Else: "10", Doc: "The items that each person is recommended, 1 or more."},
		{Key: "iterations", Value: section.Whole{Dst: &l.Iterations}, Else: "300 with linear-svm; with trainings block and precond 64, or the directions where these are fewer",
			Doc: "The steps of linear-svm; the blocks of directions of fdskl's learners."},
		{Key: "average", Value: section.Whole{Dst: &l.Average}, Else: "2", Doc: "The last weight vectors that are averaged, 1 or more."},
		{Key: "schedule", Value: section.Choice[Schedule]{Noun: "schedule", Dst: &l.Schedule, Known: []Schedule{Pegasos, Published}}, Else: "pegasos",
			Doc: "The rule for the length of a step."},
		{Key: "delta", Value: section.Number{Dst: &l.Delta}, Else: "1",
			Doc: "The error, above 0, from which on the loss is straight, in the unit of the labels."},
		{Key: "rate", Value: section.Number{Dst: &l.Rate}, Else: "4; 1 with training precond, none with training cached",
			Doc: "The length of a step; rate times lambda is below 1."},
		{Key: "batch", Value: section.Whole{Dst: &l.Batch}, Else: "256 with trainings block and precond", Doc: "The rows of a step, 1 or more."},
	}, Finish: l.finish}
}

// finish takes its defaults from LIBSVM and scikit-learn; noise is ours.
func (l *Learner) finish(in *section.Place) error {
	for _, f := range l.Section().Fields[1:] {
		if in.Given(f.Key) && !slices.Contains(l.Name.parameters(), f.Key) {
			return in.Refuse(f.Key, "learner %s has no %s; remove it", l.Name, f.Key)
		}
	}
	for _, key := range l.Name.parameters() {
		if err := l.finishParameter(in, key); err != nil {
			return err
		}
	}
	return nil
}

func (l *Learner) finishParameter(in *section.Place, key string) error {
	switch key {
	case "C":
		in.Fallback(key, &l.C, 1)
		return in.Positive(key, l.C)
	case "nu":
		in.Fallback(key, &l.Nu, 0.5)
		if l.Nu <= 0 || l.Nu > 1 {
			return in.Refuse(key, "nu is %g; write a number above 0 and up to 1, such as 0.5", l.Nu)
		}
	case "epsilon":
		in.Fallback(key, &l.Epsilon, 0.1)
		return in.Positive(key, l.Epsilon)
	case "tol":
		return l.finishTol(in)
	case "alpha":
		in.Fallback(key, &l.Alpha, 1)
		return in.Positive(key, l.Alpha)
	case "noise":
		in.Fallback(key, &l.Noise, 0.1)
		return in.Positive(key, l.Noise)
	case "n_components":
		return in.Count(key, &l.NComponents, 2)
	case "n_clusters":
		return in.Count(key, &l.NClusters, 8)
	case "lambda":
		in.Fallback(key, &l.Lambda, l.Name.lambda())
		return in.Positive(key, l.Lambda)
	case "recommend":
		return in.Count(key, &l.Recommend, defaultRecommend)
	case "delta":
		in.Fallback(key, &l.Delta, 1)
		return in.Positive(key, l.Delta)
	case "rate":
		if in.Given(key) { // by default it goes by the training
			return in.Positive(key, l.Rate)
		}
	case "batch":
		return in.Some(key, l.Batch)
	case "iterations":
		if l.Name != LinearSVM {
			return in.Some(key, l.Iterations)
		}
		return in.Count(key, &l.Iterations, defaultIterations)
	case "average":
		return in.Count(key, &l.Average, defaultAverage)
	case "schedule":
		if l.Schedule == "" {
			l.Schedule = Pegasos
		}
	}
	return nil
}

// finishTol knows that an untrained classifier has a gap of 2.
func (l *Learner) finishTol(in *section.Place) error {
	in.Fallback("tol", &l.Tol, 1e-3)
	if l.Name == SVC && (l.Tol <= 0 || l.Tol >= 2) {
		return in.Refuse("tol", "tol is %g; write a number above 0 and below 2, such as 0.001", l.Tol)
	}
	return in.Positive("tol", l.Tol)
}
