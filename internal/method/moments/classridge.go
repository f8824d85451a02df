package moments

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// classRidge is a ridge regression for each of these classes.
type classRidge []string

func (c classRidge) codes(labels []string) []int {
	codes := make([]int, len(labels))
	for i, label := range labels {
		codes[i] = slices.Index(c, label)
	}
	return codes
}

func (c classRidge) targets(labels []string, _ int) (moments.Targets, error) {
	return moments.Classes{Codes: c.codes(labels), Count: len(c)}, nil
}

func (c classRidge) width() int    { return len(c) }
func (c classRidge) totals() int   { return 0 }
func (c classRidge) outputs() int  { return len(c) }
func (c classRidge) extra(int) int { return 0 }

func (c classRidge) criterion() criterion {
	return criterion{name: crossValidation, of: moments.ClassScore}
}

// crossValidation names scores by generalised cross-validation.
const crossValidation = "gcv"

func (c classRidge) solve(s *moments.Sums, alpha float64) (*fitted, error) {
	one, err := moments.Solve(s, alpha)
	return &fitted{solution: one}, err
}

// figures: the rows that are decided rightly.
func (c classRidge) figures() int { return 1 }

func (c classRidge) measure(m feature.Map, t *fitted, rows linalg.Rows, labels []string) ([]int64, error) {
	correct, err := moments.Correct(m, t.solution, rows, c.codes(labels))
	return []int64{moments.RoundShare(correct, len(labels))}, err
}

func (c classRidge) evaluate(_ *moments.Sums, _ *fitted, rows int64, figures []int64) (*results, error) {
	return &results{metrics: learner.Metrics{"accuracy": float64(figures[0]) / moments.Thousand / float64(rows)}}, nil
}

func (c classRidge) describe(*fitted, *model.RandomSpec) {}
