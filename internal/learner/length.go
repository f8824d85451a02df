package learner

import (
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// MaxRows bounds the rows of which a process that could do without holds the whole matrix: it
// takes 2 GiB.
const MaxRows = 1 << 14

// length measures the training rows in a unit.
func (t Problem) length(u job.GammaUnit) (float64, error) {
	if u == job.Norm {
		return t.MeanSquaredNorm(), nil
	}
	if train, _ := t.Rows(); t.X != nil && len(train) > MaxRows {
		return 0, fault.BadInputf("gamma_unit %s looks at the products of all training rows; these are %d, and it can be %d (2 GiB): give gamma without a unit, or gamma_unit %s", u, len(train), MaxRows, job.Norm)
	}
	return t.MedianSquaredDistance(), nil
}

// MedianSquaredDistance returns the median squared distance between the rows that are not
// held out. Of a problem without a Gram matrix it computes one.
func (t Problem) MedianSquaredDistance() float64 {
	train, _ := t.Rows()
	if t.X != nil {
		return kernel.MedianSquaredDistance(kernel.LinearGram(linalg.Pick(t.X, train)), linalg.Range(0, len(train)))
	}
	return kernel.MedianSquaredDistance(t.Gram, train)
}

// MeanSquaredNorm returns the mean squared norm of the rows that are not held out.
func (t Problem) MeanSquaredNorm() float64 {
	train, _ := t.Rows()
	if t.X == nil {
		return kernel.MeanSquaredNorm(t.Gram, train)
	}
	return linalg.Sum(kernel.SquaredNorms(linalg.Pick(t.X, train))) / float64(len(train))
}
