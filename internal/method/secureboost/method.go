// Package secureboost is the method SecureBoost, to compare FDSKL with: holders of other
// columns of the same people grow boosted trees. The holder of the labels decides by sums
// over the bins of the others' columns. See protocol/secureboost.
package secureboost

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol/secureboost"
)

// Method is SecureBoost.
type Method struct{ method.RowFloors }

// Name returns the word in job files.
func (Method) Name() string { return "secureboost" }

// New returns keys to read into.
func (Method) New() section.Values { return new(Keys) }

// Undownloadable implements [method.Undownloadable].
func (Method) Undownloadable(j *job.Job) string { return columns.Undownloadable(j) }

// Cuts returns the partition between the parties.
func (Method) Cuts() job.Direction { return job.Columns }

// Undeployable refuses jobs that show labels to all parties.
func (Method) Undeployable(j *job.Job) string {
	if keysOf(j).HE == secureboost.None {
		return "protocol secureboost with he: none shows the labels to every party, and runs in simulate only; write he: paillier"
	}
	return ""
}
