package stage

import (
	"crypto/sha256"
	"errors"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/prg"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// training is how the label holder learns from phases: what it asks for, and
// what it makes of it.
type training interface {
	fdskl.Schedule
	// learn is called once, when all that was asked for has come. The error of
	// interrupt, if that is not nil, ends it.
	learn(interrupt func() error) (*learnt, error)
	// failure is why no more was asked for, nil if all has come.
	failure() error
	outputs() *learner.Outputs
}

// learnt is what a training ends with.
type learnt struct {
	coefficients linalg.Matrix[float64] // outputs x two for each direction
	decisions    linalg.Matrix[float64] // outputs x held-out rows
	left         float64                // see Learned
	several      bool                   // others hold coefficients, too
}

// hash names the model; what others hold of it by what it decides.
func (l *learnt) hash() [sha256.Size]byte {
	var w wire.Writer
	w.String("mercer/v1/fdskl/model")
	for k := range l.coefficients.Rows {
		w.Float64s(l.coefficients.Row(k))
	}
	for k := 0; l.several && k < l.decisions.Rows; k++ {
		w.Float64s(l.decisions.Row(k))
	}
	return sha256.Sum256(w.Bytes())
}

// newTraining is that of one active worker: it learns from the first of all rows,
// of which there are as many as labels; the others are held out. The seed draws
// batches.
func newTraining(j *job.Job, labels []string, train int, seed [32]byte) (training, error) {
	p, err := newProblem(j, labels, train)
	if err != nil {
		return nil, err
	}
	if job.As[*fdsklKeys](j.Protocol).Training == cachedTraining {
		return newCached(p), nil
	}
	return newStochastic(p, seed)
}

// lossOf is the loss that a learner is called by.
func lossOf(l job.Learner) (linear.Loss, error) {
	name := string(l.Name)
	if l.Name == job.Squared {
		name = "square"
	}
	return linear.NewLoss(name, l.Delta)
}

// problem is what all trainings have in common.
type problem struct {
	job         *job.Job
	loss        linear.Loss
	out         *learner.Outputs
	train, rows int
	err         error // of an iteration: nothing more is asked for
}

func newProblem(j *job.Job, labels []string, train int) (problem, error) {
	out, err := learner.OutputsOf(labels[:train], j.Learner.Name.Regresses())
	if err != nil {
		return problem{}, err
	}
	loss, err := lossOf(j.Learner)
	return problem{job: j, loss: loss, out: out, train: train, rows: len(labels)}, err
}

func (p *problem) outputs() *learner.Outputs { return p.out }

func (p *problem) failure() error { return p.err }

// cached asks for all phases once and learns at home.
type cached struct {
	problem
	*fdskl.Book
	table  *linear.Phases[float32]
	passes int // at most; 0: the learner's default
}

func newCached(p problem) *cached {
	bits, m := job.As[*fdsklKeys](p.job.Protocol).Bits, job.As[*fdsklKeys](p.job.Protocol).Directions
	c := &cached{problem: p, Book: fdskl.NewBook(p.rows, bits), table: linear.NewPhases[float32](p.rows, m, bits)}
	c.Want(rowsFrom(0, p.rows), m)
	return c
}

// Answer implements fdskl.Schedule.
func (c *cached) Answer(rows []int, words []byte) {
	d := c.Directions()
	c.table.Put(words, rows[0], len(rows), d.First, d.Count)
}

func (c *cached) learn(interrupt func() error) (*learnt, error) {
	f, err := linear.Fit(part[float32]{c.table, 0, c.train}, c.out.Y, linear.Params{Loss: c.loss, Lambda: c.job.Learner.Lambda, MaxPasses: c.passes, Interrupt: interrupt})
	left := 0.0
	switch {
	case errors.Is(err, linear.ErrNotConverged): // what it has is of use, if it is said
		left = f.Gradient
	case err != nil:
		return nil, err
	}
	held := part[float32]{c.table, c.train, c.rows - c.train}
	return &learnt{coefficients: f.Coefficients, decisions: linear.Decide(held, f.Coefficients), left: left}, nil
}

// part is some rows of a table.
type part[T linalg.Float] struct {
	*linear.Phases[T]
	first, count int
}

func (p part[T]) Rows() int { return p.count }

func (p part[T]) Read(dst linalg.Matrix[T], feature, row int) {
	p.Phases.Read(dst, feature, p.first+row)
}

// newtonRho keeps Newton's steps of training precond from following single rows.
const newtonRho = 1e-3

// stochastic learns by doubly stochastic gradients: each iteration draws a batch
// of rows and asks for a block of new directions, and for the earlier ones in
// which these rows have not been seen. At the end it asks for the held-out rows.
type stochastic struct {
	problem
	*fdskl.Book
	course *linear.Stochastic
	table  *linear.Phases[float64]
	drawn  bool // rows of an iteration, which have been asked for
}

func newStochastic(p problem, seed [32]byte) (*stochastic, error) {
	m := job.As[*fdsklKeys](p.job.Protocol).Directions
	course, err := linear.NewStochastic(p.courseOf(m), p.out.Y, prg.New(seed, "fdskl/batches"))
	if err != nil {
		return nil, err
	}
	return &stochastic{
		problem: p, Book: fdskl.NewBook(p.rows, job.As[*fdsklKeys](p.job.Protocol).Bits), course: course,
		table: linear.NewPhases[float64](p.rows, m, job.As[*fdsklKeys](p.job.Protocol).Bits).Unscaled(),
	}, nil
}

// courseOf are the iterations that the job wants, over some directions.
func (p *problem) courseOf(directions int) linear.Course {
	l := p.job.Learner
	c := linear.Course{
		DSGParams: linear.DSGParams{Loss: p.loss, Rate: l.Rate, Lambda: l.Lambda, PerDirection: 2},
		Batch:     max(1, l.Batch), Block: 2, Features: 2 * directions,
	}
	if l.Iterations > 0 {
		c.Block = 2 * ((directions + l.Iterations - 1) / l.Iterations)
	}
	if job.As[*fdsklKeys](p.job.Protocol).Training == precondTraining {
		c.Rho = newtonRho
	}
	return c
}

// Next implements fdskl.Schedule.
func (s *stochastic) Next() (fdskl.Request, bool) {
	if q, more := s.Book.Next(); more || s.err != nil {
		return q, more
	}
	if s.drawn {
		if s.err = s.course.Learn(s.table); s.err != nil {
			return fdskl.Request{}, false
		}
	}
	rows, features := s.course.Draw()
	if s.drawn = rows != nil; !s.drawn {
		rows = rowsFrom(s.train, s.rows)
	}
	s.Want(rows, features/2)
	return s.Book.Next()
}

// Answer implements fdskl.Schedule.
func (s *stochastic) Answer(rows []int, words []byte) { put(s.table, rows, words, s.Directions()) }

// put sets words of rows in a table, those that follow each other at once.
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

func (s *stochastic) learn(func() error) (*learnt, error) {
	if s.err != nil {
		return nil, s.err
	}
	w := s.course.Coefficients()
	return &learnt{coefficients: w, decisions: linear.Decide(part[float64]{s.table, s.train, s.rows - s.train}, w)}, nil
}

func rowsFrom(first, end int) []int {
	rows := make([]int, end-first)
	for i := range rows {
		rows[i] = first + i
	}
	return rows
}
