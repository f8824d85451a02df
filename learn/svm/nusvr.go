package svm

import (
	"cmp"
	"fmt"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// NuSVRParams are the parameters of nu-SVR.
type NuSVRParams struct {
	// C is the cost of an error beyond the tube, above 0 and finite.
	C float64
	// Nu is an upper bound on the share of rows whose error is beyond the tube, and a lower bound on
	// the share of support vectors. It is above 0 and at most 1. With weights, the shares are shares
	// of the sum of all weights.
	Nu float64
	// Tol is the tolerance at which training stops, in the unit of the targets. 0 means DefaultTol.
	Tol        float64
	RowWeights []float64    // as in Params
	CacheBytes int64        // as in Params
	MaxIter    int          // as in Params
	Interrupt  func() error // as in Params
}

func (p NuSVRParams) shared() Params {
	return Params{C: p.C, Tol: p.Tol, CacheBytes: p.CacheBytes, MaxIter: p.MaxIter, Interrupt: p.Interrupt}.filled()
}

// Validate checks p. Its errors name the field.
func (p NuSVRParams) Validate() error {
	if !positive(p.C) {
		return fmt.Errorf("svm: C is %v; it must be finite and above 0", p.C)
	}
	return cmp.Or(checkNu(p.Nu), p.shared().checkCommon())
}

// TrainNuSVR trains a nu-SVR (LIBSVM equation 13): a regression that chooses the half width epsilon
// of its tube by Nu. The arguments and the result are those of [TrainSVR]. A training that reaches
// MaxIter returns its machine beside an error that wraps [ErrNotConverged].
func TrainNuSVR(src kernel.Source, targets []float64, p NuSVRParams) (*Machine, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	w, q, err := tube(src, targets, p.RowWeights, 0, p.C)
	if err != nil {
		return nil, err
	}
	n := len(w.rows)
	q.start, q.split = make([]float64, 2*n), n
	fillUp(q.start[:n], q.upper[:n], p.C*p.Nu*linalg.Sum(w.weights)/2)
	for i, b := range q.start[:n] {
		q.start[n+i] = -b
	}
	return w.regression(q, p.C, p.shared())
}
