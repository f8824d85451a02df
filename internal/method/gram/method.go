// Package gram is the method for holders of other columns of the same people: the
// coordinator learns from the sum of their Gram matrices, of which it sees the sum
// only. See protocol/psi and protocol/gram.
package gram

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
)

// Method is the sum of Gram matrices.
type Method struct{ method.RowFloors }

// Name returns the word in job files.
func (Method) Name() string { return "gram" }

// New returns keys to read into.
func (Method) New() section.Values { return new(Keys) }

// Undownloadable implements [method.Undownloadable].
func (Method) Undownloadable(j *job.Job) string { return columns.Undownloadable(j) }

// Cuts returns the partition between the parties.
func (Method) Cuts() job.Direction { return job.Columns }
