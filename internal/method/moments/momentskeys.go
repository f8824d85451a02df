package moments

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/learn/moments"
)

// Keys holds the protocol's settings in a job.
type Keys struct {
	job.Moded
	// Directions is the number of random features, which are cosines and sines of half as many
	// directions. 0 means [DefaultFeatures] of the declared training rows.
	Directions int
	Classes    []string   // all classes of a ridge classifier, in the order of the decisions
	Targets    [2]float64 // least and greatest permitted label of learners ridge and gp
	// Deviations makes a Gaussian process return a standard deviation with each prediction. Every
	// party then receives the sums of products of features, from which deviations are computed.
	Deviations bool
	// Histogram makes the parties sort held-out decisions into bins and add up the counts. The job has
	// two classes. The bins give the ROC curve and the area under it. Without bins the server learns
	// one count about the held-out rows.
	Histogram bool
}

var _ job.Settings = (*Keys)(nil)

// MaxDirections is the greatest number of directions of a job. It also limits how many numbers the
// sums have, because this count grows with the square of the directions.
const MaxDirections = 4096

// maxWeights is the greatest number of weights that every party receives. As float64 they take 64
// MiB.
const maxWeights = 1 << 23

// maxClasses is the greatest number of classes in a job.
const maxClasses = 256

// Section declares the protocol's keys in a job file.
func (k *Keys) Section() *section.Section {
	return &section.Section{Doc: "The coordinator learns from sums of products of random features over all parties' rows. It sees the sums only.",
		Fields: []section.Field{
			k.ModeKey(),
			{Key: "directions", Value: section.Whole{Dst: &k.Directions}, Else: "a twentieth of all training rows; fewer if the sums would have more than a quarter as many numbers as there are cells",
				Doc: "The number of random features, even and from 2 to 4096."},
			{Key: "classes", Value: section.Words{Dst: &k.Classes, Most: maxClasses, Example: "[ill, well]"}, Else: "none; ridge-classifier needs it",
				Doc: "All classes, 2 to 256, in the order of the decisions. Between parties the dictionary lists them."},
			{Key: "targets", Value: section.Interval{Dst: &k.Targets}, Else: "none; ridge and gp need it", Doc: "The smallest and the largest value that a label may have. Between parties it is the range in the dictionary."},
			{Key: "deviations", Value: section.Yes{Dst: &k.Deviations}, Default: "false",
				Doc: "Measures the deviations of a Gaussian process and keeps them with the model."},
			{Key: "histogram", Value: section.Yes{Dst: &k.Histogram}, Default: "false",
				Doc: "Adds up the held-out decisions between two classes in 100 bins, for AUC and curves. Parties must allow it."},
		}, Finish: k.finish}
}

func (k *Keys) finish(in *section.Place) error {
	switch {
	case k.Mode != job.Hardened:
		return in.Refuse("mode", "protocol moments has no mode %s; remove \"mode\"", k.Mode)
	case in.Given("directions") && (k.Directions < 2 || k.Directions > MaxDirections || k.Directions%2 != 0):
		return in.Refuse("directions", "directions is %d; write an even number from 2 to %d, or leave it out for the default", k.Directions, MaxDirections)
	case in.Given("classes") && len(k.Classes) < 2:
		return in.Refuse("classes", "classes needs two or more; list them all")
	}
	if one, other, found := fuzzymatch.Clash(k.Classes); found {
		one, other = fuzzymatch.Quote(one, other)
		return in.Refuse("classes", "classes has %s and %s, which differ only by case, blanks or Unicode form; keep one of them", one, other)
	}
	return nil
}

// Demands implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: k.check, Limits: map[string]int{"directions": k.Directions}, Counts: k.Histogram, Describes: k.Classes != nil || k.Targets != [2]float64{}}
}

// check refuses learners, kernels and data that sums of products do not support in this version.
func (k *Keys) check(j *job.Job, in *section.Place) error {
	if err := k.checkLearner(j, in); err != nil {
		return err
	}
	objective, _ := learner.ObjectiveOf(j.Learner)
	switch components := objective.Components; {
	case len(j.Kernels()) > 1 || j.Kernel.Name != job.RBF && j.Kernel.Name != job.Laplacian || j.Kernel.GammaUnit != "":
		return in.Refuse("kernel", "protocol moments needs one kernel, rbf or laplacian, with gamma as a number such as 0.1, and without gamma_unit")
	case k.Directions > 0 && components > k.Directions:
		return in.Refuse("learner", "the learner has %d components, but the protocol has only %d directions; write at most as many components as directions", components, k.Directions)
	case j.Kernel.Amplitude != 0:
		return in.Refuse("kernel", "protocol moments has random features, which have no amplitude in this version; remove amplitude")
	case components*k.maxFeatures() > maxWeights:
		return in.Refuse("learner", "%d components of %d directions need more than %d weights; write fewer components or directions", components, k.maxFeatures(), maxWeights)
	case j.Data.Folds > 0:
		return in.Refuse("data.folds", "protocol moments selects hyperparameters by the sums of all training rows, not by folds; use test: {fraction: 0.25}")
	case j.Data.Test.Split() != "" && len(j.Parties()) == 2:
		return in.Refuse("data.test.party", "if one of two parties is held out, the sums are over the other party's rows alone; name three parties or more, or use protocol okra")
	case j.Compares(job.Curve) && !j.Task().Classes:
		return in.Refuse("compare", "the curve shows accuracy, which learner %s does not have; remove compare", j.Learner.Name())
	}
	return nil
}

// maxFeatures returns the job's number of random features, or the upper limit if the job sets no
// number.
func (k *Keys) maxFeatures() int {
	if k.Directions > 0 {
		return k.Directions
	}
	return MaxDirections
}

// checkHistogram refuses a histogram unless it counts decisions between two classes over several
// parties' rows.
func (k *Keys) checkHistogram(j *job.Job, in *section.Place) error {
	switch {
	case !k.Histogram:
		return nil
	case len(k.Classes) != 2:
		return in.Refuse("protocol", "histogram counts decisions between two classes, but this job has %d classes; remove \"histogram\"", len(k.Classes))
	case j.Data.Test.Party != "" || j.Data.Test.Parties != "":
		return in.Refuse("protocol", "if all rows of a party are held out, the histogram counts this party's rows alone; remove \"histogram\", or use test: {fraction: 0.25}")
	}
	return nil
}

// checkLearner checks that the job describes all parties' labels as its learner requires.
func (k *Keys) checkLearner(j *job.Job, in *section.Place) error {
	l, task := j.Learner.Name(), j.Task()
	regresses, classifies := task.Numbers, task.Classes
	objective, able := learner.ObjectiveOf(j.Learner)
	if classifies && k.Classes == nil {
		k.Classes = j.Data.Order
	}
	if regresses && k.Targets == [2]float64{} {
		k.Targets = j.Data.Range
	}
	switch {
	case j.Data.Dictionary != nil && (regresses && k.Targets != j.Data.Range || classifies && !slices.Equal(k.Classes, j.Data.Order)):
		return in.Refuse("protocol", "the section protocol contradicts the dictionary about the label's classes or range; correct the dictionary if necessary, and remove \"classes\" and \"targets\" from protocol")
	case classifies && j.Data.Order != nil && !slices.Equal(k.Classes, j.Data.Order):
		return in.Refuse("protocol", "protocol and label must list the same classes in the same order; correct or remove one of the two lists")
	case !able:
		return in.Refuse("learner", "protocol moments runs learner %s, not %s", learner.Able(" or ", learner.On[learner.SumsLearner]), l)
	case classifies && k.Classes == nil:
		return in.Refuse("protocol", "learner %s needs all classes, which no party knows alone; %s", l, labelAdvice(j, "classes: [ill, well]", "classes: [ill, well]"))
	case !classifies && k.Classes != nil:
		return in.Refuse("protocol", "learner %s has no classes; remove \"classes\" from protocol", l)
	case regresses && k.Targets == [2]float64{}:
		return in.Refuse("protocol", "learner %s needs the range of all labels, which no party knows alone; %s", l, labelAdvice(j, "targets: [0, 100]", "range: [0, 100]"))
	case !regresses && k.Targets != [2]float64{}:
		return in.Refuse("protocol", "learner %s has no targets; remove \"targets\" from protocol", l)
	case k.Deviations && !objective.Process:
		return in.Refuse("protocol", "learner %s has no deviations; remove \"deviations\" from protocol", l)
	case regresses:
		if err := job.CheckRange(in, "protocol", "targets", k.Targets); err != nil {
			return err
		}
	}
	return k.checkHistogram(j, in)
}

// labelAdvice returns advice on how to describe the labels. Without a dictionary a key of the
// protocol describes them; otherwise the dictionary does.
func labelAdvice(j *job.Job, key, inDictionary string) string {
	if j.Data.Dictionary != nil {
		return "the dictionary's label has none; a dictionary with " + inDictionary + " says it"
	}
	return "have a data dictionary say it (labels: {" + cmp.Or(j.Data.Label, "label") + ": {" + inDictionary + "}}), or in simulate add " + key + " to protocol"
}

// checkLabels refuses labels that contradict the job.
func checkLabels(j *job.Job, set *dataset.Set) error {
	k := job.As[*Keys](j.Protocol)
	switch task := j.Task(); {
	case task.Classes:
		return checkListed(k.Classes, set)
	case task.Numbers:
		return checkNumbers(k.labelRange(), set)
	}
	return nil
}

// checkListed refuses rows of classes that the job does not list.
func checkListed(classes []string, set *dataset.Set) error {
	for i, label := range set.Labels {
		if !slices.Contains(classes, label) {
			if at := slices.IndexFunc(classes, func(c string) bool { return fuzzymatch.Differs(c, label) }); at >= 0 {
				own, listed := fuzzymatch.Quote(label, classes[at])
				return fmt.Errorf("%s class %s differs from class %s of the job's protocol only by case, blanks or Unicode form; write one of them everywhere", set.Place(i), own, listed)
			}
			return fmt.Errorf("%s class %q is not a class of the job's protocol; list all classes under \"classes\"", set.Place(i), label)
		}
	}
	return nil
}

// checkNumbers refuses labels that are not numbers within the job's range.
func checkNumbers(within moments.Range, set *dataset.Set) error {
	values, err := set.Targets()
	if err != nil {
		return err
	}
	for i, v := range values {
		if !within.Holds(v) {
			return fmt.Errorf("%s the label %v is outside the job's targets [%v, %v]; give targets that include all labels", set.Place(i), v, within.Least, within.Greatest)
		}
	}
	return nil
}

// labelRange returns the permitted range of numeric labels.
func (k *Keys) labelRange() moments.Range {
	return moments.Range{Least: k.Targets[0], Greatest: k.Targets[1]}
}
