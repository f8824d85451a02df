package learner

import (
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// MaxRows is the largest number of rows of which a job of protocol pooled computes a whole Gram matrix. Such a
// matrix takes 2 GiB.
const MaxRows = 1 << 14

// gammaUnitValue computes the value of a unit of gamma from the training rows.
func (t Problem) gammaUnitValue(u job.GammaUnit) (float64, error) {
	if u == job.Norm {
		return t.MeanSquaredNorm(), nil
	}
	if train, _ := t.Rows(); t.X != nil && len(train) > MaxRows {
		return 0, fault.BadInputf("gamma_unit %s is impossible with %d training rows, because at most %d (2 GiB of products) are allowed; give gamma without a unit, or gamma_unit %s", u, len(train), MaxRows, job.Norm)
	}
	return t.MedianSquaredDistance(), nil
}

// MedianSquaredDistance returns the median squared distance between training rows. It computes a
// Gram matrix if the problem has none.
func (t Problem) MedianSquaredDistance() float64 {
	train, _ := t.Rows()
	if t.X != nil {
		return kernel.MedianSquaredDistance(kernel.LinearGram(linalg.Pick(t.X, train)), linalg.Range(0, len(train)))
	}
	return kernel.MedianSquaredDistance(t.Gram, train)
}

// MeanSquaredNorm returns the mean squared norm of the training rows.
func (t Problem) MeanSquaredNorm() float64 {
	train, _ := t.Rows()
	if t.X == nil {
		return kernel.MeanSquaredNorm(t.Gram, train)
	}
	return linalg.Sum(kernel.SquaredNorms(linalg.Pick(t.X, train))) / float64(len(train))
}
