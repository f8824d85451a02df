package learner

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
)

// Sums is what a curve of sums of random features is drawn from: rows in one
// place.
type Sums struct {
	Train, Held linalg.Rows
	Codes       []int // of the training rows, from 0 to Classes-1
	HeldCodes   []int
	Classes     int
	Kernel      kernel.Spec // rbf or laplacian
	Alphas      []float64
	Seed        uint64
}

// Point is what sums of a number of random features give, and what they show.
type Point struct {
	RowsPerFeature int     `json:"rows_per_feature"` // of training, at least
	Features       int     `json:"features"`
	Draws          int     `json:"draws"` // of directions, over which the figures are means
	Accuracy       float64 `json:"accuracy"`
	Deviation      float64 `json:"accuracy_deviation"` // standard deviation over the draws
	Membership     float64 `json:"membership_auc"`     // of the leverage attack on the sums over all rows
}

// draws is how many draws of the directions a point is the mean of: few features
// vary more and cost less.
func draws(features int) int { return max(1, min(32, 2048/features)) }

// Curve returns points with 20, 10, 4, 2 and 1 rows for each feature. The best of
// the regularisers is that by the training rows, as in a job. Once ctx ends no
// other draw begins.
func (s *Sums) Curve(ctx context.Context) ([]Point, error) {
	n, _ := s.Train.Shape()
	var curve []Point
	for _, per := range []int{20, 10, 4, 2, 1} {
		p := Point{RowsPerFeature: per, Features: n / per / 2 * 2}
		if p.Features < 2 {
			continue
		}
		if err := s.measure(ctx, &p); err != nil {
			return nil, fmt.Errorf("evaluate: %d features: %w", p.Features, err)
		}
		curve = append(curve, p)
	}
	return curve, nil
}

func (s *Sums) measure(ctx context.Context, p *Point) error {
	p.Draws = draws(p.Features)
	squares := 0.0
	for draw := range p.Draws {
		if err := ctx.Err(); err != nil {
			return err
		}
		accuracy, membership, err := s.one(p.Features, draw)
		if err != nil {
			return err
		}
		p.Accuracy += accuracy / float64(p.Draws)
		squares += accuracy * accuracy / float64(p.Draws)
		p.Membership += membership / float64(p.Draws)
	}
	p.Deviation = math.Sqrt(max(0, squares-p.Accuracy*p.Accuracy))
	return nil
}

// one is accuracy and membership figure of one draw of the directions.
func (s *Sums) one(features, draw int) (accuracy, membership float64, err error) {
	var seed wire.Writer
	seed.String("mercer/v1/curve")
	seed.Uint64(s.Seed)
	seed.Uint32(uint32(features))
	seed.Uint32(uint32(draw))
	_, width := s.Train.Shape()
	m, err := moments.Features(s.Kernel, sha256.Sum256(seed.Bytes()), features, width)
	if err != nil {
		return 0, 0, err
	}
	sums, err := moments.Summarize(m, s.Train, moments.Classes{Codes: s.Codes, Count: s.Classes})
	if err != nil {
		return 0, 0, err
	}
	solution, err := s.best(sums)
	if err != nil {
		return 0, 0, err
	}
	correct, err := moments.Correct(m, solution, s.Held, s.HeldCodes)
	if err != nil {
		return 0, 0, err
	}
	membership, err = moments.Membership(sums, m, s.Train, s.Held)
	return float64(correct) / float64(len(s.HeldCodes)), membership, err
}

// best is the solution with the regulariser that cross-validates best.
func (s *Sums) best(sums *moments.Sums) (moments.Solution, error) {
	least, alpha := math.Inf(1), s.Alphas[0]
	for _, a := range s.Alphas {
		score, err := moments.ClassScore(sums, a)
		if err != nil {
			return moments.Solution{}, err
		}
		if score < least {
			least, alpha = score, a
		}
	}
	return moments.Solve(sums, alpha)
}
