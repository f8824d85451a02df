package job

import (
	"math"

	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/spell"
)

// MaxDirections bounds what a party holds for its sums: twice the square of it
// in numbers.
const MaxDirections = 4096

// maxTold bounds what every party is told: 64 MiB of float64.
const maxTold = 1 << 23

// maxClasses bounds the classes that a job names.
const maxClasses = 256

// finishMoments checks the parameters of protocol moments. Without directions
// their number follows from the rows of all parties once these are counted.
func (p *Protocol) finishMoments(in *section.Place) error {
	if p.Mode == "" {
		p.Mode = Hardened
	}
	switch {
	case p.Mode != Hardened:
		return in.Refuse("mode", "protocol moments has no mode %s; remove it", p.Mode)
	case in.Given("directions") && (p.Directions < 2 || p.Directions > MaxDirections || p.Directions%2 != 0):
		return in.Refuse("directions", "directions is %d; write an even number from 2 to %d, or leave it out for a twentieth of all training rows", p.Directions, MaxDirections)
	case in.Given("classes") && len(p.Classes) < 2:
		return in.Refuse("classes", "classes has %d; give two or more", len(p.Classes))
	}
	if one, other, found := spell.Clash(p.Classes); found {
		one, other = spell.Quote(one, other)
		return in.Refuse("classes", "classes has %s and %s, which differ only by case, blanks or Unicode form; keep one of them", one, other)
	}
	return nil
}

// finishMoments checks what goes with protocol moments in this version.
func (j *Job) finishMoments(in *section.Place) error {
	if j.Protocol.Name != Moments {
		switch {
		case j.Learner.Name == RidgeClassifier:
			return in.Refuse("learner", "learner ridge-classifier runs with protocol moments only; use svc")
		case j.Compares(Curve) && j.Protocol.Name != SecVM:
			return in.Refuse("compare", "curve is of protocols moments and secvm; remove it")
		}
		return nil
	}
	if !in.Given("compare") {
		j.Compare = []Comparison{}
	}
	if err := j.finishTargets(in); err != nil {
		return err
	}
	switch {
	case len(j.Kernels()) > 1 || j.Kernel.Name != RBF && j.Kernel.Name != Laplacian || j.Kernel.GammaUnit != "":
		return in.Refuse("kernel", "protocol moments needs one kernel, rbf or laplacian, with a plain gamma")
	case j.Protocol.Directions > 0 && j.Learner.NComponents > j.Protocol.Directions:
		return in.Refuse("learner", "%d components of %d directions; ask for at most as many", j.Learner.NComponents, j.Protocol.Directions)
	case j.Learner.NComponents*j.mostDirections() > maxTold:
		return in.Refuse("learner", "%d components of %d directions are more than %d weights; give fewer", j.Learner.NComponents, j.mostDirections(), maxTold)
	case j.Data.Folds > 0:
		return in.Refuse("data", "protocol moments chooses by the sums of all training rows, not by folds; use test: {fraction: 0.25}")
	case j.Compares(Pooled) || j.Compares(Alone):
		return in.Refuse("compare", "protocol moments is compared with other numbers of directions only in this version; use compare: [curve], or remove it")
	case j.Compares(Curve) && j.Learner.Name != RidgeClassifier:
		return in.Refuse("compare", "the curve is one of accuracy, and learner %s has none; remove compare", j.Learner.Name)
	}
	return nil
}

// mostDirections is the number of random features, or the most that there may
// be.
func (j *Job) mostDirections() int {
	if j.Protocol.Directions > 0 {
		return j.Protocol.Directions
	}
	return MaxDirections
}

// finishTargets checks what the learner has to know of all parties' labels.
func (j *Job) finishTargets(in *section.Place) error {
	p, l := &j.Protocol, j.Learner.Name
	regresses, classifies := l == Ridge || l == GP, l == RidgeClassifier
	switch {
	case !regresses && !classifies && l != KPCA:
		return in.Refuse("learner", "protocol moments runs learner ridge-classifier, ridge, gp or kpca, not %s", l)
	case classifies && p.Classes == nil:
		return in.Refuse("protocol", "learner %s needs all classes, which no party knows alone; add classes: [ill, well] to protocol", l)
	case !classifies && p.Classes != nil:
		return in.Refuse("protocol", "learner %s has no classes; remove them from protocol", l)
	case regresses && p.Targets == [2]float64{}:
		return in.Refuse("protocol", "learner %s needs the range of all labels, which no party knows alone; add targets: [0, 100] to protocol", l)
	case !regresses && p.Targets != [2]float64{}:
		return in.Refuse("protocol", "learner %s has no targets; remove them from protocol", l)
	case p.Deviations && l != GP:
		return in.Refuse("protocol", "learner %s has no deviations; remove them from protocol", l)
	case regresses && !(p.Targets[0] < p.Targets[1]):
		return in.Refuse("protocol", "targets is [%g, %g]; write the smaller number first", p.Targets[0], p.Targets[1])
	case regresses && math.IsInf(p.Targets[1]-p.Targets[0], 0):
		return in.Refuse("protocol", "targets is [%g, %g], which is too wide; change the unit", p.Targets[0], p.Targets[1])
	}
	return nil
}
