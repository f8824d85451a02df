// Package ppsvmv is the method PP-SVMV, a published rival of gram: holders of other columns of
// the same people add up their Gram matrices around a ring, and the coordinator learns from
// the sum. See protocol/psi and protocol/ppsvmv.
package ppsvmv

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
)

// Method is the sum around a ring.
type Method struct{ method.RowFloors }

// Name returns the word in job files.
func (Method) Name() string { return "pp-svmv" }

// New returns keys to read into.
func (Method) New() section.Values { return new(Keys) }

// Undownloadable implements [method.Undownloadable].
func (Method) Undownloadable(j *job.Job) string { return columns.Undownloadable(j) }

// Cuts returns the partition between the parties.
func (Method) Cuts() job.Direction { return job.Columns }
