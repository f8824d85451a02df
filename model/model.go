package model

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
)

// ErrPrivate is returned by [Open] for a file that holds encoded rows. A command that receives this
// error refuses the file and exits with code 3.
var ErrPrivate = errors.New("model: the file must stay with the coordinator, because any party could decode its rows; use a prediction session")

// ErrFormat marks every error about a file's content except [ErrPrivate]. It does not mark errors of
// the io.Reader.
var ErrFormat = errors.New("model: unusable file")

// These limits apply to written and read models alike. Every model that can be built can thus be
// written. It can be read back if [Limits] allows the size of its file.
const (
	maxKernel    = 2048 // bytes of the text of a kernel, as package kernel allows them
	maxWidth     = 1 << 26
	maxVectors   = 1 << 26
	maxClassName = 1024
	maxKind      = 32 // largest number of bytes of a kind's name and shape
)

// Scale holds an offset and a factor for each column. The model uses a row x as (x - Offset) *
// Factor.
type Scale struct{ Offset, Factor []float64 }

// Model is a trained model with a public file. It holds rows, a kernel and a
// learner's functions. The functions take the kernel values of a new row with the model's rows. It
// is read-only and safe for concurrent use.
type Model struct {
	spec    kernel.Spec
	kernel  kernel.Kernel
	scale   *Scale
	columns []string // column names, or nil
	vectors linalg.Rows
	count   int       // number of support vectors
	width   int       // length of a support vector
	norms   []float64 // squared norm of each support vector
	head    Head
	process func() (*ridge.GP, error) // computes standard deviations; nil unless the outputs have shape Deviation
}

// New makes a model from the learner's result h and the model's rows. Index i in h means row i of
// vectors. The rows in vectors are already scaled, as in training; scale is the scaling that was
// applied to them, or nil. New keeps vectors without a copy.
func New(spec kernel.Spec, scale *Scale, vectors linalg.Rows, h Head) (*Model, error) {
	m, err := build(spec, scale, vectors, h)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return m, nil
}

func build(spec kernel.Spec, scale *Scale, vectors linalg.Rows, h Head) (*Model, error) {
	m := &Model{scale: scale, vectors: vectors, head: h}
	m.count, m.width = vectors.Shape()
	if err := m.setKernel(spec); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	m.norms = kernel.SquaredNorms(vectors)
	if h.Kind.OutputShape() == Deviation {
		m.process = sync.OnceValues(func() (*ridge.GP, error) {
			return newProcess(kernel.Of(kernel.LinearGram(m.vectors), m.kernel), h.Noise)
		})
	}
	return m, nil
}

// setKernel makes the defaults of spec explicit, so that two spellings of a kernel give the same
// model.
func (m *Model) setKernel(spec kernel.Spec) error {
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

func (m *Model) check() error {
	if m.count < 0 || m.count > maxVectors || m.width < 1 || m.width > maxWidth {
		return fmt.Errorf("the model has %d support vectors of %d numbers; 0 to %d vectors of 1 to %d numbers are allowed", m.count, m.width, maxVectors, maxWidth)
	}
	for i, v := range m.eachVector() {
		if j := firstNotFinite(v); j >= 0 {
			return fmt.Errorf("support vector %d holds %v in column %d; numbers must be finite", i, v[j], j)
		}
	}
	if err := m.head.check(m.count); err != nil {
		return err
	}
	return m.scale.check(m.width)
}

// eachVector iterates over the support vectors, reading each into the same slice.
func (m *Model) eachVector() iter.Seq2[int, []float64] {
	return func(yield func(int, []float64) bool) {
		if m.count == 0 {
			return // a file without vectors can state any width, so do not allocate a row
		}
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
		return fmt.Errorf("the scale has %d offsets and %d factors for %d columns; it needs one of each for each column", len(s.Offset), len(s.Factor), width)
	}
	if j := firstNotFinite(s.Offset); j >= 0 {
		return fmt.Errorf("the offset of column %d is %v; it must be finite", j, s.Offset[j])
	}
	if j := firstNotFinite(s.Factor); j >= 0 {
		return fmt.Errorf("the factor of column %d is %v; it must be finite", j, s.Factor[j])
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

// Kind returns the kind of learner that made the model.
func (m *Model) Kind() Kind { return m.head.Kind }

// Kernel returns the kernel with every parameter explicit.
func (m *Model) Kernel() kernel.Spec { return m.spec }

// Output returns the meaning of the outputs. The caller must not change it.
func (m *Model) Output() Output { return m.head.Output }

// Head returns the learner's result. The caller must not change it.
func (m *Model) Head() Head { return m.head }

// Vectors returns the support vectors as the kernel sees them.
func (m *Model) Vectors() linalg.Rows { return m.vectors }

// Scale returns the scaling that is applied to a row before the kernel, or nil.
func (m *Model) Scale() *Scale { return m.scale }

// Width returns the number of features of a row.
func (m *Model) Width() int { return m.width }

// panelRows is the number of rows whose decisions are computed at a time. It limits the memory for
// the kernel values of these rows with the support vectors.
const panelRows = 256

// Decisions returns the numbers that [Output] describes, rows x outputs. The rows must not be
// scaled yet: the model scales them. It refuses rows of another width, numbers that are not finite,
// and rows so large that an output would not be finite. For a Gaussian process the first call takes
// n^3 / 6 multiplications for n rows of the model, and each row n^2 / 2.
func (m *Model) Decisions(rows linalg.Matrix[float64]) (linalg.Matrix[float64], error) {
	if rows.Cols != m.Width() {
		return linalg.Matrix[float64]{}, fmt.Errorf("model: the rows have %d columns, but the model was trained on %d", rows.Cols, m.Width())
	}
	outputs := m.head.outputs()
	if m.process != nil {
		outputs++
	}
	out := linalg.New[float64](rows.Rows, outputs)
	for lo := 0; lo < rows.Rows; lo += panelRows {
		hi := min(lo+panelRows, rows.Rows)
		if err := m.decide(rows.Panel(lo, hi), out.Panel(lo, hi), lo); err != nil {
			return linalg.Matrix[float64]{}, err
		}
	}
	return out, nil
}

// decide computes the outputs for some rows and stores them in dst. In errors, the first of these
// rows has index start.
func (m *Model) decide(rows, dst linalg.Matrix[float64], start int) error {
	for i := range rows.Rows {
		if j := firstNotFinite(rows.Row(i)); j >= 0 {
			return fmt.Errorf("model: row %d holds %v in column %d; numbers must be finite", start+i, rows.Row(i)[j], j)
		}
	}
	rows = m.scale.apply(rows)
	norms := kernel.SquaredNorms(rows)
	cross := kernel.CrossGram(rows, m.vectors)
	kernel.Cross(m.kernel, cross, norms, m.norms)
	decisions := m.head.Decisions(cross)
	for i := range rows.Rows {
		copy(dst.Row(i), decisions.Row(i))
	}
	if m.process != nil {
		gp, err := m.process()
		if err != nil {
			return err
		}
		writeDeviations(gp, m.kernel, m.head.Unit, dst, cross, norms)
	}
	for i := range rows.Rows {
		if firstNotFinite(dst.Row(i)) >= 0 {
			return fmt.Errorf("model: the decision for row %d is not finite: the row is too large for this kernel", start+i)
		}
	}
	return nil
}

// MaxProcess limits the rows of a Gaussian process. Its deviations need a matrix of 8 n^2 bytes, 2
// GiB for n = MaxProcess.
const MaxProcess = 1 << 14

// newProcess factors the covariance of the model's rows, and returns the Gaussian process. Files
// omit the factor, because it is larger than the rows. Deviations do not depend on the targets, so
// the targets are 0 here.
func newProcess(source kernel.Source, noise float64) (*ridge.GP, error) {
	gp, err := ridge.FitGP(source, make([]float64, source.Len()), ridge.GPParams{Noise: noise})
	if err != nil {
		return nil, fmt.Errorf("model: the deviations of the Gaussian process cannot be computed: %w", err)
	}
	return gp, nil
}

// writeDeviations writes the standard deviations into the last column of dst.
func writeDeviations(gp *ridge.GP, k kernel.Kernel, unit float64, dst, cross linalg.Matrix[float64], squares []float64) {
	prior := make([]float64, len(squares))
	for i, xx := range squares {
		prior[i] = k.At(xx, xx, xx)
	}
	for i, d := range gp.Deviations(cross, prior) {
		dst.Row(i)[dst.Cols-1] = d * unit
	}
}

// apply returns the scaled rows, or the rows themselves if there is no scale.
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

// maxColumnName limits the bytes in the name of a column.
const maxColumnName = 1024

// Named returns a copy of the model with the given names of columns. The names identify the columns
// of new rows. Without names, the positions identify them.
func (m *Model) Named(columns []string) (*Model, error) {
	if err := checkColumns(columns, m.width); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	named := *m
	named.columns = columns
	return &named, nil
}

// Columns returns the column names, or nil if the model has none. The caller must not change the
// result.
func (m *Model) Columns() []string { return m.columns }

func checkColumns(columns []string, width int) error {
	if columns == nil {
		return nil
	}
	if len(columns) != width || width == 0 {
		return fmt.Errorf("there are %d names for %d columns; each column needs one name", len(columns), width)
	}
	seen := make(map[string]bool, len(columns))
	for j, name := range columns {
		if len(name) > maxColumnName {
			return fmt.Errorf("the name of column %d (from 0) has %d bytes; at most %d are allowed", j, len(name), maxColumnName)
		}
		if seen[name] {
			return fmt.Errorf("the name of column %d (from 0) is also the name of an earlier column: %.40q", j, name)
		}
		seen[name] = true
	}
	return nil
}

// writeColumns writes the column names, if there are any. The version of the file tells whether it
// has column names.
func writeColumns(w *wire.Writer, columns []string) {
	for _, name := range columns {
		w.String(name)
	}
}

func readColumns(r *wire.Reader, width int) []string {
	if !hasRoom(r, width, 2) {
		return nil
	}
	columns := make([]string, width)
	for j := range columns {
		columns[j] = r.String(maxColumnName)
	}
	return columns
}
