package model

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
)

// ErrUnscaled is returned for a [Random] model whose file lacks the scaling that its rows need.
// Only the parties of the job that trained the model know the scaling.
var ErrUnscaled = errors.New("model: this model needs rows that are prepared or scaled as the parties of its job did it, but this file does not say how; only a party can predict: mercer predict --home HOME --job ID DATA, which works for jobs with \"prediction: open\"")

// These are the limits of a [Random] model.
const (
	maxFeatures = 1 << 14
	maxOutputs  = 1 << 16
)

// RandomSpec holds the fields of a [Random] model.
type RandomSpec struct {
	Output
	Kernel   kernel.Spec // rbf, laplacian or linear
	Seed     [32]byte    // public seed of random features; zero with kernel linear
	Bound    float64     // bound of a row's length with kernel linear, see [feature.Linear]; 0 with random features
	Solution moments.Solution
	Noise    float64                // noise of a Gaussian process: see moments.Process
	Unit     float64                // standard deviation of a Gaussian process's targets
	Outer    linalg.Matrix[float64] // sums of products of features, from moments.Sums, for a Gaussian process; else empty
	Width    int                    // number of columns of a row; 0 if not known
	Columns  []string               // names of the columns, or nil
	Scaled   bool                   // whether the parties scaled or prepared the training rows
	Scale    *Scale                 // scaling of the training rows, if it is known
}

// Random is a model that is linear in random features of a row ([moments]), or in its columns and a
// constant ([feature.Linear]). It holds no row and no direction, at most the seed of the directions. It is
// read-only and safe for concurrent use.
type Random struct {
	spec    RandomSpec
	process func() (*moments.Process, error) // computes standard deviations; nil unless the outputs have shape Deviation
}

// NewRandom returns a model with the given fields, or an error if a field is invalid.
func NewRandom(s RandomSpec) (*Random, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	m := &Random{spec: s}
	if s.Kind.OutputShape() == Deviation {
		m.process = sync.OnceValues(func() (*moments.Process, error) { return moments.NewProcess(s.Outer, s.Noise, s.Unit) })
	}
	return m, nil
}

func (s *RandomSpec) check() error {
	w := s.Solution.Weights
	outputs := w.Rows
	if s.Kind.OutputShape() == Deviation {
		outputs++
	}
	if err := s.Check(outputs); err != nil {
		return err
	}
	switch {
	case !s.Kind.isRandom():
		return fmt.Errorf("%s model cannot have random features; models of the kinds %v can", humanize.A(string(s.Kind)), randomKinds())
	case s.linear() && (!(s.Bound > 0) || !finite(s.Bound) || s.Seed != [32]byte{} || w.Cols != s.Width+1):
		return fmt.Errorf("the model of kernel linear has %d features of %d columns and bounds rows by %v; it must have one feature more than columns, a bound above 0, and no seed", w.Cols, s.Width, s.Bound)
	case !s.linear() && s.Bound != 0:
		return fmt.Errorf("the bound of rows is %v; it must be 0 with random features", s.Bound)
	case w.Cols < 2 || w.Cols > maxFeatures || w.Cols%2 != 0 && !s.linear() || len(s.Solution.Offset) != w.Rows:
		return fmt.Errorf("the model has weights for %d outputs and %d features, and %d offsets; the number of features must be even and from 2 to %d, and each output needs one offset", w.Rows, w.Cols, len(s.Solution.Offset), maxFeatures)
	case firstNotFinite(w.Data) >= 0 || firstNotFinite(s.Solution.Offset) >= 0:
		return errors.New("a weight or an offset is not finite")
	case s.Width < 0 || s.Width > maxWidth:
		return fmt.Errorf("the width is %d; 0 to %d are allowed", s.Width, maxWidth)
	case s.Scale != nil && (!s.Scaled || s.Width == 0):
		return errors.New("the model has a scale, so it must also state its width and that its rows were scaled")
	case s.Kind.OutputShape() == Deviation && (!(s.Noise > 0) || !(s.Unit > 0) || !finite(s.Noise) || !finite(s.Unit) || s.Outer.Rows != w.Cols || firstNotFinite(s.Outer.Data) >= 0):
		return fmt.Errorf("the noise is %v, the unit is %v and the sums have %d features; noise and unit must be above 0, and the sums must be finite and have %d features", s.Noise, s.Unit, s.Outer.Rows, w.Cols)
	case s.Kind.OutputShape() != Deviation && (s.Noise != 0 || s.Unit != 0 || s.Outer.Rows != 0):
		return fmt.Errorf("the noise is %v and the unit is %v; both must be 0 in %s model, which must not have sums of features", s.Noise, s.Unit, humanize.A(string(s.Kind)))
	}
	if err := checkColumns(s.Columns, s.Width); err != nil {
		return err
	}
	if _, err := s.Kernel.Canonical(); err != nil {
		return err
	}
	if !s.linear() {
		if _, err := moments.Features(s.Kernel, s.Seed, 2, 1); err != nil {
			return err
		}
	}
	return s.Scale.check(s.Width)
}

// linear reports whether the features are the columns and a constant.
func (s *RandomSpec) linear() bool { return s.Kernel.Name == "linear" }

// features returns the features of rows of the given number of columns.
func (s *RandomSpec) features(columns int) (feature.Mapping, error) {
	if s.linear() {
		return feature.Linear{Inputs: columns, Bound: s.Bound}, nil
	}
	return moments.Features(s.Kernel, s.Seed, s.Solution.Weights.Cols, columns)
}

// randomKinds returns the kinds of models that the protocol moments trains.
func randomKinds() []Kind { return []Kind{RidgeClassifier, Ridge, GP, KPCA} }

// isRandom reports whether a model of the kind can have random features. The kinds of randomKinds
// can, and so can kinds of the same shapes that this package does not list.
func (k Kind) isRandom() bool {
	later := shapes()[k] == "" && slices.Contains([]OutputShape{Each, Number, Deviation, Components}, k.OutputShape())
	return later || slices.Contains(randomKinds(), k)
}

// Output returns the meaning of the outputs. The caller must not change it.
func (m *Random) Output() Output { return m.spec.Output }

// Kernel returns the kernel that the features approximate, or linear.
func (m *Random) Kernel() kernel.Spec { return m.spec.Kernel }

// Features returns the number of features.
func (m *Random) Features() int { return m.spec.Solution.Weights.Cols }

// Scaling returns the scaling that the model applies to rows, or nil. It returns false if the
// parties scaled their rows but the file does not contain the scaling.
func (m *Random) Scaling() (s *Scale, known bool) {
	return m.spec.Scale, m.spec.Scale != nil || !m.spec.Scaled
}

// Directions returns the directions of the random features for rows of the given number of columns:
// features/2 x columns. The features of a row are the cosines of its products with them, then the
// sines. It returns an error for a model of kernel linear, which has none.
func (m *Random) Directions(columns int) (linalg.Matrix[float64], error) {
	if m.spec.linear() {
		return linalg.Matrix[float64]{}, errors.New("model: kernel linear has no random directions; use Bounded")
	}
	f, err := moments.Features(m.spec.Kernel, m.spec.Seed, m.Features(), columns)
	if err != nil {
		return linalg.Matrix[float64]{}, fmt.Errorf("model: %w", err)
	}
	return f.Directions, nil
}

// Bounded returns the function of a model of kernel linear, whose outputs for a row x, once it is scaled, are
// weights x/max(bound, |x|) + offset. It returns false for a model of random features.
func (m *Random) Bounded() (weights linalg.Matrix[float64], offset []float64, bound float64, linear bool) {
	if !m.spec.linear() {
		return linalg.Matrix[float64]{}, nil, 0, false
	}
	w := m.spec.Solution.Weights
	row, constant := feature.Linear{}.Factors()
	weights = linalg.New[float64](w.Rows, w.Cols-1)
	for i, v := range m.spec.Solution.Offset {
		for k := range weights.Cols {
			weights.Row(i)[k] = row * w.Row(i)[k]
		}
		offset = append(offset, v+constant*w.Row(i)[w.Cols-1])
	}
	return weights, offset, m.spec.Bound, true
}

// Solution returns the weights of the features. The caller must not change it.
func (m *Random) Solution() moments.Solution { return m.spec.Solution }

// Width returns the number of columns of a row, or 0 if the model does not state the number.
func (m *Random) Width() int { return m.spec.Width }

// Columns returns the column names, or nil if the model has none. The caller must not change the
// result.
func (m *Random) Columns() []string { return m.spec.Columns }

// Decisions returns the numbers that [Output] describes, rows x outputs. The rows must not be
// scaled yet: the model scales them. It refuses rows of another width, numbers that are not finite
// and, with [ErrUnscaled], rows that it cannot scale.
func (m *Random) Decisions(rows linalg.Matrix[float64]) (linalg.Matrix[float64], error) {
	none := linalg.Matrix[float64]{}
	if m.spec.Scaled && m.spec.Scale == nil {
		return none, ErrUnscaled
	}
	if m.spec.Width > 0 && rows.Cols != m.spec.Width {
		return none, fmt.Errorf("model: the rows have %d columns, but the model was trained on %d", rows.Cols, m.spec.Width)
	}
	w := m.spec.Solution.Weights
	features, err := m.spec.features(rows.Cols)
	if err != nil {
		return none, fmt.Errorf("model: %w", err)
	}
	outputs := w.Rows
	if m.process != nil {
		outputs++
	}
	out := linalg.New[float64](rows.Rows, outputs)
	phi := linalg.New[float64](min(panelRows, rows.Rows), w.Cols)
	for lo := 0; lo < rows.Rows; lo += panelRows {
		hi := min(lo+panelRows, rows.Rows)
		x := m.spec.Scale.apply(rows.Panel(lo, hi))
		features.Rows(phi.Panel(0, hi-lo), x)
		if err := m.decide(phi.Panel(0, hi-lo), out.Panel(lo, hi), lo); err != nil {
			return none, err
		}
	}
	return out, nil
}

// decide computes the outputs for some rows from their features phi, and stores the outputs in dst.
// In errors, the first of these rows has index start.
func (m *Random) decide(phi, dst linalg.Matrix[float64], start int) error {
	f := m.spec.Solution.At(phi)
	for i := range f.Rows {
		copy(dst.Row(i), f.Row(i))
	}
	if m.process != nil {
		p, err := m.process()
		if err != nil {
			return fmt.Errorf("model: the deviations of the Gaussian process cannot be computed: %w", err)
		}
		for i, d := range p.Deviations(phi) {
			dst.Row(i)[dst.Cols-1] = d
		}
	}
	for i := range dst.Rows {
		if firstNotFinite(dst.Row(i)) >= 0 {
			return fmt.Errorf("model: row %d has a number that is infinite, NaN or too large for the random features", start+i)
		}
	}
	return nil
}

// IsRandom reports whether a file that begins with head was written by [EncodeRandom].
func IsRandom(head []byte) bool {
	return len(head) >= len(randomMagic) && string(head[:len(randomMagic)]) == randomMagic
}

// EncodeRandom writes m as a file. Its errors come from w.
func EncodeRandom(w io.Writer, m *Random) error {
	var body wire.Writer
	s := &m.spec
	body.String(string(s.Kind))
	body.String(s.Kernel.Name)
	body.Float64(s.Kernel.Gamma)
	if s.linear() {
		body.Float64(s.Bound)
	}
	body.Fixed(s.Seed[:])
	body.Strings(s.Classes)
	body.Uint32(uint32(s.Width))
	body.Bool(s.Scaled)
	body.Bool(s.Scale != nil)
	if s.Scale != nil {
		body.Float64s(s.Scale.Offset)
		body.Float64s(s.Scale.Factor)
	}
	writeColumns(&body, s.Columns)
	body.Uint32(uint32(s.Solution.Weights.Rows))
	body.Uint32(uint32(s.Solution.Weights.Cols))
	body.Float64(s.Solution.Alpha)
	body.Float64s(s.Solution.Weights.Data)
	body.Float64s(s.Solution.Offset)
	if s.Kind.OutputShape() == Deviation {
		body.Float64(s.Noise)
		body.Float64(s.Unit)
		for i := range s.Outer.Rows {
			body.Float64s(s.Outer.Row(i)[i:])
		}
	}
	return frame(w, randomMagic, versionOf(s.Columns), body.Bytes())
}

// OpenRandom reads a model of random features under the default limits. It returns the errors of
// Open.
func OpenRandom(r io.Reader) (*Random, error) { return Limits{}.OpenRandom(r) }

// OpenRandom reads a model of random features under the limits l. It returns the errors of Open.
func (l Limits) OpenRandom(r io.Reader) (*Random, error) {
	content, named, err := l.content(r, randomMagic)
	if err != nil {
		return nil, err
	}
	b := wire.NewReader(content)
	s := readRandom(b, named)
	if err := b.Close("its content"); err != nil {
		return nil, formatError("%w", err)
	}
	m, err := NewRandom(s)
	if err != nil {
		return nil, formatError("%w", err)
	}
	return m, nil
}

func readRandom(r *wire.Reader, named bool) RandomSpec {
	s := RandomSpec{Output: Output{Kind: Kind(r.String(maxKind))}}
	s.Kernel.Name = r.String(32)
	s.Kernel.Gamma = r.Float64()
	if s.linear() {
		s.Bound = r.Float64()
	}
	r.Fixed(s.Seed[:])
	s.Classes = r.Strings(maxOutputs, maxClassName)
	s.Width = int(r.Uint32())
	s.Scaled = r.Bool()
	if r.Bool() && hasRoom(r, 2*s.Width, 8) {
		s.Scale = &Scale{Offset: make([]float64, s.Width), Factor: make([]float64, s.Width)}
		r.Float64s(s.Scale.Offset)
		r.Float64s(s.Scale.Factor)
	}
	if named {
		s.Columns = readColumns(r, s.Width)
	}
	outputs, features := int(r.Uint32()), int(r.Uint32())
	s.Solution.Alpha = r.Float64()
	if outputs > maxOutputs || features > maxFeatures {
		r.Fail(fmt.Errorf("the model has %d x %d weights; at most %d x %d are allowed", outputs, features, maxOutputs, maxFeatures))
	}
	if !hasRoom(r, outputs*(features+1), 8) {
		return s
	}
	s.Solution.Weights, s.Solution.Offset = linalg.New[float64](outputs, features), make([]float64, outputs)
	r.Float64s(s.Solution.Weights.Data)
	r.Float64s(s.Solution.Offset)
	if s.Kind.OutputShape() != Deviation {
		return s
	}
	s.Noise, s.Unit = r.Float64(), r.Float64()
	if hasRoom(r, moments.Triangle(features), 8) {
		triangle := make([]float64, moments.Triangle(features))
		r.Float64s(triangle)
		s.Outer = moments.Symmetric(features, triangle)
	}
	return s
}
