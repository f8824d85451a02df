package stage

import (
	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// componentLesson is kernel PCA with so many components.
type componentLesson int

func (c componentLesson) targets(_ []string, rows int) (moments.Targets, error) {
	return moments.Unlabelled(rows), nil
}

func (c componentLesson) width() int   { return 1 }
func (c componentLesson) totals() int  { return 0 }
func (c componentLesson) outputs() int { return int(c) }

// further: the mean of the features.
func (c componentLesson) further(features int) int { return features }

func (c componentLesson) solve(s *moments.Sums) (*taught, error) {
	one, _, err := moments.Components(s, int(c))
	if err != nil {
		return nil, err
	}
	return &taught{path: []moments.Solution{one}, further: moments.Mean(s)}, nil
}

// figures: squared scores, and squared distances to the mean.
func (c componentLesson) figures() int { return 2 }

func (c componentLesson) measure(m feature.Map, t *taught, rows linalg.Rows, _ []string) ([]int64, error) {
	e, err := moments.MeasureComponents(m, t.path[0], t.further, rows)
	if err != nil {
		return nil, err
	}
	return []int64{e.Kept, e.All}, nil
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
	v := &verdict{values: values, metrics: evaluate.Metrics{"explained_variance_training": kept / moments.Spread(s)}}
	e := &moments.ComponentSums{Rows: rows, Kept: figures[0], All: figures[1]}
	if share, ok := e.Explained(); ok {
		v.metrics["explained_variance"] = share
	}
	return v, nil
}

func (c componentLesson) describe(_ *taught, r *model.RandomSpec) {
	r.Reading = model.Reading{Kind: model.KPCA}
}
