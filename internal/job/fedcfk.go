package job

import (
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// Devices gives every person of the ratings a device of its own.
const Devices Direction = "devices"

// CFKOMD is the recommender of learn/komd.
const CFKOMD LearnerName = "cf-komd"

// Adversary says what the clients of a crowd must withstand; see protocol/secagg.
type Adversary string

// The adversaries.
const (
	Active     Adversary = "active"
	SemiHonest Adversary = "semi-honest"
)

// Margin says who is relied upon when FedCFK looks for items that enough people
// like.
type Margin string

// The margins. With MarginCorrupted an item takes part when threshold honest
// people like it, however many corrupted ones pretend to; with MarginNone all
// count, which protects nobody from a server with clients of its own.
const (
	MarginCorrupted Margin = "corrupted"
	MarginNone      Margin = "none"
)

// Defaults of FedCFK. The shares are those of the design's table.
const (
	defaultCorrupted = 0.05
	defaultDropped   = 0.10
	defaultThreshold = 10
	defaultLambda    = 0.1
	defaultRecommend = 10
)

// MaxItems bounds a catalogue: a device holds a kernel between all of them.
const MaxItems = 1 << 13

// sumKeys are the keys of a secure sum over a crowd.
func sumKeys() []string { return []string{"adversary", "corrupted", "dropped"} }

// crowdKeys are the keys of FedCFK.
func crowdKeys() []string {
	return slices.Concat(sumKeys(), hardenedCrowdKeys(), paperCrowdKeys(), []string{"items"})
}

// sums reports whether the keys of a secure sum have their values: a program may
// leave these to the defaults, as it leaves the mode.
func (p *Protocol) sums() bool {
	return p.Mode != "" && (p.Name == FedCFK || p.Name == SecVM && p.Aggregation == SecureSum)
}

// hardenedCrowdKeys are those that mode paper has not.
func hardenedCrowdKeys() []string { return []string{"threshold", "margin"} }

func (p *Protocol) finishCrowd(in *section.Place) error {
	if p.Mode == "" {
		p.Mode = Hardened
	}
	if err := p.finishSum(in); err != nil {
		return err
	}
	if p.Mode == Paper {
		return p.finishPaperCrowd(in)
	}
	return p.finishHardenedCrowd(in)
}

func (p *Protocol) finishSum(in *section.Place) error {
	if p.Adversary == "" {
		p.Adversary = Active
	}
	in.Fallback("corrupted", &p.Corrupted, defaultCorrupted)
	in.Fallback("dropped", &p.Dropped, defaultDropped)
	if err := in.Share("corrupted", "the clients", p.Corrupted); err != nil {
		return err
	}
	return in.Share("dropped", "the clients", p.Dropped)
}

func (p *Protocol) finishHardenedCrowd(in *section.Place) error {
	for _, key := range paperCrowdKeys() {
		if in.Given(key) {
			return in.Refuse(key, "%s is of mode paper of fedcfk, which gives lists away; remove it, or add mode: paper to reproduce the paper", key)
		}
	}
	if p.Margin == "" {
		p.Margin = MarginCorrupted
	}
	if err := in.Count("threshold", &p.Threshold, defaultThreshold); err != nil {
		return err
	}
	if p.Threshold == 1 {
		return in.Refuse("threshold", "threshold is 1; the row of an item that one person alone likes is that person's list, so write 2 or more, such as 10")
	}
	return nil
}

// finishRecommender checks that protocol, learner, kernel and data are all of a
// recommender, or none is.
func (j *Job) finishRecommender(in *section.Place) error {
	crowd := j.Protocol.Name == FedCFK
	switch {
	case crowd != (j.Learner.Name == CFKOMD):
		return in.Refuse("learner", "protocol %s and learner %s do not go together; fedcfk and cf-komd do", j.Protocol.Name, j.Learner.Name)
	case crowd && j.Data.Partition.By != Devices:
		return in.Refuse("data", "protocol %s and this partition do not go together; fedcfk takes partition: {by: devices}", j.Protocol.Name)
	case !crowd && (j.Data.Like != 0 || j.Data.Test.By != ""):
		return in.Refuse("data", "like and by are of ratings; protocol %s has none", j.Protocol.Name)
	case !crowd:
		return j.finishRowKernels(in)
	case j.Data.Source == "" || j.Data.Label != "" && j.Data.Label != NoLabel || j.Data.ID != "" || j.Data.Folds > 0 || j.Data.Test.Source != "":
		return in.Refuse("data", "fedcfk reads one source of ratings; it has no label, id, folds or test source")
	case j.Data.Test.Fraction > 0 && j.Data.Test.By == "":
		return in.Refuse("data", "ratings are held out by test: {every: 10}, {by: user-time, fraction: 0.1} or {by: time, fraction: 0.1}")
	case j.Data.Partition.Dropout > j.Protocol.Dropped:
		return in.Refuse("data", "dropout is %g, and the protocol gives way to %g only; raise dropped or lower dropout", j.Data.Partition.Dropout, j.Protocol.Dropped)
	case j.Prediction == Open:
		return in.Refuse("prediction", "fedcfk has no prediction: open, since every device predicts for itself; remove it")
	case in.Given("compare") && j.Compares(Alone):
		return in.Refuse("compare", "one person alone has nothing to recommend from; write compare: [pooled] or []")
	case !in.Given("compare"):
		j.Compare = []Comparison{Pooled}
	}
	return j.finishItemKernel(in)
}

// deployableCrowd reports why a recommender cannot run among parties that each
// have their own list only, or nil.
func (j *Job) deployableCrowd() error {
	switch {
	case j.Protocol.Mode == Paper:
		return errors.New("job: mode paper of fedcfk gives lists away and runs in simulate only; remove mode: paper")
	case len(j.Protocol.Items) == 0:
		return errors.New("job: parties that each have their own list need one catalogue; add items: and all items there are to protocol")
	case j.Protocol.Margin == MarginNone:
		return errors.New("job: margin: none relies on clients that a server may have invented and runs in simulate only; remove margin: none")
	case j.Protocol.Adversary == SemiHonest:
		return errors.New("job: adversary: semi-honest trusts the server to tell everybody the same and runs in simulate only; remove adversary: semi-honest")
	case j.Data.Test.By == Time:
		return errors.New("job: the newest ratings of all can be held out in simulate only; use test: {by: user-time, fraction: 0.1} or {every: 10}")
	case j.Data.Partition.Dropout > 0:
		return errors.New("job: dropout is of simulate; remove it")
	}
	return nil
}
