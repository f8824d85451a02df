package local

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
	sums "github.com/mercer-fl/mercer/internal/method/moments"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
)

// pooledRows holds all parties' rows, from which a curve over numbers of random features is
// computed.
type pooledRows struct {
	train, held linalg.Rows
	codes       []int // class codes of the training rows, from 0 to classes-1
	heldCodes   []int
	classes     int
	kernel      kernel.Spec // rbf or laplacian
	alphas      []float64
	seed        uint64
}

// drawCount returns the number of random draws that a point of the curve averages. With fewer
// features, the results of draws vary more and cost less, so the point averages more draws.
func drawCount(features int) int { return max(1, min(32, 2048/features)) }

// curve returns points with 20, 10, 4, 2 and 1 rows for each feature, except those with fewer than two features. The
// training rows select the best regulariser, as in a job. It stops between draws once ctx ends.
func (s *pooledRows) curve(ctx context.Context) ([]sums.Point, error) {
	n, _ := s.train.Shape()
	var curve []sums.Point
	for _, per := range []int{20, 10, 4, 2, 1} {
		p := sums.Point{RowsPerFeature: per, Features: n / per / 2 * 2}
		if p.Features < 2 {
			continue
		}
		if err := s.measure(ctx, &p); err != nil {
			return nil, fmt.Errorf("%d features: %w", p.Features, err)
		}
		curve = append(curve, p)
	}
	return curve, nil
}

func (s *pooledRows) measure(ctx context.Context, p *sums.Point) error {
	p.Draws = drawCount(p.Features)
	squares := 0.0
	for draw := range p.Draws {
		if err := ctx.Err(); err != nil {
			return err
		}
		accuracy, membership, err := s.measureDraw(p.Features, draw)
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

// measureDraw returns accuracy and the membership attack's area under the ROC curve for one draw of
// the directions.
func (s *pooledRows) measureDraw(features, draw int) (accuracy, membership float64, err error) {
	_, width := s.train.Shape()
	m, err := moments.Features(s.kernel, s.seedOfDraw(features, draw), features, width)
	if err != nil {
		return 0, 0, err
	}
	of, err := moments.Summarize(m, s.train, moments.Classes{Codes: s.codes, Count: s.classes})
	if err != nil {
		return 0, 0, err
	}
	solution, err := s.best(of)
	if err != nil {
		return 0, 0, err
	}
	correct, err := moments.Correct(m, solution, s.held, s.heldCodes)
	if err != nil {
		return 0, 0, err
	}
	membership, err = moments.Membership(of, m, s.train, s.held)
	return float64(correct) / float64(len(s.heldCodes)), membership, err
}

// seedOfDraw returns the seed of one draw of the directions.
func (s *pooledRows) seedOfDraw(features, draw int) [sha256.Size]byte {
	var seed wire.Writer
	seed.String("mercer/v1/curve")
	seed.Uint64(s.seed)
	seed.Uint32(uint32(features))
	seed.Uint32(uint32(draw))
	return sha256.Sum256(seed.Bytes())
}

// best returns the solution whose regulariser has the best cross-validation score.
func (s *pooledRows) best(of *moments.Sums) (moments.Solution, error) {
	least, alpha := math.Inf(1), s.alphas[0]
	for _, a := range s.alphas {
		score, err := moments.ClassScore(of, a)
		if err != nil {
			return moments.Solution{}, err
		}
		if score < least {
			least, alpha = score, a
		}
	}
	return moments.Solve(of, alpha)
}
