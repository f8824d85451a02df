package moments

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// classLesson is a ridge regression for each of these classes.
type classLesson []string

func (c classLesson) codes(labels []string) []int {
	codes := make([]int, len(labels))
	for i, label := range labels {
		codes[i] = slices.Index(c, label)
	}
	return codes
}

func (c classLesson) targets(labels []string, _ int) (moments.Targets, error) {
	return moments.Classes{Codes: c.codes(labels), Count: len(c)}, nil
}

func (c classLesson) width() int      { return len(c) }
func (c classLesson) totals() int     { return 0 }
func (c classLesson) outputs() int    { return len(c) }
func (c classLesson) further(int) int { return 0 }

func (c classLesson) judgement() judgement {
	return judgement{name: crossValidation, of: moments.ClassScore}
}

// crossValidation names scores by generalised cross-validation.
const crossValidation = "gcv"

func (c classLesson) solve(s *moments.Sums, alpha float64) (*taught, error) {
	one, err := moments.Solve(s, alpha)
	return &taught{solution: one}, err
}

// figures: the rows that are decided rightly.
func (c classLesson) figures() int { return 1 }

func (c classLesson) measure(m feature.Map, t *taught, rows linalg.Rows, labels []string) ([]int64, error) {
	correct, err := moments.Correct(m, t.solution, rows, c.codes(labels))
	return []int64{moments.RoundShare(correct, len(labels))}, err
}

func (c classLesson) judge(_ *moments.Sums, _ *taught, rows int64, figures []int64) (*verdict, error) {
	return &verdict{metrics: learner.Metrics{"accuracy": float64(figures[0]) / moments.Thousand / float64(rows)}}, nil
}

func (c classLesson) describe(*taught, *model.RandomSpec) {}
