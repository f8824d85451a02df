package onerow_test

import (
	"errors"
	"os"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// Nearest is a learner in this file only: it decides for the class with the nearest mean in
// feature space. Shrink moves all means towards the mean of all rows.
type Nearest struct{ Shrink float64 }

func (Nearest) Name() string        { return "nearest-mean" }
func (Nearest) New() section.Values { return new(Nearest) }

func (Nearest) Task() job.Task {
	t := job.Classes()
	t.Shape = model.Each
	return t
}

func (n *Nearest) Section() *section.Section {
	return &section.Section{Fields: []section.Field{
		{Key: "shrink", Value: section.Number{Dst: &n.Shrink}, List: true, Default: "0.125", Doc: "The share of the mean of all rows in each mean, below 1."},
	}, Finish: func(in *section.Place) error { return in.Share("shrink", "each mean", n.Shrink) }}
}

func (n *Nearest) Solver(uint64) learner.Solver { return *n }

// Fit writes the score of class c as a function: 2 m_c.x - |m_c|^2, for its mean m_c.
func (n Nearest) Fit(t learner.Training) (*learner.Solution, error) {
	if wait, err := time.ParseDuration(os.Getenv(slow)); err == nil { // a test kills the process meanwhile
		time.Sleep(wait / 8)
	}
	classes, codes := dataset.Classes(t.Labels)
	if len(classes) < 2 {
		return nil, errors.New("nearest-mean: one class")
	}
	rows, k := t.Kernel.Len(), linalg.New[float64](t.Kernel.Len(), t.Kernel.Len())
	s := &learner.Solution{Figures: learner.Metrics{"shrunk": n.Shrink}}
	for i := range rows {
		s.Support = append(s.Support, i)
		t.Kernel.Row(i, k.Row(i))
	}
	s.Head.Output = model.Output{Kind: model.NewKind(n.Name(), model.Each), Classes: classes}
	for c := range classes {
		s.Head.Functions = append(s.Head.Functions, n.score(k, codes, c))
	}
	return s, nil
}

func (n Nearest) score(k linalg.Matrix[float64], codes []int, class int) model.Function {
	size := 0.
	for _, c := range codes {
		if c == class {
			size++
		}
	}
	mean := make([]float64, len(codes)) // as weights of rows
	for i, c := range codes {
		mean[i] = n.Shrink / float64(len(codes))
		if c == class {
			mean[i] += (1 - n.Shrink) / size
		}
	}
	square, twice := 0., make([]float64, len(codes))
	for i, a := range mean {
		for j, b := range mean {
			square += a * b * k.Row(i)[j]
		}
		twice[i] = 2 * a
	}
	return model.Dense(twice, square)
}

func (Nearest) Measure(f *learner.Fitted, m learner.Metrics) (err error) {
	m["accuracy"], err = metrics.Accuracy(f.Truth, f.Predicted)
	return err
}

var _ learner.KernelLearner = (*Nearest)(nil)
