package job

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
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
)

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

// learnerLists are the numbers that shape the model, and so may be lists.
func learnerLists() []string { return []string{"C", "nu", "epsilon", "alpha", "noise"} }

func (l *Learner) section() *section {
	return &section{name: "learner", fields: []field{
		{key: "name", value: choice[LearnerName]{"learner", &l.Name, learnerNames(), laterLearners()}, need: "add name: svc"},
		{key: "C", value: number{&l.C}},
		{key: "nu", value: number{&l.Nu}},
		{key: "epsilon", value: number{&l.Epsilon}},
		{key: "tol", value: number{&l.Tol}},
		{key: "class_weight", value: weights{&l.ClassWeight}},
		{key: "probability", value: yes{&l.Probability}},
		{key: "alpha", value: number{&l.Alpha}},
		{key: "noise", value: number{&l.Noise}},
		{key: "n_components", value: whole{&l.NComponents}},
		{key: "n_clusters", value: whole{&l.NClusters}},
		{key: "lambda", value: number{&l.Lambda}},
		{key: "recommend", value: whole{&l.Recommend}},
		{key: "iterations", value: whole{&l.Iterations}},
		{key: "average", value: whole{&l.Average}},
		{key: "schedule", value: choice[Schedule]{"schedule", &l.Schedule, []Schedule{Pegasos, Published}, nil}},
		{key: "delta", value: number{&l.Delta}},
		{key: "rate", value: number{&l.Rate}},
		{key: "batch", value: whole{&l.Batch}},
	}, finish: l.finish}
}

// finish takes its defaults from LIBSVM and scikit-learn; noise is ours.
func (l *Learner) finish(in *place) error {
	for _, f := range l.section().fields[1:] {
		if in.given(f.key) && !slices.Contains(l.Name.parameters(), f.key) {
			return in.refuse(f.key, "learner %s has no %s; remove it", l.Name, f.key)
		}
	}
	for _, key := range l.Name.parameters() {
		if err := l.finishParameter(in, key); err != nil {
			return err
		}
	}
	return nil
}

func (l *Learner) finishParameter(in *place, key string) error {
	switch key {
	case "C":
		in.fallback(key, &l.C, 1)
		return in.positive(key, l.C)
	case "nu":
		in.fallback(key, &l.Nu, 0.5)
		if l.Nu <= 0 || l.Nu > 1 {
			return in.refuse(key, "nu is %g; write a number above 0 and up to 1, such as 0.5", l.Nu)
		}
	case "epsilon":
		in.fallback(key, &l.Epsilon, 0.1)
		return in.positive(key, l.Epsilon)
	case "tol":
		return l.finishTol(in)
	case "alpha":
		in.fallback(key, &l.Alpha, 1)
		return in.positive(key, l.Alpha)
	case "noise":
		in.fallback(key, &l.Noise, 0.1)
		return in.positive(key, l.Noise)
	case "n_components":
		return in.count(key, &l.NComponents, 2)
	case "n_clusters":
		return in.count(key, &l.NClusters, 8)
	case "lambda":
		in.fallback(key, &l.Lambda, l.Name.lambda())
		return in.positive(key, l.Lambda)
	case "recommend":
		return in.count(key, &l.Recommend, defaultRecommend)
	case "delta":
		in.fallback(key, &l.Delta, 1)
		return in.positive(key, l.Delta)
	case "rate":
		if in.given(key) { // by default it goes by the training
			return in.positive(key, l.Rate)
		}
	case "batch":
		return in.some(key, l.Batch)
	case "iterations":
		if l.Name != LinearSVM {
			return in.some(key, l.Iterations)
		}
		return in.count(key, &l.Iterations, defaultIterations)
	case "average":
		return in.count(key, &l.Average, defaultAverage)
	case "schedule":
		if l.Schedule == "" {
			l.Schedule = Pegasos
		}
	}
	return nil
}

// finishTol knows that an untrained classifier has a gap of 2.
func (l *Learner) finishTol(in *place) error {
	in.fallback("tol", &l.Tol, 1e-3)
	if l.Name == SVC && (l.Tol <= 0 || l.Tol >= 2) {
		return in.refuse("tol", "tol is %g; write a number above 0 and below 2, such as 0.001", l.Tol)
	}
	return in.positive("tol", l.Tol)
}

// weights is a map from class to a positive number.
type weights struct{ dst *map[string]float64 }

func (v weights) decode(key string, n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Value == "balanced" {
		return at(n, "%s: balanced is not in this version; write a map such as {malignant: 2}", key)
	}
	if n.Kind != yaml.MappingNode {
		return at(n, "%s is %s; write a map such as {malignant: 2}", key, describe(n))
	}
	m := make(map[string]float64)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := v.add(m, n.Content[i], n.Content[i+1]); err != nil {
			return err
		}
	}
	if len(m) > 0 {
		*v.dst = m
	}
	return nil
}

func (v weights) add(m map[string]float64, k, val *yaml.Node) error {
	class, err := scalar("a class", k)
	if err != nil {
		return err
	}
	if _, twice := m[class]; twice {
		return at(k, "class %s has two weights; keep one", quote(class))
	}
	var w float64
	if err := (number{&w}).decode("the weight of class "+quote(class), val); err != nil {
		return err
	}
	if w <= 0 {
		return at(val, "the weight of class %s is %g; write a number above 0", quote(class), w)
	}
	m[class] = w
	return nil
}

func (v weights) encode() *yaml.Node {
	if len(*v.dst) == 0 {
		return nil
	}
	m := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, class := range slices.Sorted(maps.Keys(*v.dst)) {
		w := (*v.dst)[class]
		m.Content = append(m.Content, textNode(class), number{&w}.encode())
	}
	return m
}
