package linear

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
)

// DSG trains a linear model by doubly stochastic functional gradients (Dai et al. 2014, algorithm
// 1; Gu et al. 2020, algorithm 1). Each iteration draws rows and new directions, and adds to the
// decision function only coefficients of the new features. The caller supplies the features:
//
//	u := d.Decide(source, rows)                     // decisions of the model so far
//	source.ReadAt(phi, d.Features(), rows)          // the new features
//	d.Step(phi, u, targets)
//
// [Stochastic] draws the rows. The papers' algorithm, for which [Assumptions.Guarantee] holds,
// uses one row and one direction at a time. Features are sqrt(2) cos(w.x + b), or the cosine and
// sine of w.x, without a divisor, since their final number is unknown.
type DSG struct {
	params DSGParams
	scale  float64     // each coefficient is scale times an entry of alpha
	alpha  [][]float64 // coefficients divided by scale, for each output
}

// DSGParams are the parameters of [DSG].
type DSGParams struct {
	Loss Loss
	// Rate is the constant step length, above 0. If several trainings run side by side, and the
	// decisions of each lack the last steps of the other trainings, each must use a fraction of the rate.
	Rate float64
	// Lambda is the weight decay: each step multiplies all earlier coefficients by 1 - Rate Lambda.
	// Lambda is at least 0, and that factor must be positive.
	Lambda float64
	// PerDirection is the number of features per direction, 1 or 2. 0 means 1.
	PerDirection int
}

// NewDSG returns a new training of a model with the given number of outputs.
func NewDSG(outputs int, p DSGParams) (*DSG, error) {
	if p.PerDirection == 0 {
		p.PerDirection = 1
	}
	switch {
	case p.Loss == nil:
		return nil, errors.New("linear: the loss is missing; choose one")
	case outputs < 1:
		return nil, fmt.Errorf("linear: outputs is %d; it must be at least 1", outputs)
	case !(p.Rate > 0) || math.IsInf(p.Rate, 1):
		return nil, fmt.Errorf("linear: rate is %v; it must be positive and finite", p.Rate)
	case !(p.Lambda >= 0):
		return nil, fmt.Errorf("linear: lambda is %v; it must be at least 0", p.Lambda)
	case !(p.Rate*p.Lambda < 1):
		return nil, fmt.Errorf("linear: rate %v times lambda %v must be below 1: choose a smaller rate", p.Rate, p.Lambda)
	case p.PerDirection < 0 || p.PerDirection > 2:
		return nil, fmt.Errorf("linear: there are %d features per direction; use 1 or 2", p.PerDirection)
	}
	return &DSG{params: p, scale: 1, alpha: make([][]float64, outputs)}, nil
}

// Features returns the number of features that have coefficients.
func (d *DSG) Features() int { return len(d.alpha[0]) }

// Coefficients returns the coefficients as a matrix of outputs x features.
func (d *DSG) Coefficients() linalg.Matrix[float64] {
	m := linalg.New[float64](len(d.alpha), d.Features())
	for k, alpha := range d.alpha {
		for j, a := range alpha {
			m.Row(k)[j] = d.scale * a
		}
	}
	return m
}

// Add adds the contribution of some features to the decisions u, outputs x rows. The features begin
// with feature number start. The matrix phi, features x rows, holds the values of these features.
func (d *DSG) Add(u, phi linalg.Matrix[float64], start int) {
	for k, alpha := range d.alpha {
		for j := range phi.Rows {
			linalg.Axpy(d.scale*alpha[start+j], phi.Row(j), u.Row(k))
		}
	}
}

// Step adds coefficients for new features. The matrix phi holds the values of these features on
// some rows, as features x rows. A new coefficient is -Rate/directions times the mean of slope
// times feature, with the number of new directions. Earlier coefficients decay. Step panics if the
// shapes do not agree.
func (d *DSG) Step(phi, u, y linalg.Matrix[float64]) {
	d.addCoefficients(d.correlations(phi, u, y), d.params.Rate*float64(d.params.PerDirection)/float64(phi.Rows))
}

// StepNewton is like [DSG.Step], but makes a step of Newton's method. It multiplies the mean by the
// inverse of curvature/rows phi phi^T + rho I, rho > 0, as in the code that Dai et al. released,
// and by -Rate, without a division by the number of directions. It fails if rho is too small for a
// factorisation.
func (d *DSG) StepNewton(phi, u, y linalg.Matrix[float64], rho float64) error {
	g := d.correlations(phi, u, y)
	h := linalg.New[float64](phi.Rows, phi.Rows)
	linalg.Syrk(h, phi)
	for i := range h.Rows {
		row := h.Row(i)
		for j := range row {
			row[j] *= d.params.Loss.Curvature() / float64(phi.Cols)
		}
		row[i] += rho
	}
	if err := linalg.Cholesky(h); err != nil {
		return fmt.Errorf("linear: the step with rho %v fails; choose a larger rho: %w", rho, err)
	}
	linalg.SolveCholesky(h, g)
	d.addCoefficients(g, d.params.Rate)
	return nil
}

// Decay multiplies all coefficients by 1 - Rate Lambda, as every step does. Call Decay for each
// step whose new coefficients other parties hold. The cost of Decay does not depend on the number
// of coefficients.
func (d *DSG) Decay() {
	d.scale *= 1 - d.params.Rate*d.params.Lambda
	if d.scale < smallest {
		for _, alpha := range d.alpha {
			for j := range alpha {
				alpha[j] *= d.scale
			}
		}
		d.scale = 1
	}
}

// smallest is the least scale. When the scale falls below it, Decay multiplies alpha by the scale
// and sets the scale to 1.
const smallest = 1e-100

// correlations returns, for each output and feature, the mean of slope times feature over the rows.
func (d *DSG) correlations(phi, u, y linalg.Matrix[float64]) linalg.Matrix[float64] {
	if u.Rows != len(d.alpha) || y.Rows != u.Rows || u.Cols != phi.Cols || y.Cols != phi.Cols || phi.Cols == 0 {
		panic(fmt.Sprintf("linear: %d x %d features, %d x %d decisions, %d x %d targets for %d outputs",
			phi.Rows, phi.Cols, u.Rows, u.Cols, y.Rows, y.Cols, len(d.alpha)))
	}
	g, slopes := linalg.New[float64](u.Rows, phi.Rows), make([]float64, phi.Cols)
	for k := range g.Rows {
		for i := range slopes {
			slopes[i] = d.params.Loss.Slope(u.Row(k)[i], y.Row(k)[i])
		}
		for j := range g.Cols {
			g.Row(k)[j] = linalg.Dot(slopes, phi.Row(j)) / float64(phi.Cols)
		}
	}
	return g
}

// addCoefficients shrinks all coefficients, and then adds the new coefficients -rate g.
func (d *DSG) addCoefficients(g linalg.Matrix[float64], rate float64) {
	d.Decay()
	for k := range d.alpha {
		for _, v := range g.Row(k) {
			d.alpha[k] = append(d.alpha[k], -rate*v/d.scale)
		}
	}
}

// Sampler computes the features of any rows.
type Sampler interface {
	// ReadAt sets row j of dst to the values of feature number feature+j on the given rows.
	ReadAt(dst linalg.Matrix[float64], feature int, rows []int)
}

// Decide computes the decisions for the given rows from all features so far, as outputs x rows.
func (d *DSG) Decide(s Sampler, rows []int) linalg.Matrix[float64] {
	u := linalg.New[float64](len(d.alpha), len(rows))
	for _, b := range spans(d.Features(), DefaultBlock) {
		phi := linalg.New[float64](b.len(), len(rows))
		s.ReadAt(phi, b.lo, rows)
		d.Add(u, phi, b.lo)
	}
	return u
}

// Stochastic runs the iterations of [DSG] on rows with targets. Each iteration draws a batch of rows
// and adds a block of new features; the caller supplies the features in between.
//
//	for rows, features := s.Draw(); rows != nil; rows, features = s.Draw() {
//		// source must be able to read the first features of these rows, as many as Draw returned
//		err := s.Learn(source)
//	}
type Stochastic struct {
	*DSG
	course  OptimizerParams
	targets linalg.Matrix[float64] // targets as outputs x rows
	draw    Drawer
	batch   []int // rows of the current iteration, ascending
}

// OptimizerParams describes the iterations of a training.
type OptimizerParams struct {
	DSGParams
	Batch    int // number of rows of an iteration, at least 1
	Block    int // number of new features of an iteration; the last iteration can have fewer
	Features int // number of features after all iterations
	// Rho selects Newton's method if it is above 0, see [DSG.StepNewton]. Rho 0 selects plain
	// steps.
	Rho float64
}

// Drawer is a source of random numbers. Uint64n returns a number below n, and Perm the numbers 0 to
// n-1 in random order.
type Drawer interface {
	Uint64n(n uint64) uint64
	Perm(n int) []int
}

// NewStochastic returns a new training on rows with the given targets, which are outputs x rows.
func NewStochastic(c OptimizerParams, targets linalg.Matrix[float64], draw Drawer) (*Stochastic, error) {
	d, err := NewDSG(targets.Rows, c.DSGParams)
	if err != nil {
		return nil, err
	}
	switch per := d.params.PerDirection; {
	case targets.Cols < 1:
		return nil, errors.New("linear: there are no rows to learn from")
	case c.Batch < 1 || c.Block < 1 || c.Features < 1:
		return nil, fmt.Errorf("linear: batch is %d, block is %d and features is %d; all must be positive", c.Batch, c.Block, c.Features)
	case c.Block%per != 0 || c.Features%per != 0:
		return nil, fmt.Errorf("linear: block is %d and features is %d; both must be multiples of the %d features per direction", c.Block, c.Features, per)
	case !(c.Rho >= 0):
		return nil, fmt.Errorf("linear: rho is %v; it must be positive, or 0 for plain steps", c.Rho)
	}
	return &Stochastic{DSG: d, course: c, targets: targets, draw: draw}, nil
}

// Draw begins an iteration and draws its rows. It returns these rows, ascending. It also returns
// the number of features, from the first on, that the iteration reads for these rows. After the
// last iteration, Draw returns nil for rows.
func (s *Stochastic) Draw() (rows []int, features int) {
	s.batch = nil
	if s.Features() >= s.course.Features {
		return nil, s.Features()
	}
	s.batch = s.drawn()
	return s.batch, s.Features() + s.nextFeatures()
}

// nextFeatures returns the number of new features in the next iteration.
func (s *Stochastic) nextFeatures() int { return min(s.course.Block, s.course.Features-s.Features()) }

func (s *Stochastic) drawn() []int {
	n := s.targets.Cols
	if s.course.Batch == 1 {
		return []int{int(s.draw.Uint64n(uint64(n)))}
	}
	rows := s.draw.Perm(n)[:min(s.course.Batch, n)]
	slices.Sort(rows)
	return rows
}

// Learn makes the step of the iteration that [Stochastic.Draw] has begun. The sampler t computes
// the features.
func (s *Stochastic) Learn(t Sampler) error { return s.LearnFrom(t, s.Decide(t, s.batch)) }

// LearnFrom is like [Stochastic.Learn], but takes the decisions from the caller. Use it if other
// parties hold coefficients, too: u holds the total decisions for the rows drawn last, outputs x
// rows.
func (s *Stochastic) LearnFrom(t Sampler, u linalg.Matrix[float64]) error {
	if s.batch == nil {
		return errors.New("linear: no rows have been drawn; call Draw first")
	}
	phi, y := linalg.New[float64](s.nextFeatures(), len(s.batch)), linalg.New[float64](u.Rows, len(s.batch))
	t.ReadAt(phi, s.Features(), s.batch)
	for k := range y.Rows {
		for i, r := range s.batch {
			y.Row(k)[i] = s.targets.Row(k)[r]
		}
	}
	s.batch = nil
	if s.course.Rho > 0 {
		return s.StepNewton(phi, u, y, s.course.Rho)
	}
	s.Step(phi, u, y)
	return nil
}
