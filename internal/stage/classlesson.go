package stage

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// classLesson is a ridge regression for each class.
type classLesson struct {
	classes []string
	alphas  []float64
}

func (c classLesson) codes(labels []string) []int {
	codes := make([]int, len(labels))
	for i, label := range labels {
		codes[i] = slices.Index(c.classes, label)
	}
	return codes
}

func (c classLesson) targets(labels []string, _ int) (moments.Targets, error) {
	return moments.Classes{Codes: c.codes(labels), Count: len(c.classes)}, nil
}

func (c classLesson) width() int      { return len(c.classes) }
func (c classLesson) totals() int     { return 0 }
func (c classLesson) outputs() int    { return len(c.classes) }
func (c classLesson) further(int) int { return 0 }

func (c classLesson) solve(s *moments.Sums) (*taught, error) {
	path, err := moments.Solve(s, c.alphas)
	return &taught{path: path}, err
}

// figures: rows that each solution decides rightly, squared errors of each
// solution and class.
func (c classLesson) figures() int { return len(c.alphas) * (1 + len(c.classes)) }

func (c classLesson) measure(m feature.Map, t *taught, rows linalg.Rows, labels []string) ([]int64, error) {
	e, err := moments.Measure(m, t.path, rows, c.codes(labels))
	if err != nil {
		return nil, err
	}
	return slices.Concat(e.Correct, e.Squared), nil
}

func (c classLesson) judge(_ *moments.Sums, t *taught, rows int64, figures []int64) (*verdict, error) {
	l := len(c.alphas)
	e := &moments.Errors{Rows: rows, Correct: figures[:l], Squared: figures[l:]}
	v := &verdict{best: e.Best()}
	for _, correct := range e.Correct {
		v.cells = append(v.cells, Cell{Score: "accuracy", Mean: float64(correct) / float64(rows), Correct: int(correct)})
	}
	v.metrics = evaluate.Metrics{"accuracy": v.cells[v.best].Mean}
	return v, nil
}

func (c classLesson) describe(_ *taught, r *model.RandomSpec) {
	r.Reading = model.Reading{Kind: model.RidgeClassifier, Classes: c.classes}
}
