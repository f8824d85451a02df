package model

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// RowlessSpec holds the fields of a [Rowless] model.
type RowlessSpec struct {
	Kernel  kernel.Spec
	Head    Head
	Squares []float64 // squared norm of each row of the model
	// Dot is the Gram matrix of the model's rows. Only a Gaussian process needs it, for standard
	// deviations.
	Dot linalg.Matrix[float64]
}

// Rowless is a model without rows; the parties of a job hold the rows. It can predict new rows only
// from their inner products with those rows. It is read-only and safe for concurrent use.
type Rowless struct {
	spec    RowlessSpec
	kernel  kernel.Kernel
	process func() (*ridge.GP, error) // computes standard deviations; nil unless the outputs have shape Deviation
}

// NewRowless returns a model with the given fields, or an error if a field is invalid.
func NewRowless(s RowlessSpec) (*Rowless, error) {
	m, err := newRowless(s)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return m, nil
}

func newRowless(s RowlessSpec) (*Rowless, error) {
	n := len(s.Squares)
	k, err := kernel.New(s.Kernel)
	if err != nil {
		return nil, err
	}
	if err := s.Head.check(n); err != nil {
		return nil, err
	}
	products := 0
	if s.Head.Kind.OutputShape() == Deviation {
		products = n
	}
	switch {
	case firstNotFinite(s.Squares) >= 0 || firstNotFinite(s.Dot.Data) >= 0:
		return nil, errors.New("an inner product is not finite")
	case s.Dot.Rows != products || s.Dot.Cols != products:
		return nil, fmt.Errorf("there are %d x %d inner products; %s model over %d rows needs %d x %d", s.Dot.Rows, s.Dot.Cols, humanize.A(string(s.Head.Kind)), n, products, products)
	}
	m := &Rowless{spec: s, kernel: k}
	if s.Head.Kind.OutputShape() == Deviation {
		m.process = sync.OnceValues(func() (*ridge.GP, error) { return newProcess(kernel.Of(s.Dot, k), s.Head.Noise) })
	}
	return m, nil
}

// Rows returns the number of rows of the model.
func (m *Rowless) Rows() int { return len(m.spec.Squares) }

// Outputs returns the number of outputs for each row.
func (m *Rowless) Outputs() int {
	if m.process != nil {
		return m.spec.Head.outputs() + 1
	}
	return m.spec.Head.outputs()
}

// Decisions computes the outputs for new rows from inner products. The matrix cross has the inner
// products of new rows with the model's rows, and is overwritten. The slice squares has the squared
// norms of the new rows.
func (m *Rowless) Decisions(cross linalg.Matrix[float64], squares []float64) (linalg.Matrix[float64], error) {
	if cross.Cols != m.Rows() || cross.Rows != len(squares) {
		return linalg.Matrix[float64]{}, fmt.Errorf("model: there are %d x %d inner products and %d squared norms; each new row needs %d inner products and one squared norm", cross.Rows, cross.Cols, len(squares), m.Rows())
	}
	kernel.Cross(m.kernel, cross, squares, m.spec.Squares)
	out, decisions := linalg.New[float64](cross.Rows, m.Outputs()), m.spec.Head.Decisions(cross)
	for i := range out.Rows {
		copy(out.Row(i), decisions.Row(i))
	}
	if m.process != nil {
		gp, err := m.process()
		if err != nil {
			return linalg.Matrix[float64]{}, err
		}
		writeDeviations(gp, m.kernel, m.spec.Head.Unit, out, cross, squares)
	}
	for i := range out.Rows {
		if firstNotFinite(out.Row(i)) >= 0 {
			return linalg.Matrix[float64]{}, fmt.Errorf("model: the decision for row %d is not finite: the row is too large for this kernel", i)
		}
	}
	return out, nil
}

// EncodeRowless writes m as a file. Its errors come from w.
func EncodeRowless(w io.Writer, m *Rowless) error {
	text, err := m.spec.Kernel.Canonical()
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	h := m.spec.Head
	var b wire.Writer
	b.String(string(h.Kind))
	b.String(text)
	b.Uint32(uint32(len(m.spec.Squares)))
	b.Float64s(m.spec.Squares)
	for i := range m.spec.Dot.Rows { // only the lower triangle, since the matrix is symmetric
		b.Float64s(m.spec.Dot.Row(i)[:i+1])
	}
	b.Strings(h.Classes)
	b.Uint32(uint32(len(h.Functions)))
	for _, f := range h.Functions {
		b.Fixed(f.encode())
	}
	b.Fixed(h.tail())
	return frame(w, rowlessMagic, version, b.Bytes())
}

// OpenRowless reads the output of EncodeRowless.
func OpenRowless(r io.Reader) (*Rowless, error) {
	content, _, err := Limits{}.content(r, rowlessMagic)
	if err != nil {
		return nil, err
	}
	b := wire.NewReader(content)
	s := readRowless(b)
	if err := b.Close("its content"); err != nil {
		return nil, formatError("%w", err)
	}
	m, err := newRowless(s)
	if err != nil {
		return nil, formatError("%w", err)
	}
	return m, nil
}

func readRowless(r *wire.Reader) RowlessSpec {
	var s RowlessSpec
	h := header{kind: Kind(r.String(maxKind))}
	text := r.String(maxKernel)
	if r.Err() == nil {
		var err error
		if s.Kernel, err = kernel.Parse(text); err != nil {
			r.Fail(err)
		}
	}
	h.rows = r.Count(maxVectors, 8)
	s.Squares = make([]float64, h.rows)
	r.Float64s(s.Squares)
	if h.kind.OutputShape() == Deviation && hasRoom(r, h.rows*(h.rows+1)/2, 8) {
		s.Dot = linalg.New[float64](h.rows, h.rows)
		for i := range h.rows {
			r.Float64s(s.Dot.Row(i)[:i+1])
			for j, v := range s.Dot.Row(i)[:i] {
				s.Dot.Row(j)[i] = v
			}
		}
	}
	h.classes = r.Strings(svm.MaxClasses, maxClassName)
	h.functions = int(r.Uint32())
	s.Head = readHead(r, h)
	return s
}
