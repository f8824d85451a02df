package komd

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
)

// Stripe is one user's part of a kernel: the rows of the items that the user
// likes. They may be an estimate that is no kernel, such as FedCFK's mode paper
// makes: then there may be several best weights, and a stripe has one of them.
type Stripe struct {
	Liked []int                  // each once
	Rows  linalg.Matrix[float64] // len(Liked) x items; symmetric among the liked ones
	Mean  []float64              // of each item's row, over the whole catalogue
}

// Scores returns a score for every item as [Model.Scores] does, and whether the
// quadratic form was convex, so that these are the only best ones. Otherwise the
// weights are [Descend]'s.
func (s Stripe) Scores(lambda float64) (scores []float64, convex bool, err error) {
	if s.Rows.Rows != len(s.Liked) || s.Rows.Cols != len(s.Mean) {
		return nil, false, fmt.Errorf("komd: %d x %d kernel values for %d liked of %d items", s.Rows.Rows, s.Rows.Cols, len(s.Liked), len(s.Mean))
	}
	if err := checkLiked(s.Liked, len(s.Mean)); err != nil {
		return nil, false, err
	}
	p, q, err := quadratic(s.Liked, s.Mean, lambda, s.Rows.Row)
	if err != nil {
		return nil, false, err
	}
	weights, err := Simplex(p, q)
	convex = err == nil
	if errors.Is(err, ErrNotConvex) {
		weights, err = Descend(p, q)
	}
	if err != nil {
		return nil, false, err
	}
	return combine(weights, s.Mean, s.Rows.Row), convex, nil
}
