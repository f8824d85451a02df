package gram

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/columns"
)

// Keys are the settings of a job. There is no paper mode: the paper's sum is the
// same one.
type Keys struct {
	job.Moded
	columns.Keys
}

// Section declares the keys.
func (k *Keys) Section() *section.Section {
	return &section.Section{
		Doc:    "Parties that hold different columns of the same people add up their Gram matrices. The coordinator sees the sum only.",
		Fields: []section.Field{k.ModeKey(), k.IDsKey()}, Finish: k.finish,
	}
}

func (k *Keys) finish(in *section.Place) error {
	if k.Mode == job.Paper {
		return in.Refuse("mode", "protocol gram has no mode paper; remove it")
	}
	return k.CheckIDs(in)
}

// Demands implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: learner.OnMatrix, Limits: map[string]int{"max_ids": k.MaxIDs}}
}
