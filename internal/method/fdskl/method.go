// Package fdskl is the method FDSKL: holders of other columns of the same people
// add up phases of random features, and those with the labels learn from the sums.
// See protocol/fdskl.
package fdskl

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
)

// Method is FDSKL.
type Method struct{ method.RowFloors }

// Name returns the word in job files.
func (Method) Name() string { return "fdskl" }

// New returns keys to read into.
func (Method) New() section.Values { return new(Keys) }

// Undownloadable implements [method.Undownloadable].
func (Method) Undownloadable(j *job.Job) string { return columns.Undownloadable(j) }

// Cuts returns the partition between the parties.
func (Method) Cuts() job.Direction { return job.Columns }

// Comparisons allows the comparison with the kernel that the random features stand for.
func (Method) Comparisons() []job.Comparison { return []job.Comparison{job.ExactKernel} }
