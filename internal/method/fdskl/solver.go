package fdskl

import (
	"crypto/sha256"
	"errors"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// Solver trains the model of a party with labels. It decides which phases the party requests and
// how it learns from them.
type Solver interface {
	fdskl.Schedule
	// Learn completes the training, after all requested phases have arrived. A solver of training cached
	// trains in Learn: it ends early with an error if function interrupt is not nil and returns an error.
	Learn(interrupt func() error) (*Learnt, error)
	Outputs() *learner.Outputs
	// failure returns the reason why the solver stopped requesting phases. It returns nil if all
	// phases have arrived.
	failure() error
}

// Learnt is a trained model with its decisions on held-out rows.
type Learnt struct {
	Coefficients linalg.Matrix[float64] // one row for each output and two columns for each direction
	Decisions    linalg.Matrix[float64] // one row for each output and one column for each held-out row that the solver has judged
	Left         float64                // the remaining gradient norm; see Learned
	several      bool                   // true if other workers hold coefficients of the model, too
}

// hash returns a digest of the model. If other workers hold coefficients too, the decisions
// represent those workers' part of the model.
func (l *Learnt) hash() [sha256.Size]byte {
	var w wire.Writer
	w.String("mercer/v1/fdskl/model")
	for k := range l.Coefficients.Rows {
		w.Float64s(l.Coefficients.Row(k))
	}
	for k := 0; l.several && k < l.Decisions.Rows; k++ {
		w.Float64s(l.Decisions.Row(k))
	}
	return sha256.Sum256(w.Bytes())
}

// NewSolver returns the solver of a job with a single active worker. It learns from the first train
// rows and evaluates the others. labels has a label for each row. seed determines the drawn
// batches.
func NewSolver(j *job.Job, labels []string, train int, seed [32]byte) (Solver, error) {
	p, err := newProblem(j, labels, train)
	if err != nil {
		return nil, err
	}
	if keysOf(j).Training == Cached {
		return newCached(p), nil
	}
	return newStochastic(p, seed)
}

func newStochastic(p problem, seed [32]byte) (*stochastic, error) {
	m := keysOf(p.job).Directions
	optimizer, err := linear.NewStochastic(p.optimizerParamsOf(m), p.out.Y, prg.New(seed, "fdskl/batches"))
	if err != nil {
		return nil, err
	}
	return &stochastic{
		problem: p, Book: fdskl.NewBook(p.rows, keysOf(p.job).Bits), optimizer: optimizer,
		table: linear.NewPhases[float64](p.rows, m, keysOf(p.job).Bits).Unscaled(),
	}, nil
}

// problem holds the learning problem, which every solver embeds.
type problem struct {
	job         *job.Job
	loss        linear.Loss
	out         *learner.Outputs
	train, rows int
	err         error // the error of an iteration, after which the solver requests nothing more
}

func newProblem(j *job.Job, labels []string, train int) (problem, error) {
	out, err := learner.OutputsOf(j, labels[:train])
	if err != nil {
		return problem{}, err
	}
	return problemOf(j, out, train, len(labels))
}

func problemOf(j *job.Job, out *learner.Outputs, train, rows int) (problem, error) {
	on, _ := learner.OptimizerParamsOf(j)
	loss, err := on.Loss()
	return problem{job: j, loss: loss, out: out, train: train, rows: rows}, err
}

func (p *problem) Outputs() *learner.Outputs { return p.out }

func (p *problem) failure() error { return p.err }

// cached is a solver that requests all phases once and learns locally.
type cached struct {
	problem
	*fdskl.Book
	table  *linear.Phases[float32]
	passes int // the largest number of passes; 0 means the learner's default
}

func newCached(p problem) *cached {
	bits, m := keysOf(p.job).Bits, keysOf(p.job).Directions
	c := &cached{problem: p, Book: fdskl.NewBook(p.rows, bits), table: linear.NewPhases[float32](p.rows, m, bits)}
	c.Want(linalg.Range(0, p.rows), m)
	return c
}

// Answer stores the phases of the last request; it implements fdskl.Schedule.
func (c *cached) Answer(rows []int, words []byte) {
	d := c.Directions()
	c.table.Put(words, rows[0], len(rows), d.First, d.Count)
}

func (c *cached) Learn(interrupt func() error) (*Learnt, error) {
	_, l := learner.OptimizerParamsOf(c.job)
	f, err := linear.Fit(rowRange[float32]{c.table, 0, c.train}, c.out.Y, linear.Params{Loss: c.loss, Lambda: l.Lambda, MaxPasses: c.passes, Interrupt: interrupt})
	left := 0.0
	switch {
	case errors.Is(err, linear.ErrNotConverged):
		// Use the model although the training has not converged. Left causes a warning.
		left = f.Gradient
	case err != nil:
		return nil, err
	}
	held := rowRange[float32]{c.table, c.train, c.rows - c.train}
	return &Learnt{Coefficients: f.Coefficients, Decisions: linear.Decide(held, f.Coefficients), Left: left}, nil
}

// rowRange is a table of phases, restricted to consecutive rows.
type rowRange[T linalg.Float] struct {
	*linear.Phases[T]
	first, count int
}

func (p rowRange[T]) Rows() int { return p.count }

func (p rowRange[T]) Read(dst linalg.Matrix[T], feature, row int) {
	p.Phases.Read(dst, feature, p.first+row)
}

// newtonRho is the regularization that keeps the Newton steps of training precond from overfitting
// single rows.
const newtonRho = 1e-3

// stochastic is a solver that learns by doubly stochastic gradients. Each iteration draws a batch
// of rows and requests a block of new directions, and any earlier directions that it lacks for
// these rows. At the end it requests the held-out rows.
type stochastic struct {
	problem
	*fdskl.Book
	optimizer *linear.Stochastic
	table     *linear.Phases[float64]
	drawn     bool // true if the last request was for the rows that an iteration drew
}

// optimizerParamsOf returns the optimizer's settings for the job, over the given number of
// directions.
func (p *problem) optimizerParamsOf(directions int) linear.OptimizerParams {
	_, l := learner.OptimizerParamsOf(p.job)
	c := linear.OptimizerParams{
		DSGParams: linear.DSGParams{Loss: p.loss, Rate: l.Rate, Lambda: l.Lambda, PerDirection: 2},
		Batch:     max(1, l.Batch), Block: 2, Features: 2 * directions,
	}
	if l.Iterations > 0 {
		c.Block = 2 * ((directions + l.Iterations - 1) / l.Iterations)
	}
	if keysOf(p.job).Training == Precond {
		c.Rho = newtonRho
	}
	return c
}

// Next learns from the last answer and returns the next request; it implements fdskl.Schedule.
func (s *stochastic) Next() (fdskl.Request, bool) {
	if q, more := s.Book.Next(); more || s.err != nil {
		return q, more
	}
	if s.drawn {
		if s.err = s.optimizer.Learn(s.table); s.err != nil {
			return fdskl.Request{}, false
		}
	}
	rows, features := s.optimizer.Draw()
	if s.drawn = rows != nil; !s.drawn {
		rows = linalg.Range(s.train, s.rows)
	}
	s.Want(rows, features/2)
	return s.Book.Next()
}

// Answer stores the phases of the last request; it implements fdskl.Schedule.
func (s *stochastic) Answer(rows []int, words []byte) { put(s.table, rows, words, s.Directions()) }

// put stores the phases of some rows in a table. It stores consecutive rows in one call.
func put(table *linear.Phases[float64], rows []int, words []byte, d fdskl.Span) {
	width := len(words) / len(rows)
	for i := 0; i < len(rows); {
		n := 1
		for i+n < len(rows) && rows[i+n] == rows[i]+n {
			n++
		}
		table.Put(words[i*width:(i+n)*width], rows[i], n, d.First, d.Count)
		i += n
	}
}

func (s *stochastic) Learn(func() error) (*Learnt, error) {
	if s.err != nil {
		return nil, s.err
	}
	w := s.optimizer.Coefficients()
	return &Learnt{Coefficients: w, Decisions: linear.Decide(rowRange[float64]{s.table, s.train, s.rows - s.train}, w)}, nil
}
