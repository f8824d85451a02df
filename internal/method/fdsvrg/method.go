// Package fdsvrg is the method FD-SVRG, a published rival: holders of other columns of the same
// people train a linear model by variance-reduced stochastic gradients, and the first of them
// has the labels. See protocol/fdsvrg.
package fdsvrg

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
)

// Method is FD-SVRG.
type Method struct{ method.RowFloors }

// Name returns the word in job files.
func (Method) Name() string { return "fd-svrg" }

// New returns keys to read into.
func (Method) New() section.Values { return new(Keys) }

// Undownloadable implements [method.Undownloadable].
func (Method) Undownloadable(j *job.Job) string { return columns.Undownloadable(j) }

// Cuts returns the partition between the parties.
func (Method) Cuts() job.Direction { return job.Columns }
