package ppsvmv

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/columns"
)

// Keys are the settings of a job. There is mode paper only: protocol gram stands for a hardened
// mode.
type Keys struct {
	job.Moded
	columns.Keys
}

// Section declares the keys.
func (k *Keys) Section() *section.Section {
	return &section.Section{
		Doc:    "A published rival of gram: parties add up their Gram matrices around a ring, where two can read the one between them.",
		Fields: []section.Field{k.ModeKey(), k.IDsKey()}, Finish: k.CheckIDs,
	}
}

// Demands implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: k.check, Limits: map[string]int{"max_ids": k.MaxIDs}}
}

// check asks for mode paper and for a learner on the Gram matrix.
func (k *Keys) check(j *job.Job, in *section.Place) error {
	switch {
	case k.Mode != job.Paper:
		return in.Refuse("protocol", "protocol pp-svmv has mode paper only; write mode: paper, or use protocol gram, which adds up the same matrices and hides each party's own")
	case j.Prediction == job.Open:
		return in.Refuse("prediction", "pp-svmv has no prediction: open; remove it, or use protocol gram")
	}
	return learner.OnMatrix(j, in)
}
