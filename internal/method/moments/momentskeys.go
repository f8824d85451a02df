package moments

import (
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/described"
	"github.com/mercer-fl/mercer/internal/method/noised"
)

// Keys holds the protocol's settings in a job.
type Keys struct {
	job.Moded
	// Directions is the number of random features, which are cosines and sines of half as many
	// directions. 0 means [DefaultFeatures] of the declared training rows. It stays 0 with kernel linear.
	Directions int
	described.Labels
	// Deviations makes a Gaussian process return a standard deviation with each prediction. Every
	// party then receives the sums of products of features, from which deviations are computed.
	Deviations bool
	// Histogram makes the parties sort held-out decisions into bins and add up the counts. The job has
	// two classes. The bins give the ROC curve and the area under it. Without bins the server learns two
	// counts about the held-out rows of a classification: how many there are, and how many are classified correctly.
	Histogram bool
	Privacy   noised.Privacy
}

var _ job.Settings = (*Keys)(nil)

// MaxDirections is the greatest number of random features of a job (the key "directions"). It also limits
// how many numbers the sums have, because this count grows with the square of the features.
const MaxDirections = 4096

// maxWeights is the greatest number of weights that every party receives. As float64 they take 64
// MiB.
const maxWeights = 1 << 23

// Section declares the protocol's keys in a job file.
func (k *Keys) Section() *section.Section {
	return &section.Section{Doc: "The coordinator learns from sums of products of random features over all parties' rows. It sees the sums only.",
		Fields: slices.Concat([]section.Field{
			k.ModeKey(),
			{Key: "directions", Value: section.Whole{Dst: &k.Directions}, Else: "a twentieth of all training rows; fewer if the sums would have more than a quarter as many numbers as there are cells; 128 with privacy",
				Doc: "The number of random features, even and from 2 to 4096."},
		}, k.LabelKeys("ridge-classifier needs it", "ridge and gp need it"), []section.Field{
			{Key: "deviations", Value: section.Yes{Dst: &k.Deviations}, Default: "false",
				Doc: "Measures the deviations of a Gaussian process and keeps them with the model."},
			{Key: "histogram", Value: section.Yes{Dst: &k.Histogram}, Default: "false",
				Doc: "Adds up the held-out decisions between two classes in 100 bins, for AUC and curves. Parties must allow it."},
			k.Privacy.PrivacyKey(),
		}), Finish: k.finish}
}

func (k *Keys) finish(in *section.Place) error {
	switch {
	case k.Mode != job.Hardened:
		return in.Refuse("mode", "protocol moments has no mode %s; remove \"mode\"", k.Mode)
	case in.Given("directions") && (k.Directions < 2 || k.Directions > MaxDirections || k.Directions%2 != 0):
		return in.Refuse("directions", "directions is %d; write an even number from 2 to %d, or leave it out for the default", k.Directions, MaxDirections)
	}
	return k.FinishLabels(in)
}

// Demands implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: k.check, Limits: map[string]int{"directions": k.Directions}, Counts: k.Histogram, Describes: k.Describes(), Privacy: k.Privacy.Guarantee}
}

// check refuses learners, kernels and data that sums of products do not support in this version.
func (k *Keys) check(j *job.Job, in *section.Place) error {
	if err := k.checkLearner(j, in); err != nil {
		return err
	}
	if err := k.checkPrivacy(j, in); err != nil {
		return err
	}
	objective, _ := learner.ObjectiveOf(j.Learner)
	switch components := objective.Components; {
	case len(j.Kernels()) > 1 || !k.allows(j.Kernel.Name):
		return in.Refuse("kernel", `protocol moments runs with one kernel: rbf, laplacian or, with "privacy", linear; give one of these`)
	case j.Kernel.GammaUnit != "":
		return in.Refuse("kernel", "protocol moments has no gamma_unit; write gamma as a number, such as 0.1")
	case k.Directions > 0 && components > k.Directions:
		return in.Refuse("learner", "the learner has %d components, but the protocol has only %d directions; write at most as many components as directions", components, k.Directions)
	case j.Kernel.Amplitude != 0:
		return in.Refuse("kernel", `protocol moments has random features, which have no amplitude in this version; remove "amplitude"`)
	case components*k.maxFeatures() > maxWeights:
		return in.Refuse("learner", "%d components of %d directions need more than %d weights; write fewer components or directions", components, k.maxFeatures(), maxWeights)
	case j.Data.Folds > 0:
		return in.Refuse("data.folds", `protocol moments selects hyperparameters by the sums of all training rows, not by folds; use "test: {fraction: 0.25}"`)
	case j.Data.Test.Split() != "" && len(j.Parties()) == 2:
		return in.Refuse("data.test.party", "if one of two parties is held out, the sums are over the other party's rows alone; name three parties or more, or use protocol okra")
	case j.Compares(job.Curve) && !j.Task().Classes:
		return in.Refuse("compare", `the curve shows accuracy, which learner %s does not have; remove "curve" from compare`, j.Learner.Name())
	}
	return nil
}

// checkPrivacy refuses settings that do not work with noise. It sets the default number of directions of a
// job with privacy.
func (k *Keys) checkPrivacy(j *job.Job, in *section.Place) error {
	switch {
	case !k.Privacy.Private():
		return nil
	case k.Histogram:
		return in.Refuse("protocol.histogram", `privacy adds noise to one count of right answers, and the histogram has 200 counts; remove "histogram" or "privacy"`)
	case j.Compares(job.Curve):
		return in.Refuse("compare", `the curve measures membership in sums without noise; remove "curve" from compare`)
	case isLinear(j) && k.Directions > 0:
		return in.Refuse("protocol.directions", "kernel linear has a feature for each column and no directions; remove \"directions\"")
	case !isLinear(j) && k.Directions == 0:
		k.Directions = noised.Features
	}
	return k.Privacy.Check(j, in)
}

// allows reports whether the protocol has features for a kernel. Sums of the columns themselves
// tell more of each row than sums of random features, so they need noise.
func (k *Keys) allows(name job.KernelName) bool {
	return name == job.RBF || name == job.Laplacian || name == job.Linear && k.Privacy.Private()
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
		return in.Refuse("protocol", `if all rows of a party are held out, the histogram counts this party's rows alone; remove "histogram", or use "test: {fraction: 0.25}"`)
	}
	return nil
}

// checkLearner refuses a learner that sums do not support, a job that does not describe all parties' labels
// as its learner requires, and deviations or a histogram that do not suit the learner.
func (k *Keys) checkLearner(j *job.Job, in *section.Place) error {
	objective, able := learner.ObjectiveOf(j.Learner)
	if !able {
		return in.Refuse("learner", "protocol moments runs learner %s, not %s", learner.Able(" or ", learner.On[learner.SumsLearner]), j.Learner.Name())
	}
	if err := k.Labels.Check(j, in); err != nil {
		return err
	}
	if k.Deviations && !objective.Process {
		return in.Refuse("protocol", "learner %s has no deviations; remove \"deviations\" from protocol", j.Learner.Name())
	}
	return k.checkHistogram(j, in)
}

// checkLabels refuses labels that contradict the job.
func checkLabels(j *job.Job, set *dataset.Set) error {
	return job.As[*Keys](j.Protocol).CheckTable(j, set)
}
