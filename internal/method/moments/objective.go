package moments

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/noised"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// objective computes a learner's solution and metrics from sums over rows.
type objective interface {
	// targets converts labels to the values that enter the sums. Each row has width() values, which are
	// multiplied with its features. Besides, there are totals() sums of values without features.
	targets(labels []string, rows int) (moments.Targets, error)
	width() int
	totals() int
	// criterion returns the rule that selects among the job's hyperparameter values. The rule is empty
	// for a learner without such a value.
	criterion() criterion
	// solve fits the learner to the sums with one hyperparameter value. The parties receive the
	// solution, which has outputs() outputs and extra() more numbers.
	solve(s *moments.Sums, value float64) (*fitted, error)
	outputs() int
	extra(features int) int
	// measurer returns a function that computes errorSumCount() sums of errors over some held-out
	// rows. Each row adds at most moments.SquaredBound to a sum. The sums over parts of the rows add up
	// to the sums over all n rows. Method round rounds the sums over all rows before they leave the party.
	measurer(m feature.Mapping, t *fitted) (measurer, error)
	round(figures []int64, n int) []int64
	errorSumCount() int
	// evaluate computes metrics from the sums of errors of all parties over the given number of
	// rows.
	evaluate(s *moments.Sums, t *fitted, rows int64, figures []int64) (*results, error)
	// describe sets the fields of a model that only this learner needs.
	describe(t *fitted, r *model.RandomSpec)
}

// measurer computes sums of errors over some held-out rows.
type measurer = func(rows linalg.Rows, labels []string) ([]int64, error)

// criterion selects one of a job's hyperparameter values by sums over training rows alone. Scores
// of many solutions on held-out rows would reveal much about these rows.
type criterion struct {
	name    string
	of      func(s *moments.Sums, value float64) (float64, error)
	greater bool // true: the greatest score is best; false: the least score is best
}

// best returns the index of the best score, the first one if several are equal.
func (j criterion) best(scores []float64) int {
	best := 0
	for k, v := range scores {
		if v < scores[best] && !j.greater || v > scores[best] && j.greater {
			best = k
		}
	}
	return best
}

// fitted holds the solution that the parties receive.
type fitted struct {
	choice   int // index of the selected value in the job's list
	solution moments.Solution
	extra    []float64
}

// results holds the results on the held-out rows.
type results struct {
	metrics learner.Metrics
	values  []float64 // eigenvalues of a kernel PCA
	// assessment holds the metrics and curves of the histogram; nil without a histogram, and if its rows
	// are too few or of one class.
	assessment *learner.Assessment
}

// objectiveOf returns the objective of a job's learner.
func objectiveOf(j *job.Job) objective {
	k := job.As[*Keys](j.Protocol)
	private := k.Privacy.Private()
	switch l, _ := learner.ObjectiveOf(j.Learner); {
	case private && j.Task().Numbers:
		return blurredNumbers{numberRidge{k.Range()}, noised.UnitErrorsOf(k.Range())}
	case private:
		return blurredClasses{classRidge: k.Classes}
	case l.Components > 0:
		return components(l.Components)
	case l.Process:
		return gaussianProcess{numberRidge{k.Range()}, k.Deviations}
	case j.Task().Numbers:
		return numberRidge{k.Range()}
	}
	return classRidge(k.Classes)
}

// regularisers returns the job's values of the regulariser, in the order of its grid. With privacy it is one value,
// which follows from the noise.
func regularisers(j *job.Job, features int) ([]float64, error) {
	noise, err := noiseOf(j, features)
	if err != nil || noise != nil {
		return noise.alphas(), err
	}
	// moments.Solve counts alpha for features whose squares add up to half of their number.
	unit, list := squaredFeatures(j, features)/(float64(features)/2), []float64(nil)
	for _, one := range j.Learners() {
		l, _ := learner.ObjectiveOf(one)
		list = append(list, unit*l.Penalty)
	}
	return list, nil
}

func (t *fitted) encode() []byte {
	var w wire.Writer
	w.Uint32(uint32(t.choice))
	w.Float64s(t.solution.Weights.Data)
	w.Float64s(t.solution.Offset)
	w.Float64s(t.extra)
	return w.Bytes()
}

func decodeFitted(j *job.Job, features int, b []byte) (*fitted, error) {
	r, l := wire.NewReader(b), objectiveOf(j)
	values, err := regularisers(j, features)
	if err != nil {
		return nil, err
	}
	t := &fitted{choice: int(r.Uint32())}
	if r.Err() == nil && t.choice >= len(values) {
		return nil, fmt.Errorf("the solution is for the value with index %d (counted from 0), but the job has only %d values", t.choice, len(values))
	}
	t.solution = moments.Solution{Weights: linalg.New[float64](l.outputs(), features), Offset: make([]float64, l.outputs())}
	t.extra = make([]float64, l.extra(features))
	for _, dst := range [][]float64{t.solution.Weights.Data, t.solution.Offset, t.extra} {
		r.Float64s(dst)
		for _, v := range dst {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				r.Fail(fmt.Errorf("the solution has the number %v; all numbers must be finite", v))
			}
		}
	}
	if err := r.Close("solution"); err != nil {
		return nil, err
	}
	t.solution.Alpha = values[t.choice]
	return t, nil
}

// components is the objective of a kernel PCA; its value is the number of components.
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

// errorSumCount returns 1: the sum of the squared scores.
func (c components) errorSumCount() int { return 1 }

func (c components) measurer(m feature.Mapping, t *fitted) (measurer, error) {
	return func(rows linalg.Rows, _ []string) ([]int64, error) {
		kept, err := moments.MeasureComponents(m, t.solution, rows)
		return []int64{kept}, err
	}, nil
}

func (c components) round(figures []int64, n int) []int64 {
	return []int64{moments.RoundMean(figures[0], n)}
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
