package bench

import (
	"math"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// lesson is a real data set of two classes, of which three quarters are for
// training; they come first.
type lesson struct {
	name     string
	x        linalg.Matrix[float64]
	targets  linalg.Matrix[float64] // 1 x rows, +1 and -1
	train    int                    // rows
	distance float64                // the median of two training rows
	courses  []course
}

// exam names the source of a lesson.
type exam struct {
	name, source string
	positive     []string // labels
	standardise  bool     // columns to mean 0 and variance 1 of the training rows
	courses      []course
}

// lesson reads the data set and splits it.
func (e exam) lesson(lib catalogue.Library) (lesson, error) {
	if !strings.HasPrefix(e.source, catalogue.Bundled) {
		if _, err := find(lib, e.source); err != nil {
			return lesson{}, err
		}
	}
	set, err := lib.Load(e.source, catalogue.Columns{})
	if err != nil {
		return lesson{}, err
	}
	const testing, seed = .25, 1
	learn, hold, err := dataset.SplitPlain(set.X.Rows(), testing, seed)
	if err != nil {
		return lesson{}, err
	}
	all, order := dataset.DenseOf(set.X).Matrix(), slices.Concat(learn, hold)
	l := lesson{name: e.name, train: len(learn), courses: e.courses, x: linalg.New[float64](all.Rows, all.Cols), targets: linalg.New[float64](1, all.Rows)}
	for i, r := range order {
		copy(l.x.Row(i), all.Row(r))
		l.targets.Data[i] = -1
		if slices.Contains(e.positive, set.Labels[r]) {
			l.targets.Data[i] = 1
		}
	}
	if e.standardise {
		l.standardise()
	}
	l.distance = medianDistance(l.x.Panel(0, l.train))
	return l, nil
}

// standardise scales columns to mean 0 and variance 1 of the training rows.
func (l lesson) standardise() {
	n := float64(l.train)
	for j := range l.x.Cols {
		sum, squares := 0.0, 0.0
		for i := range l.train {
			sum += l.x.Row(i)[j]
		}
		for i := range l.train {
			d := l.x.Row(i)[j] - sum/n
			squares += d * d
		}
		for i := range l.x.Rows {
			if l.x.Row(i)[j] -= sum / n; squares > 0 {
				l.x.Row(i)[j] /= math.Sqrt(squares / n)
			}
		}
	}
}

// medianDistance returns the median distance between a thousand rows or so.
func medianDistance(x linalg.Matrix[float64]) float64 {
	step := max(1, x.Rows/1000)
	some := linalg.New[float64](x.Rows/step, x.Cols)
	for i := range some.Rows {
		copy(some.Row(i), x.Row(i*step))
	}
	gram := linalg.New[float64](some.Rows, some.Rows)
	linalg.Syrk(gram, some)
	return math.Sqrt(kernel.MedianSquaredDistance(gram, upTo(0, some.Rows)))
}
