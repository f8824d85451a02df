package linear

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// These are the defaults of [Params].
const (
	DefaultBlock     = 256
	DefaultTol       = 1e-2
	DefaultMaxPasses = 100
)

// panelRows is the number of rows that a core processes at a time. With a block of 256 features in
// float32, they fit into the second-level cache.
const panelRows = 1024

// ErrNotConverged marks the error of a training that reached its maximum of passes before it met
// Tol.
var ErrNotConverged = errors.New("not converged")

// Params holds the settings of [Fit]. Fit minimises
//
//	mean of Loss(f(x), y) + Lambda/2 |w|^2 with f(x) = w.phi(x)
//
// It makes passes over all blocks of features. Zeros mean defaults, except in Loss and Lambda.
type Params struct {
	Loss   Loss
	Lambda float64 // weight of the regulariser, above 0
	// Block is the number of features that Newton's method moves at a time. It must be even.
	Block int
	// Tol is the tolerance at which the passes end: no entry of the gradient exceeds Tol times the
	// largest entry of the gradient at w = 0.
	Tol       float64
	MaxPasses int
	// Interrupt, if not nil, is called before each block. If it returns an error, the training ends
	// and returns this error wrapped. A context's method Err can be used.
	Interrupt func() error
}

func (p Params) filled() (Params, error) {
	if p.Loss == nil {
		return p, errors.New("linear: the loss is missing; choose one")
	}
	if !(p.Lambda > 0) || math.IsInf(p.Lambda, 1) {
		return p, fmt.Errorf("linear: lambda is %v; it must be positive and finite", p.Lambda)
	}
	if h, ok := p.Loss.(Huber); ok && !(h.Delta > 0) {
		return p, fmt.Errorf("linear: Huber's delta is %v; it must be positive", h.Delta)
	}
	if p.Block == 0 {
		p.Block = DefaultBlock
	}
	if p.Tol == 0 {
		p.Tol = DefaultTol
	}
	if p.MaxPasses == 0 {
		p.MaxPasses = DefaultMaxPasses
	}
	if p.Interrupt == nil {
		p.Interrupt = func() error { return nil }
	}
	switch {
	case p.Block < 0 || p.Block%2 != 0:
		return p, fmt.Errorf("linear: block is %d; it must be positive and even", p.Block)
	case !(p.Tol > 0):
		return p, fmt.Errorf("linear: tol is %v; it must be positive", p.Tol)
	case p.MaxPasses < 0:
		return p, fmt.Errorf("linear: the greatest number of passes is %d; it must be positive", p.MaxPasses)
	}
	return p, nil
}

// Fitted is the result of a training.
type Fitted struct {
	Coefficients linalg.Matrix[float64] // outputs x features
	Decisions    linalg.Matrix[float64] // decisions for the training rows, outputs x rows
	Objectives   []float64              // objective after each pass, summed over all outputs
	Gradient     float64                // largest entry of the final gradient, divided by the largest entry at w = 0
}

// Fit minimises the objective of [Params] by a cyclic block Newton method. Row k of targets holds
// the targets of output k; each output is a separate problem on the same features. A target is +1
// or -1 for a class against the rest, and a number in regression. The second derivative is replaced
// by its bound, so that each block is factored only once and no step makes the objective larger. If
// the training reaches MaxPasses before it meets Tol, Fit returns the result so far and an error that
// wraps [ErrNotConverged].
func Fit[T linalg.Float](t Table[T], targets linalg.Matrix[float64], p Params) (*Fitted, error) {
	p, err := p.filled()
	if err != nil {
		return nil, err
	}
	if t.Rows() == 0 || targets.Rows == 0 || targets.Cols != t.Rows() {
		return nil, fmt.Errorf("linear: the targets are %d x %d for %d rows; at least one output and one row are needed, and a column for each row", targets.Rows, targets.Cols, t.Rows())
	}
	if !finite(targets) {
		return nil, errors.New("linear: a target is not finite")
	}
	n := newton[T]{
		Params: p, table: t, targets: targets,
		blocks: spans(t.Features(), p.Block), panels: spans(t.Rows(), panelRows),
		w: linalg.New[float64](targets.Rows, t.Features()), u: linalg.New[float64](targets.Rows, t.Rows()),
	}
	if err := n.factor(); err != nil {
		return nil, err
	}
	return n.run()
}

func finite(m linalg.Matrix[float64]) bool {
	for i := range m.Rows {
		for _, v := range m.Row(i) {
			if v-v != 0 {
				return false
			}
		}
	}
	return true
}

// newton is the state of a training by block Newton.
type newton[T linalg.Float] struct {
	Params
	table          Table[T]
	targets        linalg.Matrix[float64]
	blocks, panels []span
	factors        []linalg.Matrix[float64] // Cholesky factor of each block
	w, u           linalg.Matrix[float64]   // coefficients and decisions
	pending        step                     // last step, which the decisions u do not include yet
}

// step is a change of the coefficients in one block of features.
type step struct {
	features span
	change   linalg.Matrix[float64]
}

// run makes passes until the gradient is small enough.
func (n *newton[T]) run() (*Fitted, error) {
	f := &Fitted{Coefficients: n.w, Decisions: n.u}
	start, err := n.steepest()
	if err != nil {
		return nil, err
	}
	end := math.Inf(1)
	for len(f.Objectives) < n.MaxPasses && end > n.Tol*start {
		met, err := n.pass()
		if err != nil {
			return nil, err
		}
		f.Objectives = append(f.Objectives, n.objective())
		if met <= n.Tol*start || len(f.Objectives) == n.MaxPasses {
			if end, err = n.steepest(); err != nil {
				return nil, err
			}
		}
	}
	if end == 0 {
		return f, nil
	}
	if f.Gradient = end / start; f.Gradient > n.Tol {
		return f, fmt.Errorf("linear: the gradient is still %.3g times the gradient at the start, above tol %.3g, after %d passes: %w", f.Gradient, n.Tol, n.MaxPasses, ErrNotConverged)
	}
	return f, nil
}

// pass makes one step of Newton's method in every block. It returns the largest gradient entry that
// it met.
func (n *newton[T]) pass() (float64, error) {
	largest := 0.0
	for k := range n.blocks {
		if err := n.interrupted(); err != nil {
			return 0, err
		}
		largest = max(largest, n.move(k))
	}
	n.addPendingToAll()
	return largest, nil
}

// interrupted returns the error of Interrupt, wrapped.
func (n *newton[T]) interrupted() error {
	if err := n.Interrupt(); err != nil {
		return fmt.Errorf("linear: %w", err)
	}
	return nil
}

// factorRows is the number of rows that are read at a time to compute a block's matrix.
const factorRows = 8 * panelRows

// factor computes a Cholesky factor for each block of features. With the block's features Z, the
// factored matrix is curvature/rows Z Z^T + lambda I, which bounds the second derivative of the
// objective.
func (n *newton[T]) factor() error {
	for _, b := range n.blocks {
		if err := n.interrupted(); err != nil {
			return err
		}
		h := linalg.New[float64](b.len(), b.len())
		product := linalg.New[T](b.len(), b.len())
		for _, rows := range spans(n.table.Rows(), factorRows) {
			n.readWide(b, rows, func(z linalg.Matrix[T]) { linalg.Syrk(product, z) })
			for i, v := range product.Data {
				h.Data[i] += float64(v)
			}
		}
		scale := n.Loss.Curvature() / float64(n.table.Rows())
		for i := range h.Rows {
			row := h.Row(i)
			for j := range row {
				row[j] *= scale
			}
			row[i] += n.Lambda
		}
		if err := linalg.Cholesky(h); err != nil {
			return fmt.Errorf("linear: the block of features %d to %d cannot be factored, perhaps because lambda is too small: %w", b.lo, b.hi-1, err)
		}
		n.factors = append(n.factors, h)
	}
	return nil
}

// readWide is like the function read, but uses all cores.
func (n *newton[T]) readWide(features, rows span, use func(z linalg.Matrix[T])) {
	linalg.Scratch(features.len()*rows.len(), func(room []T) {
		z := linalg.Matrix[T]{Rows: features.len(), Cols: rows.len(), Stride: rows.len(), Data: room}
		linalg.For(z.Rows, 16, func(lo, hi int) { n.table.Read(z.Panel(lo, hi), features.lo+lo, rows.lo) })
		use(z)
	})
}

// move makes Newton's step in one block. It returns the largest entry of the gradient before the
// step.
func (n *newton[T]) move(k int) float64 {
	b := n.blocks[k]
	g := n.gradient(b)
	largest := largestOf(g)
	linalg.SolveCholesky(n.factors[k], g)
	for c := range g.Rows {
		for j, v := range g.Row(c) {
			g.Row(c)[j] = -v
			n.w.Row(c)[b.lo+j] -= v
		}
	}
	n.pending = step{b, g}
	return largest
}

// gradient returns the gradient of one block, as outputs x features. It also applies the pending
// step to the decisions, so that each row's decisions are read once for both.
func (n *newton[T]) gradient(b span) linalg.Matrix[float64] {
	sums := make([]linalg.Matrix[T], len(n.panels))
	linalg.For(len(n.panels), 1, func(i, _ int) {
		n.addPending(n.panels[i])
		slopes := n.slopes(n.panels[i])
		sums[i] = linalg.New[T](n.u.Rows, b.len())
		read(n.table, b, n.panels[i], func(z linalg.Matrix[T]) {
			for c := range slopes.Rows {
				for j := range z.Rows {
					sums[i].Row(c)[j] = linalg.Dot(z.Row(j), slopes.Row(c))
				}
			}
		})
	})
	n.pending = step{}
	g := linalg.New[float64](n.u.Rows, b.len())
	for _, s := range sums {
		for i, v := range s.Data {
			g.Data[i] += float64(v)
		}
	}
	for c := range g.Rows {
		for j, v := range g.Row(c) {
			g.Row(c)[j] = v/float64(n.table.Rows()) + n.Lambda*n.w.Row(c)[b.lo+j]
		}
	}
	return g
}

// addPending adds the pending step to the decisions for some rows.
func (n *newton[T]) addPending(rows span) {
	if b := n.pending.features; b.len() > 0 {
		read(n.table, b, rows, func(z linalg.Matrix[T]) {
			addTo(n.u, rows, z, n.pending.change, span{0, b.len()})
		})
	}
}

// addPendingToAll adds the pending step to the decisions for all rows.
func (n *newton[T]) addPendingToAll() {
	linalg.For(len(n.panels), 1, func(i, _ int) { n.addPending(n.panels[i]) })
	n.pending = step{}
}

// slopes returns the derivatives of the losses for some rows, as outputs x rows.
func (n *newton[T]) slopes(rows span) linalg.Matrix[T] {
	s := linalg.New[T](n.u.Rows, rows.len())
	for c := range s.Rows {
		y := n.targets.Row(c)[rows.lo:rows.hi]
		for i, u := range n.u.Row(c)[rows.lo:rows.hi] {
			s.Row(c)[i] = T(n.Loss.Slope(u, y[i]))
		}
	}
	return s
}

// steepest returns the largest entry of the gradient of all features.
func (n *newton[T]) steepest() (float64, error) {
	largest := 0.0
	for _, b := range n.blocks {
		if err := n.interrupted(); err != nil {
			return 0, err
		}
		largest = max(largest, largestOf(n.gradient(b)))
	}
	return largest, nil
}

func largestOf(m linalg.Matrix[float64]) float64 {
	largest := 0.0
	for _, v := range m.Data {
		largest = max(largest, math.Abs(v))
	}
	return largest
}

// objective returns the value of the objective, summed over the outputs.
func (n *newton[T]) objective() float64 {
	losses := make([]float64, len(n.panels))
	linalg.For(len(n.panels), 1, func(i, _ int) {
		for c := range n.u.Rows {
			for r := n.panels[i].lo; r < n.panels[i].hi; r++ {
				losses[i] += n.Loss.Value(n.u.Row(c)[r], n.targets.Row(c)[r])
			}
		}
	})
	sum, squares := 0.0, 0.0
	for _, v := range losses {
		sum += v
	}
	for _, v := range n.w.Data {
		squares += v * v
	}
	return sum/float64(n.table.Rows()) + n.Lambda/2*squares
}
