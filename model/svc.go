package model

import (
	"fmt"
	"iter"
	"math"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// Limits of what a model may hold, on both sides: what can be built can be
// written and read back.
const (
	maxWidth     = 1 << 26
	maxVectors   = 1 << 26
	maxClassName = 1024
)

// Scale is a shift and a factor per column: a row is used as (x - Offset) *
// Factor.
type Scale struct{ Offset, Factor []float64 }

// SVC is a C-SVC with its support vectors. It is read only and safe for
// concurrent use.
type SVC struct {
	spec       kernel.Spec
	kernel     kernel.Kernel
	scale      *Scale
	vectors    linalg.Rows
	count      int       // of vectors
	width      int       // of a vector
	norms      []float64 // x.x of each vector
	classifier *svm.Classifier
}

// NewSVC joins a classifier with its support vectors: vectors has the rows
// c.Support(), in that order, as the kernel saw them (scaled). scale is what was
// done to the rows before, or nil. NewSVC keeps the vectors, which stay where they
// are.
func NewSVC(spec kernel.Spec, scale *Scale, vectors linalg.Rows, c *svm.Classifier) (*SVC, error) {
	m, err := newSVC(spec, scale, vectors, c)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return m, nil
}

func newSVC(spec kernel.Spec, scale *Scale, vectors linalg.Rows, c *svm.Classifier) (*SVC, error) {
	m := &SVC{scale: scale, vectors: vectors, classifier: c.Compact()}
	m.count, m.width = vectors.Shape()
	if err := m.setKernel(spec); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	m.norms = kernel.SquaredNorms(vectors)
	return m, nil
}

// setKernel makes the defaults of spec explicit, so that two spellings of a
// kernel are the same model.
func (m *SVC) setKernel(spec kernel.Spec) error {
	text, err := spec.Canonical()
	if err != nil {
		return err
	}
	if m.spec, err = kernel.Parse(text); err != nil {
		return err
	}
	m.kernel, err = kernel.New(m.spec)
	return err
}

func (m *SVC) check() error {
	switch {
	case m.count != len(m.classifier.Support()):
		return fmt.Errorf("%d rows for the %d support vectors of the classifier", m.count, len(m.classifier.Support()))
	case m.count < 1 || m.count > maxVectors || m.width < 1 || m.width > maxWidth:
		return fmt.Errorf("%d support vectors of %d numbers, there must be 1 to %d of 1 to %d", m.count, m.width, maxVectors, maxWidth)
	}
	for i, v := range m.eachVector() {
		if j := firstNotFinite(v); j >= 0 {
			return fmt.Errorf("support vector %d holds %v in column %d", i, v[j], j)
		}
	}
	for _, class := range m.classifier.Classes {
		if len(class) > maxClassName {
			return fmt.Errorf("a class name of %d bytes, at most %d are allowed", len(class), maxClassName)
		}
	}
	return m.scale.check(m.width)
}

// eachVector reads the support vectors one by one, each into the same slice.
func (m *SVC) eachVector() iter.Seq2[int, []float64] {
	return func(yield func(int, []float64) bool) {
		v := make([]float64, m.width)
		for i := range m.count {
			if m.vectors.ReadRow(i, v); !yield(i, v) {
				return
			}
		}
	}
}

func (s *Scale) check(width int) error {
	if s == nil {
		return nil
	}
	if len(s.Offset) != width || len(s.Factor) != width {
		return fmt.Errorf("a scale of %d offsets and %d factors for %d columns", len(s.Offset), len(s.Factor), width)
	}
	if j := firstNotFinite(s.Offset); j >= 0 {
		return fmt.Errorf("the offset of column %d is %v", j, s.Offset[j])
	}
	if j := firstNotFinite(s.Factor); j >= 0 {
		return fmt.Errorf("the factor of column %d is %v", j, s.Factor[j])
	}
	return nil
}

// firstNotFinite returns the index of the first NaN or infinity, or -1.
func firstNotFinite(v []float64) int {
	for i, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return i
		}
	}
	return -1
}

// Type returns "svc".
func (m *SVC) Type() string { return typeSVC }

// Kernel returns the kernel with every parameter explicit.
func (m *SVC) Kernel() kernel.Spec { return m.spec }

// Classes returns the class names by code. The caller must not change them.
func (m *SVC) Classes() []string { return m.classifier.Classes }

// Classifier returns the machines over the support vectors, numbered from 0.
// The caller must not change it.
func (m *SVC) Classifier() *svm.Classifier { return m.classifier }

// Vectors returns the support vectors, as the kernel sees them.
func (m *SVC) Vectors() linalg.Rows { return m.vectors }

// Scale returns what is done to a row before the kernel sees it, or nil.
func (m *SVC) Scale() *Scale { return m.scale }

// Width returns how many features a row has.
func (m *SVC) Width() int { return m.width }

func (m *SVC) content() *SVC { return m }

// panelRows is how many rows are decided at a time, which bounds the memory for
// their kernel with the support vectors.
const panelRows = 256

// Decisions returns the decision values of rows, n x pairs of classes. It
// refuses rows of another width, numbers that are not finite, and rows so large
// that a decision would not be finite.
func (m *SVC) Decisions(rows linalg.Matrix[float64]) (linalg.Matrix[float64], error) {
	if rows.Cols != m.Width() {
		return linalg.Matrix[float64]{}, fmt.Errorf("model: rows of %d columns, the model was trained on %d", rows.Cols, m.Width())
	}
	out := linalg.New[float64](rows.Rows, len(m.classifier.Pairs))
	for lo := 0; lo < rows.Rows; lo += panelRows {
		hi := min(lo+panelRows, rows.Rows)
		if err := m.decide(rows.Panel(lo, hi), out.Panel(lo, hi), lo); err != nil {
			return linalg.Matrix[float64]{}, err
		}
	}
	return out, nil
}

// decide fills out for a panel whose first row is number start.
func (m *SVC) decide(rows, out linalg.Matrix[float64], start int) error {
	for i := range rows.Rows {
		if j := firstNotFinite(rows.Row(i)); j >= 0 {
			return fmt.Errorf("model: row %d holds %v in column %d", start+i, rows.Row(i)[j], j)
		}
	}
	decisions := m.classifier.Decisions(m.cross(m.scale.apply(rows)))
	for i := range rows.Rows {
		if firstNotFinite(decisions.Row(i)) >= 0 {
			return fmt.Errorf("model: the decision for row %d is not finite: the row is too large for this kernel", start+i)
		}
		copy(out.Row(i), decisions.Row(i))
	}
	return nil
}

// cross is the kernel of scaled rows with the support vectors.
func (m *SVC) cross(rows linalg.Matrix[float64]) linalg.Matrix[float64] {
	out := kernel.CrossGram(rows, m.vectors)
	kernel.Cross(m.kernel, out, kernel.SquaredNorms(rows), m.norms)
	return out
}

// apply returns the scaled rows; without a scale, the rows themselves.
func (s *Scale) apply(rows linalg.Matrix[float64]) linalg.Matrix[float64] {
	if s == nil {
		return rows
	}
	out := linalg.New[float64](rows.Rows, rows.Cols)
	for i := range rows.Rows {
		dst := out.Row(i)
		for j, x := range rows.Row(i) {
			dst[j] = (x - s.Offset[j]) * s.Factor[j]
		}
	}
	return out
}

// Predict returns the class code for each row of decisions by the vote of all
// pairs.
func (m *SVC) Predict(decisions linalg.Matrix[float64]) []int {
	return m.classifier.Predict(decisions)
}
