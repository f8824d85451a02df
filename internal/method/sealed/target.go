package sealed

import (
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/noised"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
)

// target converts labels to the targets of a ridge regression, and measures its solution.
type target interface {
	// columns returns the number of targets of a row, and values their values, as targets x rows, from -1 to 1.
	columns() int
	values(labels []string) (linalg.Matrix[float64], error)
	// solution converts weights (targets x features) to a function whose outputs are decisions or numbers.
	solution(weights linalg.Matrix[float64]) moments.Solution
	// measure returns errorSums() sums of errors over held-out rows. The sums over parts of the rows add up to the sums
	// over all n rows. Method round rounds the sums over all rows before they leave the party.
	measure(m feature.Mapping, s moments.Solution, rows linalg.Rows, labels []string) ([]int64, error)
	errorSums() int
	round(figures []int64, n int) []int64
	metrics(rows int64, figures []int64) learner.Metrics
}

// targetOf returns the target of a job's learner.
func targetOf(j *job.Job) target {
	k := job.As[*Keys](j.Protocol)
	switch private := k.Privacy.Private(); {
	case private && j.Task().Numbers:
		return blurredNumbers{numbers(k.Range()), noised.UnitErrorsOf(k.Range())}
	case private:
		return blurredClasses{classes: k.Classes}
	case j.Task().Numbers:
		return numbers(k.Range())
	}
	return classes(k.Classes)
}

// classes is a target of listed classes. Two classes share one column, -1 for the first and 1 for the second. Of more
// classes each has a column, 1 for its rows and 0 for the others: the largest output is the same as with -1, and errors
// of the computation are smaller.
type classes []string

func (c classes) columns() int {
	if len(c) == 2 {
		return 1
	}
	return len(c)
}

func (c classes) codes(labels []string) []int {
	codes := make([]int, len(labels))
	for i, label := range labels {
		codes[i] = slices.Index(c, label)
	}
	return codes
}

func (c classes) values(labels []string) (linalg.Matrix[float64], error) {
	y := linalg.New[float64](c.columns(), len(labels))
	for i, code := range c.codes(labels) {
		if len(c) == 2 {
			y.Row(0)[i] = float64(2*code - 1)
		} else {
			y.Row(code)[i] = 1
		}
	}
	return y, nil
}

// solution returns one output for each class.
func (c classes) solution(w linalg.Matrix[float64]) moments.Solution {
	if len(c) == 2 {
		both := linalg.New[float64](2, w.Cols)
		for k, v := range w.Row(0) {
			both.Row(0)[k], both.Row(1)[k] = -v, v
		}
		w = both
	}
	return moments.Solution{Weights: w, Offset: make([]float64, len(c))}
}

func (c classes) measure(m feature.Mapping, s moments.Solution, rows linalg.Rows, labels []string) ([]int64, error) {
	correct, err := moments.Correct(m, s, rows, c.codes(labels))
	return []int64{int64(correct)}, err
}

// errorSums returns 1: the number of correctly classified rows.
func (c classes) errorSums() int { return 1 }

func (c classes) round(figures []int64, n int) []int64 {
	return []int64{moments.RoundShare(int(figures[0]), n)}
}

func (c classes) metrics(rows int64, figures []int64) learner.Metrics {
	return learner.Metrics{"accuracy": float64(figures[0]) / moments.Thousand / float64(rows)}
}

// numbers is a target of numbers in a known range, which is mapped to -1 to 1. Predictions are
// shrunk towards the middle of the range, because the mean of the numbers would be one more number
// to open. So the middle is the prior mean of a Gaussian process, where protocol moments has the
// mean of the numbers.
type numbers moments.Range

func (n numbers) columns() int { return 1 }

func (n numbers) values(labels []string) (linalg.Matrix[float64], error) {
	y := linalg.New[float64](1, len(labels))
	list, err := dataset.Targets(labels)
	for i, v := range list {
		y.Row(0)[i] = (v - n.middle()) / n.half()
	}
	return y, err
}

func (n numbers) middle() float64 { return n.Least + n.half() }

func (n numbers) half() float64 { return (n.Greatest - n.Least) / 2 }

// solution returns the regression in the unit of the numbers.
func (n numbers) solution(w linalg.Matrix[float64]) moments.Solution {
	scaled := linalg.New[float64](1, w.Cols)
	for k, v := range w.Row(0) {
		scaled.Row(0)[k] = n.half() * v
	}
	return moments.Solution{Weights: scaled, Offset: []float64{n.middle()}}
}

func (n numbers) measure(m feature.Mapping, s moments.Solution, rows linalg.Rows, labels []string) ([]int64, error) {
	list, err := dataset.Targets(labels)
	if err != nil {
		return nil, err
	}
	e, err := moments.MeasureNumbers(m, s, rows, moments.Numbers{Values: list, Range: moments.Range(n)})
	if err != nil {
		return nil, err
	}
	return []int64{e.Truth, e.Power, e.Squared}, nil
}

// errorSums returns 3: the sums of the numbers, of their squares and of the squared errors.
func (n numbers) errorSums() int { return 3 }

func (n numbers) round(figures []int64, rows int) []int64 {
	e := (&moments.NumberErrors{Rows: int64(rows), Truth: figures[0], Power: figures[1], Squared: figures[2]}).Rounded()
	return []int64{e.Truth, e.Power, e.Squared}
}

// metrics returns rmse and r2. It leaves r2 out if the true numbers are equal, or differ too little for the rounding of
// the sums.
func (n numbers) metrics(rows int64, figures []int64) learner.Metrics {
	e := moments.NumberErrors{Rows: rows, Truth: figures[0], Power: figures[1], Squared: figures[2]}
	found := learner.Metrics{"rmse": e.RMSE(moments.Range(n))}
	if r2, ok := e.R2(); ok {
		found["r2"] = r2
	}
	return found
}
