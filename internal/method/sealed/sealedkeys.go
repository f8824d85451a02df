package sealed

import (
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/described"
	"github.com/mercer-fl/mercer/internal/method/noised"
	"github.com/mercer-fl/mercer/protocol/sealed"
)

// Keys holds the protocol's settings in a job.
type Keys struct {
	job.Moded
	Keepers  []string // names of the keepers: servers a and b, dealer c; nil for the default
	Features int      // number of random features; 0 for the default for the declared rows
	// PerRow is the learner's alpha divided by the number of training rows. 0 means that the learner states alpha or,
	// with privacy, that the noise determines it.
	PerRow  float64
	Certify Certifying
	Privacy noised.Privacy
	described.Labels
}

var _ job.Settings = (*Keys)(nil)

// Coordinator stands for the coordinator in the list of keepers.
const Coordinator = "coordinator"

// defaultPerRow is alpha for each training row, if the job says nothing of alpha.
const defaultPerRow = 1e-4

// Section declares the protocol's keys in a job file.
func (k *Keys) Section() *section.Section {
	return &section.Section{Doc: "Three keepers compute a ridge regression, or the mean of a Gaussian process, on random features from shares of the parties' sums. Nobody opens anything but the model.",
		Fields: slices.Concat([]section.Field{
			k.ModeKey(),
			{Key: "keepers", Value: section.Words{Dst: &k.Keepers, Most: 3, Example: "[north, south, east]"}, Else: "the first three parties; of two parties a and b, [a, b, coordinator]",
				Doc: "The two servers and the dealer, which hold the shares: parties or, as the third, the coordinator. Any two of them together read everybody's sums, so they belong to different organisations."},
			{Key: "features", Value: section.Whole{Dst: &k.Features}, Else: "512; fewer for few rows or columns; 128 with privacy",
				Doc: "The number of random features, even and from 2 to 4096."},
			{Key: "alpha_per_row", Value: section.Number{Dst: &k.PerRow}, Else: "0.0001; none if the learner has an alpha or a noise, or with privacy",
				Doc: "The learner's penalty alpha for each training row of all parties, in place of alpha."},
			{Key: "certify", Value: section.Choice[Certifying]{Noun: "certify", Dst: &k.Certify, Known: []Certifying{Printed, Required}}, Else: "no certificate",
				Doc: "Has the parties certify the opened model by their own sums. The result says whether the certificate holds; with required the job fails without it."},
			k.Privacy.PrivacyKey(),
		}, k.LabelKeys("ridge-classifier needs it", "ridge and gp need it")), Finish: k.finish}
}

func (k *Keys) finish(in *section.Place) error {
	switch {
	case k.Mode != job.Hardened:
		return in.Refuse("mode", "protocol sealed has no mode %s; remove \"mode\"", k.Mode)
	case in.Given("features") && (k.Features < 2 || k.Features > sealed.MaxFeatures || k.Features%2 != 0):
		return in.Refuse("features", "features is %d; write an even number from 2 to %d, or leave it out for the default", k.Features, sealed.MaxFeatures)
	case in.Given("alpha_per_row") && !(k.PerRow > 0 && k.PerRow <= 1):
		return in.Refuse("alpha_per_row", "alpha_per_row is %g; write a number above 0 and at most 1, such as 0.0001", k.PerRow)
	case in.Given("keepers") && len(k.Keepers) != 3:
		return in.Refuse("keepers", "keepers has %d names; name three", len(k.Keepers))
	}
	return k.FinishLabels(in)
}

// Demands implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: k.check, Limits: map[string]int{"directions": k.Features}, Describes: k.Describes(), Privacy: k.Privacy.Guarantee}
}

// learns reports whether the protocol runs a job's learner: a ridge regression on classes or numbers, or the mean of a
// Gaussian process.
func learns(j *job.Job) bool {
	task := j.Task()
	return learner.On[learner.SumsLearner](j) && (task.Classes || task.Numbers)
}

// isProcess reports whether a job's learner is a Gaussian process. Its mean is the ridge regression whose alpha is the
// noise (Rasmussen and Williams 2006, equation 2.25, for a kernel with k(x, x) = 1). Its deviations need the sums of
// products of features, which nobody opens.
func isProcess(j *job.Job) bool {
	objective, _ := learner.ObjectiveOf(j.Learner)
	return objective.Process
}

// check refuses a job that this version of the protocol does not support, and sets the default keepers and alpha.
func (k *Keys) check(j *job.Job, in *section.Place) error {
	if !learns(j) {
		return in.Refuse("learner", "protocol sealed runs learner %s, not %s", learner.Able(" or ", learns), j.Learner.Name())
	}
	for _, check := range []func(*job.Job, *section.Place) error{k.Labels.Check, k.Privacy.Check, k.checkAlpha, k.checkKernel} {
		if err := check(j, in); err != nil {
			return err
		}
	}
	switch {
	case k.Privacy.Private() && k.Certify != Uncertified:
		return in.Refuse("protocol.certify", "with privacy nobody knows the exact sums of all rows, so nothing certifies a model; remove \"certify\"")
	case j.Data.Folds > 0:
		return in.Refuse("data.folds", `protocol sealed opens one model, and so has no folds; use "test: {fraction: 0.25}"`)
	case j.Data.Test.Split() != "":
		return in.Refuse("data.test", `protocol sealed does not let the job choose the held-out rows in this version; use "test: {fraction: 0.25}"`)
	}
	return k.checkKeepers(j, in)
}

// checkAlpha sets alpha_per_row if the job states no alpha at all and has no privacy. A Gaussian process has a noise in
// its place.
func (k *Keys) checkAlpha(j *job.Job, in *section.Place) error {
	const unset = 1 // the default of the learners' alpha, which the canonical file states
	objective, _ := learner.ObjectiveOf(j.Learner)
	switch given := in.Given("learner.alpha") || objective.Process; {
	case k.Privacy.Private() && k.PerRow > 0:
		return in.Refuse("protocol.alpha_per_row", "with privacy, alpha follows from the noise; remove alpha_per_row")
	case k.Privacy.Private():
	case objective.Process && k.PerRow > 0:
		return in.Refuse("protocol", "learner %s has a noise in place of alpha; remove \"alpha_per_row\" from protocol", j.Learner.Name())
	case k.PerRow == defaultPerRow && objective.Penalty != unset: // a canonical file whose learner has got an alpha since
		k.PerRow = 0
	case k.PerRow > 0 && objective.Penalty != unset:
		return in.Refuse("learner", "the learner has alpha %g and the protocol alpha_per_row %g; remove one of them", objective.Penalty, k.PerRow)
	case k.PerRow == 0 && !given:
		k.PerRow = defaultPerRow
	}
	return nil
}

// checkKernel refuses kernels without features, and sets the default number of features of a job with privacy.
func (k *Keys) checkKernel(j *job.Job, in *section.Place) error {
	linear, private := j.Kernel.Name == job.Linear, k.Privacy.Private()
	switch {
	case linear && !private:
		return in.Refuse("kernel", `protocol sealed runs kernel linear with privacy alone, since all jobs have the same features and their models together would tell single rows; use kernel rbf, or add "privacy: {epsilon: 4, delta: 1e-6}"`)
	case linear && k.Features > 0:
		return in.Refuse("protocol.features", "kernel linear has the columns and a constant as features; remove \"features\"")
	case !linear && j.Kernel.Name != job.RBF && j.Kernel.Name != job.Laplacian:
		return in.Refuse("kernel", "protocol sealed runs with kernel rbf or laplacian, and with privacy also linear, not %s", j.Kernel.Name)
	case j.Kernel.GammaUnit != "":
		return in.Refuse("kernel", "protocol sealed has no gamma_unit; write gamma as a number, such as 0.1")
	case j.Kernel.Amplitude != 0:
		return in.Refuse("kernel", `protocol sealed has random features, which have no amplitude in this version; remove "amplitude"`)
	case private && !linear && k.Features == 0:
		k.Features = noised.Features
	}
	return nil
}

// checkKeepers sets the default keepers, so that each operator reads their names in the job. It refuses keepers that
// are no members of the job, and the coordinator as the first or second keeper.
func (k *Keys) checkKeepers(j *job.Job, in *section.Place) error {
	parties := j.Parties()
	if k.Keepers == nil && len(parties) >= 2 {
		k.Keepers = slices.Clone(append(slices.Clone(parties), Coordinator)[:3])
	}
	for i, name := range k.Keepers {
		coordinates := name == Coordinator && !slices.Contains(parties, Coordinator)
		switch {
		case coordinates && i < 2:
			return in.Refuse("protocol", `the coordinator can be the third keeper only; write "keepers: [PARTY, PARTY, coordinator]"`)
		case !coordinates && len(parties) > 0 && !slices.Contains(parties, name):
			return in.Refuse("protocol", "the keeper %s is no party of the job; a keeper is a party or, as the third, the coordinator", section.Quote(name))
		}
	}
	return nil
}

// keepersOf returns the members that are the keepers: the servers a and b, then the dealer c.
func keepersOf(c method.Instance) []string {
	names := slices.Clone(job.As[*Keys](c.Job.Protocol).Keepers)
	if names == nil {
		names = append(slices.Clone(c.Parties), c.Coordinator)[:3]
	}
	if i := slices.Index(names, Coordinator); i >= 0 && !slices.Contains(c.Parties, Coordinator) {
		names[i] = c.Coordinator
	}
	return names
}

// checkKeepers refuses keepers that are no members of the job.
func checkKeepers(c method.Instance) error {
	for _, name := range keepersOf(c) {
		if name != c.Coordinator && !slices.Contains(c.Parties, name) {
			return fault.BadInputf("sealed: the keeper %s is no party of the job", name)
		}
	}
	return nil
}

// checkLabels refuses labels that contradict the job.
func checkLabels(j *job.Job, set *dataset.Set) error {
	return job.As[*Keys](j.Protocol).CheckTable(j, set)
}
