// Package pooled is no protection at all: everything is computed on the rows in
// one place. It exists for comparison, in simulate only.
package pooled

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
)

// Method computes on the rows in one place.
type Method struct{}

// Name returns the word in job files.
func (Method) Name() string { return "pooled" }

// New returns keys to read into.
func (Method) New() section.Values { return new(Keys) }

// Grouped implements [job.Grouped]: one process knows all groups.
func (Method) Grouped() {}

// Undeployable refuses all jobs.
func (Method) Undeployable(*job.Job) string {
	return "protocol pooled has no privacy and runs in simulate only; use okra"
}

// Keys holds no setting: the method has none.
type Keys struct{}

// Section declares no key.
func (*Keys) Section() *section.Section {
	return &section.Section{Doc: "One process computes on all rows without any protection, for comparison in simulate."}
}

// Check asks for a learner on the Gram matrix.
func (*Keys) Check(j *job.Job, in *section.Place) error { return learner.OnRows(j, in) }
