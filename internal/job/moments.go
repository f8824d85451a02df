package job

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// maxDirections bounds what a party holds for its sums: twice the square of it
// in numbers.
const maxDirections = 4096

// maxWeights bounds what every party is told: 64 MiB of float64.
const maxWeights = 1 << 23

// finishMoments checks the parameters of protocol moments. The number of
// features is no default: it should go by the rows of all parties, which nobody
// can check before they are added up.
func (p *Protocol) finishMoments(in *place) error {
	if p.Mode == "" {
		p.Mode = Hardened
	}
	switch {
	case p.Mode != Hardened:
		return in.refuse("mode", "protocol moments has no mode %s; remove it", p.Mode)
	case !in.given("directions"):
		return in.refuse("directions", "protocol moments needs directions, the number of random features; add an even one of at most a twentieth of all training rows, since more show who is among them")
	case p.Directions < 2 || p.Directions > maxDirections || p.Directions%2 != 0:
		return in.refuse("directions", "directions is %d; write an even number from 2 to %d", p.Directions, maxDirections)
	case !in.given("classes"):
		return in.refuse("classes", "protocol moments needs all classes, which no party knows alone; add classes: [ill, well]")
	case len(p.Classes) < 2:
		return in.refuse("classes", "classes has %d; give two or more", len(p.Classes))
	}
	return nil
}

// finishMoments checks what goes with protocol moments in this version.
func (j *Job) finishMoments(in *place) error {
	if j.Protocol.Name != Moments {
		if j.Learner.Name == RidgeClassifier {
			return in.refuse("learner", "learner ridge-classifier runs with protocol moments only; use svc")
		}
		return nil
	}
	if !in.given("compare") {
		j.Compare = []Comparison{}
	}
	switch {
	case j.Learner.Name != RidgeClassifier:
		return in.refuse("learner", "protocol moments runs learner ridge-classifier in this version, not %s", j.Learner.Name)
	case len(j.Kernels()) > 1 || j.Kernel.Name != RBF && j.Kernel.Name != Laplacian || j.Kernel.GammaUnit != "":
		return in.refuse("kernel", "protocol moments needs one kernel, rbf or laplacian, with a plain gamma")
	case len(j.Learners())*len(j.Protocol.Classes)*j.Protocol.Directions > maxWeights:
		return in.refuse("learner", "%d values of alpha for %d classes and %d directions are more than %d weights; give fewer", len(j.Learners()), len(j.Protocol.Classes), j.Protocol.Directions, maxWeights)
	case j.Data.Folds > 0:
		return in.refuse("data", "protocol moments chooses by held-out rows, not by folds; use test: {fraction: 0.25}")
	case len(j.Compare) > 0:
		return in.refuse("compare", "protocol moments is not compared with others in this version; remove compare")
	case j.Prediction == Open:
		return in.refuse("prediction", "protocol moments keeps predictions closed in this version; remove prediction")
	}
	return nil
}

// words is a list of words, none of them twice.
type words struct{ dst *[]string }

func (v words) decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return at(n, "%s is %s; write a list such as [ill, well]", key, describe(n))
	}
	var list []string
	for _, c := range n.Content {
		s, err := scalar("one of "+key, c)
		switch {
		case err != nil:
			return err
		case slices.Contains(list, s):
			return at(c, "%s names %s twice; keep one", key, quote(s))
		case len(list) == maxClasses:
			return at(n, "%s has more than %d; that is the most there may be", key, maxClasses)
		}
		list = append(list, s)
	}
	*v.dst = list
	return nil
}

// maxClasses bounds the classes that a job names.
const maxClasses = 256

func (v words) encode() *yaml.Node {
	if *v.dst == nil {
		return nil
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, s := range *v.dst {
		list.Content = append(list.Content, textNode(s))
	}
	return list
}
