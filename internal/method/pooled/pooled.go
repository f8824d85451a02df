// Package pooled learns on pooled rows without any protection: one process that owns the rows
// computes everything. It runs in simulate only.
package pooled

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
)

// Method is the protocol pooled, which learns on pooled rows in one process.
type Method struct{}

var _ job.Protocol = (*Method)(nil)

// Name returns the protocol's name in job files.
func (Method) Name() string { return "pooled" }

// New returns an empty section of settings for the reader of job files.
func (Method) New() section.Values { return new(Keys) }

// Traits implements [job.Protocol]. Grouped is set because the process knows all groups.
func (Method) Traits() job.Traits {
	return job.Traits{Unshared: true, Grouped: true, Weighted: true, Learns: learner.On[learner.KernelLearner], Undeployable: undeployable, NoStudy: job.OneProcess}
}

func undeployable(*job.Job) string {
	return "protocol pooled has no privacy and runs in simulate only; use okra"
}

// Keys is the protocol's section in a job file. It has no settings.
type Keys struct{}

var _ job.Settings = (*Keys)(nil)

// Section declares a section without keys.
func (*Keys) Section() *section.Section {
	return &section.Section{Doc: "One process computes on all rows without any protection, in simulate. One source is enough, without a partition, and numbers need no range."}
}

// Demands implements [job.Settings].
func (k *Keys) Demands() job.Demands { return job.Demands{Check: k.check} }

// check requires a learner on a kernel matrix and, for a comparison, parties and held-out rows.
func (*Keys) check(j *job.Job, in *section.Place) error {
	shared := len(j.Parties()) > 1
	if !in.Given("compare") && (!shared || j.Data.Test.None) {
		j.Compare = []job.Comparison{}
	}
	switch {
	case len(j.Compare) > 0 && !shared:
		return in.Refuse("compare", `"compare" needs parties, but a table without a partition has no parties; remove "compare", or add "partition: {parties: [north, south]}" to data`)
	case len(j.Compare) > 0 && j.Data.Test.None:
		return in.Refuse("compare", `"compare" needs metrics on held-out rows, and "test: none" holds out no rows; remove "compare" or "test"`)
	}
	return learner.OnRows(j, in)
}
