package komd

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
)

// Stripe holds the kernel rows of the items that one user likes. The rows can be an estimate that
// is not a kernel, as in FedCFK's mode "paper". Then several vectors of weights can be best, and
// the stripe uses one of these vectors.
type Stripe struct {
	Liked []int                  // items that the user likes, each once
	Rows  linalg.Matrix[float64] // kernel rows, len(Liked) x items; symmetric among the liked items
	Mean  []float64              // mean of each item's kernel row, over all items
}

// Scores returns a score for every item. A higher score means that the user will like the item
// more. Scores also reports whether the quadratic form is convex, so that the best weights are
// unique. Otherwise the weights are those of [Descend].
func (s Stripe) Scores(lambda float64) (scores []float64, convex bool, err error) {
	if s.Rows.Rows != len(s.Liked) || s.Rows.Cols != len(s.Mean) {
		return nil, false, fmt.Errorf("komd: there are %d x %d kernel values for %d liked items of %d; there must be a row for each liked item, and a column for each item", s.Rows.Rows, s.Rows.Cols, len(s.Liked), len(s.Mean))
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
