package moments

import (
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// componentLesson counts the components of a kernel PCA.
type componentLesson int

func (c componentLesson) targets(_ []string, rows int) (moments.Targets, error) {
	return moments.Unlabelled(rows), nil
}

func (c componentLesson) width() int   { return 1 }
func (c componentLesson) totals() int  { return 0 }
func (c componentLesson) outputs() int { return int(c) }

func (c componentLesson) further(int) int      { return 0 }
func (c componentLesson) judgement() judgement { return judgement{} }

func (c componentLesson) solve(s *moments.Sums, _ float64) (*taught, error) {
	one, _, err := moments.Components(s, int(c))
	return &taught{solution: one}, err
}

// figures: squared scores.
func (c componentLesson) figures() int { return 1 }

func (c componentLesson) measure(m feature.Map, t *taught, rows linalg.Rows, _ []string) ([]int64, error) {
	n, _ := rows.Shape()
	kept, err := moments.MeasureComponents(m, t.solution, rows)
	return []int64{moments.RoundMean(kept, n)}, err
}

func (c componentLesson) judge(s *moments.Sums, _ *taught, rows int64, figures []int64) (*verdict, error) {
	_, values, err := moments.Components(s, int(c))
	if err != nil {
		return nil, err
	}
	kept := 0.0
	for _, v := range values {
		kept += v
	}
	return &verdict{values: values, metrics: learner.Metrics{
		"explained_variance": moments.Explained(s, figures[0], rows), "explained_variance_training": kept / moments.Spread(s),
	}}, nil
}

func (c componentLesson) describe(*taught, *model.RandomSpec) {}
