package secureboost

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol/secureboost"
)

// Keys are the settings of a job; see protocol/secureboost. There is no hardened mode:
// nothing mends that the parties see which rows are together in a node.
type Keys struct {
	job.Moded
	HE secureboost.Encryption
	columns.Keys
}

// Section declares the keys.
func (k *Keys) Section() *section.Section {
	return &section.Section{Doc: "Parties that hold different columns of the same people grow boosted trees. The holder of the labels decides by sums of encrypted gradients.",
		Fields: []section.Field{
			k.ModeKey(),
			{Key: "he", Value: section.Choice[secureboost.Encryption]{Noun: "he", Dst: &k.HE, Known: []secureboost.Encryption{secureboost.Paillier, secureboost.None}},
				Default: string(secureboost.Paillier), Doc: "The encryption of gradients; none shows the labels to every party, and runs in simulate only."},
			k.IDsKey(),
		}, Finish: k.CheckIDs}
}

// Demands implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: k.check, Limits: map[string]int{"max_ids": k.MaxIDs}}
}

// check asks for mode paper and for a learner that grows trees, and for nothing else.
func (k *Keys) check(j *job.Job, in *section.Place) error {
	switch {
	case k.Mode != job.Paper:
		return in.Refuse("protocol", "protocol secureboost has mode paper only; write mode: paper, or use protocol fdskl, whose passive parties learn nothing of the labels")
	case learner.TreesOf(j) == nil:
		return in.Refuse("learner", "protocol secureboost and learner %s do not go together; secureboost and %s do", j.Learner.Name(), learner.Able(" or ", func(j *job.Job) bool { return learner.TreesOf(j) != nil }))
	case len(j.Kernels()) > 1 || j.Kernel.Name != job.Linear:
		return in.Refuse("kernel", "protocol secureboost grows trees, which have no kernel; write kernel: {name: linear}")
	case j.Prediction == job.Open:
		return in.Refuse("prediction", "protocol secureboost answers no questions about new rows in this version; remove prediction")
	case j.Data.Folds > 0:
		return in.Refuse("data", "protocol secureboost chooses nothing by folds; use test: {fraction: 0.25}")
	}
	return nil
}
