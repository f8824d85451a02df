package moments

import (
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// components counts the components of a kernel PCA.
type components int

func (c components) targets(_ []string, rows int) (moments.Targets, error) {
	return moments.Unlabelled(rows), nil
}

func (c components) width() int   { return 1 }
func (c components) totals() int  { return 0 }
func (c components) outputs() int { return int(c) }

func (c components) extra(int) int        { return 0 }
func (c components) criterion() criterion { return criterion{} }

func (c components) solve(s *moments.Sums, _ float64) (*fitted, error) {
	one, _, err := moments.Components(s, int(c))
	return &fitted{solution: one}, err
}

// figures: squared scores.
func (c components) figures() int { return 1 }

func (c components) measure(m feature.Map, t *fitted, rows linalg.Rows, _ []string) ([]int64, error) {
	n, _ := rows.Shape()
	kept, err := moments.MeasureComponents(m, t.solution, rows)
	return []int64{moments.RoundMean(kept, n)}, err
}

func (c components) evaluate(s *moments.Sums, _ *fitted, rows int64, figures []int64) (*results, error) {
	_, values, err := moments.Components(s, int(c))
	if err != nil {
		return nil, err
	}
	kept := 0.0
	for _, v := range values {
		kept += v
	}
	return &results{values: values, metrics: learner.Metrics{
		"explained_variance": moments.Explained(s, figures[0], rows), "explained_variance_training": kept / moments.Spread(s),
	}}, nil
}

func (c components) describe(*fitted, *model.RandomSpec) {}
