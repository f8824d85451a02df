package libsvm

import (
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// Model is the content of a model file of LIBSVM.
type Model struct {
	Machine Machine
	Kernel  Kernel
	Rho     []float64 // one number for each pair of classes; a single number if the machine is no classifier
	Labels  []int     // classes; nil if the machine is no classifier
	// ProbA and ProbB are the sigmoids of the pairs, or nil. ProbA of a regression has one number, the
	// scale of its errors.
	ProbA, ProbB []float64
	Sizes        []int // number of support vectors of each class
	// Coef has a row for each support vector and a column for each class except the vector's own.
	// Machines that are no classifiers have one column.
	Coef linalg.Matrix[float64]
	// Vectors are the support vectors, ordered by class. Column j has index j.
	Vectors *dataset.CSR
}

// Pairs returns the machines of all pairs of classes, whose indices are rows of Vectors. For two
// classes, i before j, the coefficients of the vectors of class i are in column j-1, and those of class
// j in column i.
func (m *Model) Pairs() []svm.Pair {
	var pairs []svm.Pair
	first := 0
	for i := range m.Labels {
		second := first + m.Sizes[i]
		for j := i + 1; j < len(m.Labels); j++ {
			p := svm.Pair{First: i, Second: j, Rho: m.Rho[len(pairs)]}
			m.appendColumn(&p, j-1, first, first+m.Sizes[i])
			m.appendColumn(&p, i, second, second+m.Sizes[j])
			pairs = append(pairs, p)
			second += m.Sizes[j]
		}
		first += m.Sizes[i]
	}
	return pairs
}

// appendColumn appends the nonzero entries of one column of Coef to p, in the rows lo to hi-1.
func (m *Model) appendColumn(p *svm.Pair, column, lo, hi int) {
	for i := lo; i < hi; i++ {
		if c := m.Coef.Row(i)[column]; c != 0 {
			p.Index, p.Coef = append(p.Index, i), append(p.Coef, c)
		}
	}
}

// decider returns the decider that predicts with the model.
func (m *Model) decider() (decider, error) {
	d := decider{machine: m.Machine, labels: m.Labels}
	switch {
	case !m.Machine.Classifies():
		d.single = &svm.Machine{Support: linalg.Range(0, m.Vectors.Rows()), Coef: m.Coef.Column(0), Rho: m.Rho[0]}
		if m.Machine.Regresses() && len(m.ProbA) == 1 {
			d.noise = m.ProbA[0]
		}
		return d, nil
	case len(m.Labels) == 1:
		return d, nil
	}
	var err error
	if d.pairs, err = svm.NewClassifier(Names(m.Labels), m.Pairs(), m.Vectors.Rows()); err != nil {
		return d, err
	}
	if m.ProbA != nil {
		d.calibration = &svm.Calibration{Classes: len(m.Labels), Tol: coupling}
		for k, a := range m.ProbA {
			d.calibration.Sigmoids = append(d.calibration.Sigmoids, svm.Sigmoid{A: a, B: m.ProbB[k]})
		}
	}
	return d, nil
}

// setFunctions copies the functions of a trained machine to the model.
func (m *Model) setFunctions(f *fitted) {
	m.Labels = f.labels
	if f.single != nil {
		m.Rho = []float64{f.single.Rho}
		m.Coef = linalg.Matrix[float64]{Rows: len(f.single.Coef), Cols: 1, Stride: 1, Data: slices.Clone(f.single.Coef)}
		if f.noise != 0 {
			m.ProbA = []float64{f.noise}
		}
		return
	}
	m.Coef, m.Sizes = linalg.New[float64](len(f.support), max(1, len(f.labels)-1)), make([]int, len(f.labels))
	if f.pairs == nil {
		return
	}
	owner := make([]int, len(f.support)) // class code of each vector
	for _, p := range f.pairs.Pairs {
		m.Rho = append(m.Rho, p.Rho)
		for k, s := range p.Index {
			column := p.Second - 1
			if owner[s] = p.First; p.Coef[k] < 0 {
				owner[s], column = p.Second, p.First
			}
			m.Coef.Row(s)[column] = p.Coef[k]
		}
	}
	for _, code := range owner {
		m.Sizes[code]++
	}
	if f.calibration != nil {
		for _, s := range f.calibration.Sigmoids {
			m.ProbA, m.ProbB = append(m.ProbA, s.A), append(m.ProbB, s.B)
		}
	}
}
