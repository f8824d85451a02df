package fitserver

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/kpca"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// answer is the header of an answer, with its arrays.
type answer struct {
	Error string `json:"error,omitempty"` // text of the error; empty if there is a result
	// Cause marks errors that callers tell from others: not-finite (a kernel value),
	// not-positive-definite (the matrix of a ridge regression).
	Cause string `json:"cause,omitempty"`
	// Unconverged says why the training ended before it met the tolerance. The arrays hold the state in
	// which it ended.
	Unconverged string  `json:"unconverged,omitempty"`
	Interface   int     `json:"interface,omitempty"` // number of the interface, in the answer to operation "interface"
	Arrays      []array `json:"arrays"`
}

// fit trains a machine.
func (q *request) fit() (answer, error) {
	switch q.Learner {
	case "svc", "nu-svc":
		c, err := q.classifier()
		return settle(func() []array { return classifierArrays(c) }, err)
	case "svr", "nu-svr", "one-class":
		m, err := q.machine()
		return settle(func() []array { return machineArrays(m) }, err)
	case "ridge":
		return q.ridge()
	case "kpca":
		return q.kpca()
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

func (q *request) classifier() (*svm.Classifier, error) {
	src, err := q.machineSource()
	if err != nil {
		return nil, err
	}
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

func (q *request) machine() (*svm.Machine, error) {
	src, err := q.machineSource()
	if err != nil {
		return nil, err
	}
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
	c, err := q.calibration()
	return settle(func() []array { return sigmoidArrays(c) }, err)
}

// sigmoidArrays returns the arrays A and B, one number for each pair.
func sigmoidArrays(c *svm.Calibration) []array {
	a, b := make([]float64, len(c.Sigmoids)), make([]float64, len(c.Sigmoids))
	for i, s := range c.Sigmoids {
		a[i], b[i] = s.A, s.B
	}
	return []array{floatArray("A", a, len(a)), floatArray("B", b, len(b))}
}

func (q *request) calibration() (*svm.Calibration, error) {
	src, err := q.machineSource()
	if err != nil {
		return nil, err
	}
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

// ridge fits a kernel ridge regression of each column of the targets: coef, targets x rows. The
// squared error of a row counts as often as the row's weight says.
func (q *request) ridge() (answer, error) {
	src, err := q.source()
	if err != nil {
		return answer{}, err
	}
	y, err := q.matrix("y")
	if err != nil {
		return answer{}, err
	}
	roots, err := q.rootWeights(y.Rows)
	if err != nil {
		return answer{}, err
	}
	coef := linalg.New[float64](y.Cols, y.Rows)
	for r := range y.Rows {
		for c, v := range y.Row(r) {
			coef.Row(c)[r] = v * roots[r]
		}
	}
	if err := ridge.FitTargets(weighted(src, roots), coef, q.Alpha); err != nil {
		return answer{}, err
	}
	for c := range coef.Rows {
		for r, w := range roots {
			coef.Row(c)[r] *= w
		}
	}
	return answer{Arrays: []array{floatArray("coef", coef.Data, coef.Rows, coef.Cols)}}, nil
}

// rootWeights returns the square roots of the weights of n rows, or n times 1 if the request has no
// weights.
func (q *request) rootWeights(n int) ([]float64, error) {
	roots, weights := make([]float64, n), q.floats("weights")
	if weights != nil && len(weights) != n {
		return nil, fmt.Errorf("there are %d weights for %d rows", len(weights), n)
	}
	for r := range roots {
		roots[r] = 1
		if weights == nil {
			continue
		}
		if roots[r] = math.Sqrt(weights[r]); math.IsNaN(roots[r]) {
			return nil, fmt.Errorf("the weight of row %d is %v; for a ridge regression it must be at least 0", r, weights[r])
		}
	}
	return roots, nil
}

// weighted returns the matrix src with row and column i multiplied by roots[i].
func weighted(src kernel.Source, roots []float64) kernel.Source {
	if src.Len() != len(roots) || !slices.ContainsFunc(roots, func(w float64) bool { return w != 1 }) {
		return src
	}
	k := kernel.Materialize(src)
	linalg.Each(k.Len(), 16, func(i int) {
		row := k.K.Row(i)
		for j := range row {
			row[j] *= roots[i] * roots[j]
		}
	})
	return k
}

// kpca fits kernel principal components: values, the eigenvalues above 0, of which there can be fewer
// than the request's components; vectors, components x rows; means, the mean of each row of the kernel
// matrix before it was centred.
func (q *request) kpca() (answer, error) {
	src, err := q.source()
	if err != nil {
		return answer{}, err
	}
	m, err := kpca.FitAtMost(src, q.Components)
	if err != nil {
		return answer{}, err
	}
	return answer{Arrays: []array{
		floatArray("values", m.Eigenvalues, len(m.Eigenvalues)), floatArray("vectors", m.Vectors.Data, m.Vectors.Rows, m.Vectors.Cols),
		floatArray("means", m.Centring.Means, len(m.Centring.Means)),
	}}, nil
}
