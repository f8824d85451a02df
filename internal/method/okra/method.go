// Package okra is the method OKRA: every party sends its rows to the coordinator,
// encoded by an isometry that the parties share, and the coordinator learns from
// their exact Gram matrix. See protocol/okra.
package okra

import (
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method"
)

// Method is OKRA.
type Method struct{ method.RowFloors }

// Name returns the word in job files.
func (Method) Name() string { return "okra" }

// Grouped implements [job.Grouped]: parties put their own groups into folds.
func (Method) Grouped() {}

// New returns keys to read into.
func (Method) New() section.Values { return new(Keys) }
