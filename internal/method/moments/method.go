// Package moments is the method of sums: the coordinator learns from sums of
// products of random features over all parties' rows, of which it sees the sums
// only. See protocol/secagg.
package moments

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method"
)

// Method learns from sums of products.
type Method struct{ method.RowFloors }

// Name returns the word in job files.
func (Method) Name() string { return "moments" }

// New returns keys to read into.
func (Method) New() section.Values { return new(Keys) }

// NoGrid allows grids: a cell is chosen by the sums of all training rows.
func (Method) NoGrid() string { return "" }

// Comparisons are other numbers of directions.
func (Method) Comparisons() []job.Comparison { return []job.Comparison{job.Curve} }
