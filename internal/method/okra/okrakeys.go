package okra

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// Keys holds the settings of protocol okra in a job file.
type Keys struct {
	job.Moded
	Changes
	Encoder Encoder
	Wire    Wire
	Rounds  int // the number of rounds of the hadamard encoder
}

var _ job.Settings = (*Keys)(nil)

// Encoder names the isometry that the parties share.
type Encoder string

// The encoders. Encoder block is the published one, and attacks exploit its structure.
const (
	Hadamard Encoder = "hadamard"
	Haar     Encoder = "haar"
	HBH      Encoder = "hbh"
	Block    Encoder = "block"
)

// Wire names the format of numbers in messages. Computations always use float64.
type Wire string

// The number formats in messages.
const (
	Float32 Wire = "float32"
	Float64 Wire = "float64"
)

// Limits and default of the hadamard encoder's rounds. A single round hides nothing, because the
// public transform undoes it.
const (
	minRounds     = 2
	maxRounds     = 16
	defaultRounds = 3
)

// Section declares the keys of protocol okra in a job file.
func (k *Keys) Section() *section.Section {
	return &section.Section{Doc: "Every party uploads its rows once, encoded by an isometry that the parties share. The coordinator learns from the exact Gram matrix.",
		Fields: append([]section.Field{
			k.ModeKey(),
			{Key: "encoder", Value: section.Choice[Encoder]{Noun: "encoder", Dst: &k.Encoder, Known: []Encoder{Hadamard, Haar, HBH, Block}},
				Else: "hadamard; block in mode paper", Doc: "The isometry that the parties share."},
			WireKey(&k.Wire),
			{Key: "rounds", Value: section.Whole{Dst: &k.Rounds}, Else: "3 with encoder hadamard", Doc: "The number of rounds of encoder hadamard, 2 to 16."},
		}, k.changeKeys()...), Finish: k.finish}
}

// WireKey declares the job file's key "wire", which sets dst.
func WireKey(dst *Wire) section.Field {
	return section.Field{Key: "wire", Value: section.Choice[Wire]{Noun: "wire", Dst: dst, Known: []Wire{Float32, Float64}}, Default: string(Float32),
		Doc: "The type of the numbers that are sent."}
}

func (k *Keys) finish(in *section.Place) error {
	if k.Encoder == "" && k.Mode == job.Paper {
		k.Encoder = Block
	}
	if k.Encoder == "" {
		k.Encoder = Hadamard
	}
	if k.Encoder == Hadamard && !in.Given("rounds") {
		k.Rounds = defaultRounds
	}
	switch {
	case k.Encoder == Block && k.Mode != job.Paper:
		return in.Refuse("encoder", `encoder block is that of the paper and reveals each block's Gram matrix; use hadamard, or add "mode: paper" to reproduce the paper`)
	case k.Mode == job.Paper && k.Encoder != Block:
		return in.Refuse("encoder", "mode paper has encoder block, not %s; remove \"mode\" or \"encoder\"", k.Encoder)
	case in.Given("preparation") && !k.continues() && len(k.Late)+len(k.Withdrawn)+len(k.Added) == 0:
		return in.Refuse("preparation", "\"preparation\" works only with \"late\", \"withdrawn\", \"added\" or \"continues\"; remove \"preparation\"")
	case in.Given("rounds") && k.Encoder != Hadamard:
		return in.Refuse("rounds", `encoder %s has no rounds; remove "rounds"`, k.Encoder)
	case k.Encoder == Hadamard && (k.Rounds < minRounds || k.Rounds > maxRounds):
		return in.Refuse("rounds", "rounds is %d; write %d to %d, since one round hides nothing", k.Rounds, minRounds, maxRounds)
	}
	return nil
}

// Spec returns the settings in the form of package protocol/okra; it implements [Settings].
func (k *Keys) Spec() okra.Spec {
	return okra.Spec{Encoder: string(k.Encoder), Wire: string(k.Wire), Mode: string(k.Mode), Rounds: k.Rounds}
}

// checkContinued refuses a job whose settings do not allow it to continue another job.
func (c *Changes) checkContinued(j *job.Job, in *section.Place) error {
	for _, name := range c.Late {
		if !slices.Contains(j.Parties(), name) {
			return in.Refuse("protocol", `%s is in "late" but not among the job's parties; name all parties in "partition: {parties: [..]}"`, name)
		}
	}
	switch {
	case len(c.Added) > 0:
		return in.Refuse("protocol", "a job that continues another adds all new rows of its parties' tables; remove \"added\"")
	case len(c.Withdrawn) > 0:
		return in.Refuse("protocol", "a job that continues another must not have the key \"withdrawn\"; leave withdrawn parties out of the job's parties")
	case c.Preparation == Refit:
		return in.Refuse("protocol", "a job that continues another keeps the earlier job's preparation; to fit again, submit a job that continues no other")
	case slices.Contains(c.Late, j.Parties()[0]):
		return in.Refuse("protocol", "%s would be the leader, but it lacks the seed; list it after a party of the earlier job", j.Parties()[0])
	}
	return nil
}

// Demands returns what the settings demand of a job; it implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: k.check, Outlives: k.secretsOutlive(), Continues: k.continues()}
}

// check refuses a job whose learner does not use the Gram matrix, or whose parties cannot carry out
// the job's changes.
func (k *Keys) check(j *job.Job, in *section.Place) error {
	if err := learner.OnRows(j, in); err != nil {
		return err
	}
	if learner.UsesViews(j) && (k.changesParties() || k.secretsOutlive()) {
		return in.Refuse("protocol", "learner %s runs with the same parties from beginning to end; remove \"late\", \"withdrawn\", \"added\", \"continuable\" and \"continues\"", j.Learner.Name())
	}
	if rows.GroupsFolds(j) && (k.changesParties() || k.secretsOutlive()) {
		return in.Refuse("data.folds", "folds by groups need the same parties from beginning to end; remove \"folds\" or \"group\", or remove all of \"late\", \"withdrawn\", \"added\", \"continuable\" and \"continues\"")
	}
	if j.Data.Weight != "" && (k.changesParties() || k.secretsOutlive()) {
		return in.Refuse("data.weight", "weights of rows need the same parties from beginning to end; remove \"weight\", or remove all of \"late\", \"withdrawn\", \"added\", \"continuable\" and \"continues\"")
	}
	if j.Data.Test.Split() != "" && (k.changesParties() || k.secretsOutlive()) {
		return in.Refuse("data.test", `a job with "late", "withdrawn", "added", "continuable" or "continues" cannot hold out %s; use "test: {fraction: 0.25}"`, j.Data.Test.Chosen())
	}
	return k.checkChanges(j, in)
}

// changeKeys declares the keys of a job file that describe changes of the parties.
func (c *Changes) changeKeys() []section.Field {
	return []section.Field{
		{Key: "late", Value: section.Words{Dst: &c.Late, Most: job.MaxParties, Example: "[south]"}, Else: "none",
			Doc: "The parties that come late. Simulate plays a first session without them, which they then join."},
		{Key: "withdrawn", Value: section.Words{Dst: &c.Withdrawn, Most: job.MaxParties, Example: "[east]"}, Else: "none",
			Doc: "The parties that withdraw after the first session. Their rows are dropped before the model is learnt."},
		{Key: "added", Value: job.PartyShares{Dst: &c.Added, Example: "{north: 0.1}"}, Else: "nothing",
			Doc: "The share of its rows, the last ones of its table, that a party gets after the first session. Simulate plays that."},
		{Key: "preparation", Value: section.Choice[Preparation]{Noun: "preparation", Dst: &c.Preparation, Known: []Preparation{Keep, Refit}},
			Else: "refit if a party withdraws, keep otherwise", Doc: "Keep prepares and scales rows as the first session did, and only new rows are sent. Refit fits again, and every row is sent again."},
		{Key: "continuable", Value: section.Yes{Dst: &c.Continuable}, Else: "no",
			Doc: "Whether the coordinator keeps the encoded rows, sealed, so that a later job can continue this one."},
		{Key: "continues", Value: job.OneID{Dst: &c.Earlier}, Else: "no job",
			Doc: "The job that this one continues: its parties send only rows that they have got since, and late names the parties that join."},
	}
}

// checkChanges refuses changes of the parties that a job cannot carry out.
func (c *Changes) checkChanges(j *job.Job, in *section.Place) error {
	switch {
	case c.secretsOutlive() && j.Prediction == job.Open:
		return in.Refuse("prediction", `a job with "continues" or "continuable" has no open predictions; remove "prediction: open"`)
	case c.continues():
		return c.checkContinued(j, in)
	case !c.changesParties():
		return nil
	case c.Continuable:
		return in.Refuse("protocol", "without \"continues\", a job with \"late\", \"withdrawn\" or \"added\" runs only in simulate, which keeps no state; remove \"continuable\"")
	}
	for _, name := range slices.Concat(c.Late, c.Withdrawn) {
		switch {
		case !slices.Contains(j.Parties(), name):
			return in.Refuse("protocol", "%s is not a party of the job, so it cannot be in \"late\" or \"withdrawn\"; name a party of the job", name)
		case slices.Contains(c.Late, name) && slices.Contains(c.Withdrawn, name):
			return in.Refuse("protocol", "%s is in both \"late\" and \"withdrawn\"; remove it from one of the two", name)
		}
	}
	if err := c.checkAdded(j, in); err != nil {
		return err
	}
	first, last := without(j.Parties(), c.Late), without(j.Parties(), c.Withdrawn)
	switch {
	case len(first) < 2:
		return in.Refuse("protocol", "fewer than two parties take part from the beginning; name fewer parties in \"late\"")
	case len(last) < 2:
		return in.Refuse("protocol", "fewer than two parties stay until the end; name fewer parties in \"withdrawn\"")
	case slices.Contains(c.Late, last[0]):
		return in.Refuse("protocol", "%s would be the leader, but it lacks the seed; list it after a party that neither comes late nor withdraws", last[0])
	case j.Prediction == job.Open:
		return in.Refuse("prediction", `a job whose parties change has no open predictions; remove "prediction: open"`)
	}
	if c.Preparation == "" {
		c.Preparation = Keep
		if len(c.Withdrawn) > 0 {
			c.Preparation = Refit
		}
	}
	return nil
}

// checkAdded refuses shares of rows that parties cannot add after the first session.
func (c *Changes) checkAdded(j *job.Job, in *section.Place) error {
	for _, s := range c.Added {
		switch {
		case !slices.Contains(j.Parties(), s.Party):
			return in.Refuse("protocol", "%s is not a party of the job, so it cannot add rows; name a party of the job", s.Party)
		case slices.Contains(c.Late, s.Party) || slices.Contains(c.Withdrawn, s.Party):
			return in.Refuse("protocol", "%s is in \"late\" or \"withdrawn\", so it cannot add rows; remove it from one of the lists", s.Party)
		case s.Share == 1:
			return in.Refuse("protocol", "%s would bring all its rows after the first session; name it in \"late\"", s.Party)
		}
	}
	return nil
}

func without(names, left []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(left, name) })
}
