package job

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Learner names a learner and its parameters, called as in LIBSVM and
// scikit-learn.
type Learner struct {
	Name        LearnerName
	C           float64            // price of a margin error, above 0
	Tol         float64            // stopping rule, in (0, 2)
	ClassWeight map[string]float64 // factor of C by class; classes not named have 1
}

// LearnerName names a learner.
type LearnerName string

// SVC is C-support-vector classification.
const SVC LearnerName = "svc"

// laterLearners are planned.
func laterLearners() []LearnerName {
	return []LearnerName{
		"nu-svc", "one-class", "svr", "ridge", "gp", "kpca", "kmeans", "cca",
		"logistic", "squared", "smooth-hinge", "huber", "cf-komd", "linear-svm",
	}
}

// learnerLists are the numbers that shape the model, and so may be lists.
func learnerLists() []string { return []string{"C"} }

func (l *Learner) section() *section {
	return &section{name: "learner", fields: []field{
		{key: "name", value: choice[LearnerName]{"learner", &l.Name, []LearnerName{SVC}, laterLearners()}, need: "add name: svc"},
		{key: "C", value: number{&l.C}},
		{key: "tol", value: number{&l.Tol}},
		{key: "class_weight", value: weights{&l.ClassWeight}},
	}, finish: l.finish}
}

// finish takes its defaults from LIBSVM.
func (l *Learner) finish(in *place) error {
	in.fallback("C", &l.C, 1)
	in.fallback("tol", &l.Tol, 1e-3)
	if err := in.positive("C", l.C); err != nil {
		return err
	}
	if l.Tol <= 0 || l.Tol >= 2 {
		return in.refuse("tol", "tol is %g; write a number above 0 and below 2, such as 0.001", l.Tol)
	}
	return nil
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
