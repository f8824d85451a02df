package pool

import (
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/linalg"
)

const (
	// smallRows is the number of rows up to which every learner gets a Gram matrix, in float64:
	// 128 MiB.
	smallRows = 1 << 12
	// filledNumbers bounds the numbers of sparse rows that a scaling fills: 2 GiB.
	filledNumbers = 1 << 28
)

// Input returns the input of a job's learner. A job among parties is compared on their Gram
// matrix. Where one process has the rows, a learner that reads rows of a matrix gets them
// computed when it asks, and a learner that needs the whole matrix gets one of bounded size.
func (p *Rows) Input(j *job.Job) (learner.Problem, error) {
	n, _ := p.X.Shape()
	_, rowwise := j.Learner.Values.(learner.Rowwise)
	switch {
	case !j.Unshared() || n <= smallRows:
	case rowwise:
		x, err := p.held()
		return learner.Problem{X: x, Labels: p.Labels, Test: p.Test}, err
	case n > learner.MaxRows:
		return learner.Problem{}, fault.BadInputf("%d rows, and an exact matrix, which learner %s needs whole, can have %d (2 GiB); bring fewer, or use %s",
			n, j.Learner.Name(), learner.MaxRows, learner.Able(" or ", learner.On[learner.Rowwise]))
	}
	return p.Problem(), nil
}

// held returns the rows as they are read quickly: sparse rows stay sparse, others are a matrix
// in float64.
func (p *Rows) held() (linalg.Rows, error) {
	n, f := p.X.Shape()
	sparse, is := p.raw.(linalg.SparseRows)
	if is && len(p.Scaling.Offset) == 0 {
		return p.raw, nil
	}
	if is {
		if scaled, stays := p.Scaling.Sparse(sparse); stays {
			return scaled, nil
		}
		if n > filledNumbers/max(1, f) {
			return nil, fault.BadInputf("the scaling moves zeros, and %d rows of %d columns without zeros take more than 2 GiB; use scale: none", n, f)
		}
	}
	x := linalg.New[float64](n, f)
	linalg.Gather(x, p.X, 0)
	return x, nil
}
