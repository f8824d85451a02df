package fitserver

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/kpca"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// answer is the header of an answer, with its arrays.
type answer struct {
	Error string `json:"error,omitempty"` // why there is no result
	// Unconverged says why the training ended before it met the tolerance. The result is where it
	// ended.
	Unconverged string  `json:"unconverged,omitempty"`
	Arrays      []array `json:"arrays"`
}

// fit trains a machine.
func (q *request) fit() (answer, error) {
	src, err := q.source()
	if err != nil {
		return answer{}, err
	}
	switch q.Learner {
	case "svc", "nu-svc":
		c, err := q.classifier(src)
		return settle(func() []array { return classifierArrays(c) }, err)
	case "svr", "nu-svr", "one-class":
		m, err := q.machine(src)
		return settle(func() []array { return machineArrays(m) }, err)
	case "ridge":
		return q.ridge(src)
	case "kpca":
		return q.kpca(src)
	}
	return answer{}, fmt.Errorf("there is no learner %q", q.Learner)
}

// settle makes an answer of a training's result. A training that did not converge has a result, too.
func settle(arrays func() []array, err error) (answer, error) {
	switch {
	case errors.Is(err, svm.ErrNotConverged):
		return answer{Unconverged: err.Error(), Arrays: arrays()}, nil
	case err != nil:
		return answer{}, err
	}
	return answer{Arrays: arrays()}, nil
}

func (q *request) c() float64 {
	if q.C == nil {
		return math.Inf(1)
	}
	return *q.C
}

// classes returns a name for each class: its code as text.
func (q *request) classes() ([]string, error) {
	if q.Classes < 0 || q.Classes > svm.MaxClasses {
		return nil, fmt.Errorf("there are %d classes; at most %d are allowed", q.Classes, svm.MaxClasses)
	}
	names := make([]string, q.Classes)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names, nil
}

// svc returns the parameters of a C-SVC.
func (q *request) svc(classes []string) (svm.Params, error) {
	p := svm.Params{C: q.c(), Tol: q.Tol, CacheBytes: q.CacheBytes, MaxIter: q.MaxIter, RowWeights: q.floats("weights")}
	if len(q.Weights) == 0 {
		return p, nil
	}
	if len(q.Weights) != len(classes) {
		return p, fmt.Errorf("there are %d weights of classes for %d classes", len(q.Weights), len(classes))
	}
	p.Weights = make(map[string]float64, len(classes))
	for i, class := range classes {
		p.Weights[class] = q.Weights[i]
	}
	return p, nil
}

// nuSVM returns the parameters of a nu-SVC or a one-class machine.
func (q *request) nuSVM() svm.NuParams {
	return svm.NuParams{Nu: q.Nu, Tol: q.Tol, CacheBytes: q.CacheBytes, MaxIter: q.MaxIter, RowWeights: q.floats("weights")}
}

func (q *request) classifier(src kernel.Source) (*svm.Classifier, error) {
	classes, err := q.classes()
	if err != nil {
		return nil, err
	}
	if q.Learner == "nu-svc" {
		return svm.TrainNuSVC(src, q.ints("y"), classes, q.nuSVM(), nil)
	}
	p, err := q.svc(classes)
	if err != nil {
		return nil, err
	}
	return svm.TrainSVC(src, q.ints("y"), classes, p, nil)
}

func (q *request) machine(src kernel.Source) (*svm.Machine, error) {
	weights := q.floats("weights")
	switch q.Learner {
	case "one-class":
		return svm.TrainOneClass(src, q.nuSVM())
	case "nu-svr":
		return svm.TrainNuSVR(src, q.floats("y"), svm.NuSVRParams{C: q.c(), Nu: q.Nu, Tol: q.Tol, CacheBytes: q.CacheBytes, MaxIter: q.MaxIter, RowWeights: weights})
	}
	return svm.TrainSVR(src, q.floats("y"), svm.SVRParams{C: q.c(), Epsilon: q.Epsilon, Tol: q.Tol, CacheBytes: q.CacheBytes, MaxIter: q.MaxIter, RowWeights: weights})
}

// classifierArrays returns the arrays of a classifier: support, the rows that are support vectors;
// coef, pairs x support vectors; rho, iterations and objective, one for each pair.
func classifierArrays(c *svm.Classifier) []array {
	coef := linalg.New[float64](len(c.Pairs), len(c.Support()))
	rho, objective, iterations := make([]float64, len(c.Pairs)), make([]float64, len(c.Pairs)), make([]int, len(c.Pairs))
	for k, p := range c.Pairs {
		for a, s := range p.Index {
			coef.Row(k)[s] = p.Coef[a]
		}
		rho[k], objective[k], iterations[k] = p.Rho, p.Report.Objective, p.Report.Iterations
	}
	return []array{
		intArray("support", c.Support()), floatArray("coef", coef.Data, coef.Rows, coef.Cols),
		floatArray("rho", rho, len(rho)), intArray("iterations", iterations), floatArray("objective", objective, len(objective)),
	}
}

// machineArrays returns the arrays of a regression or of a one-class machine, as classifierArrays
// returns those of one pair.
func machineArrays(m *svm.Machine) []array {
	return []array{
		intArray("support", m.Support), floatArray("coef", m.Coef, 1, len(m.Coef)),
		floatArray("rho", []float64{m.Rho}, 1), intArray("iterations", []int{m.Report.Iterations}), floatArray("objective", []float64{m.Report.Objective}, 1),
	}
}

// calibrate fits the sigmoids of a classifier's probabilities: A and B, one for each pair.
func (q *request) calibrate() (answer, error) {
	src, err := q.source()
	if err != nil {
		return answer{}, err
	}
	c, err := q.calibration(src)
	if err != nil {
		return answer{}, err
	}
	a, b := make([]float64, len(c.Sigmoids)), make([]float64, len(c.Sigmoids))
	for i, s := range c.Sigmoids {
		a[i], b[i] = s.A, s.B
	}
	return answer{Arrays: []array{floatArray("A", a, len(a)), floatArray("B", b, len(b))}}, nil
}

func (q *request) calibration(src kernel.Source) (*svm.Calibration, error) {
	classes, err := q.classes()
	if err != nil {
		return nil, err
	}
	if q.Learner == "nu-svc" {
		return svm.CalibrateNuSVC(src, q.ints("y"), classes, q.nuSVM(), q.Seed)
	}
	p, err := q.svc(classes)
	if err != nil {
		return nil, err
	}
	return svm.Calibrate(src, q.ints("y"), classes, p, q.Seed)
}

// ridge fits a kernel ridge regression of each column of the targets: coef, targets x rows.
func (q *request) ridge(src kernel.Source) (answer, error) {
	y, err := q.matrix("y")
	if err != nil {
		return answer{}, err
	}
	whole := kernel.Materialize(src)
	coef := linalg.New[float64](y.Cols, y.Rows)
	column := make([]float64, y.Rows)
	for c := range y.Cols {
		for r := range column {
			column[r] = y.Row(r)[c]
		}
		m, err := ridge.Fit(whole, column, q.Alpha)
		if err != nil {
			return answer{}, err
		}
		copy(coef.Row(c), m.Dual)
	}
	return answer{Arrays: []array{floatArray("coef", coef.Data, coef.Rows, coef.Cols)}}, nil
}

// kpca fits kernel principal components: values, the eigenvalues; vectors, components x rows; means,
// the mean of each row of the kernel matrix before it was centred.
func (q *request) kpca(src kernel.Source) (answer, error) {
	m, err := kpca.Fit(src, q.Components)
	if err != nil {
		return answer{}, err
	}
	return answer{Arrays: []array{
		floatArray("values", m.Eigenvalues, len(m.Eigenvalues)), floatArray("vectors", m.Vectors.Data, m.Vectors.Rows, m.Vectors.Cols),
		floatArray("means", m.Centring.Means, len(m.Centring.Means)),
	}}, nil
}
