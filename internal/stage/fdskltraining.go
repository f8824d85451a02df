package stage

import (
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/prg"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// training is how the label holder learns from phases: what it asks for, and
// what it makes of it.
type training interface {
	fdskl.Schedule
	// learn is called once, when all that was asked for has come.
	learn() (*learnt, error)
	outputs() *evaluate.Outputs
}

// learnt is what a training ends with.
type learnt struct {
	coefficients linalg.Matrix[float64] // outputs x two for each direction
	decisions    linalg.Matrix[float64] // outputs x held-out rows
}

// hash names the model.
func (l *learnt) hash() [sha256.Size]byte {
	var w wire.Writer
	w.String("mercer/v1/fdskl/model")
	for k := range l.coefficients.Rows {
		w.Float64s(l.coefficients.Row(k))
	}
	return sha256.Sum256(w.Bytes())
}

// newTraining learns from the first of all rows, of which there are as many as
// labels; the others are held out. The seed draws batches.
func newTraining(j *job.Job, labels []string, train int, seed [32]byte) (training, error) {
	out, err := evaluate.OutputsOf(labels[:train], j.Learner.Name.Regresses())
	if err != nil {
		return nil, err
	}
	loss, err := lossOf(j.Learner)
	if err != nil {
		return nil, err
	}
	p := problem{job: j, loss: loss, out: out, train: train, rows: len(labels)}
	if j.Protocol.Training == job.Cached {
		return &cached{problem: p, table: linear.NewPhases[float32](p.rows, j.Protocol.Directions, j.Protocol.Bits)}, nil
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
	out         *evaluate.Outputs
	train, rows int
}

func (p *problem) outputs() *evaluate.Outputs { return p.out }

// atOnce is how many directions one request may have.
func (p *problem) atOnce() int { return protocol.MaxChunkBytes / (p.job.Protocol.Bits / 8) }

// cached asks for all phases once and learns at home.
type cached struct {
	problem
	table *linear.Phases[float32]
	last  fdskl.Span // directions of the last request
}

// Next implements fdskl.Schedule.
func (c *cached) Next() (fdskl.Request, bool) {
	first := c.last.First + c.last.Count
	c.last = fdskl.Span{First: first, Count: min(c.atOnce(), c.job.Protocol.Directions-first)}
	return fdskl.Request{Rows: []fdskl.Span{{First: 0, Count: c.rows}}, Directions: c.last}, c.last.Count > 0
}

// Answer implements fdskl.Schedule.
func (c *cached) Answer(rows []int, words []byte) {
	c.table.Put(words, rows[0], len(rows), c.last.First, c.last.Count)
}

func (c *cached) learn() (*learnt, error) {
	f, err := linear.Fit(part[float32]{c.table, 0, c.train}, c.out.Y, linear.Params{Loss: c.loss, Lambda: c.job.Learner.Lambda})
	if err != nil && !errors.Is(err, linear.ErrNotConverged) {
		return nil, err
	}
	return &learnt{f.Coefficients, linear.Decide(part[float32]{c.table, c.train, c.rows - c.train}, f.Coefficients)}, nil
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
// which these rows have not been seen.
type stochastic struct {
	problem
	dsg     *linear.DSG
	draw    *prg.Stream
	table   *linear.Phases[float64]
	seen    []int // directions in which each row is known
	batch   []int // of the iteration under way, ascending
	block   int   // directions of an iteration
	waiting []fdskl.Request
	last    fdskl.Span // directions of the last request
	asked   bool       // for the held-out rows
	err     error
}

func newStochastic(p problem, seed [32]byte) (*stochastic, error) {
	l, m := p.job.Learner, p.job.Protocol.Directions
	dsg, err := linear.NewDSG(p.out.Y.Rows, linear.DSGParams{Loss: p.loss, Rate: l.Rate, Lambda: l.Lambda, PerDirection: 2})
	if err != nil {
		return nil, err
	}
	block := 1
	if l.Iterations > 0 {
		block = (m + l.Iterations - 1) / l.Iterations
	}
	return &stochastic{
		problem: p, dsg: dsg, draw: prg.New(seed, "fdskl/batches"), block: block, seen: make([]int, p.rows),
		table: linear.NewPhases[float64](p.rows, m, p.job.Protocol.Bits).Unscaled(),
	}, nil
}

// Next implements fdskl.Schedule.
func (s *stochastic) Next() (fdskl.Request, bool) {
	if len(s.waiting) == 0 {
		s.iterate()
	}
	if len(s.waiting) == 0 || s.err != nil {
		return fdskl.Request{}, false
	}
	next := s.waiting[0]
	s.waiting, s.last = s.waiting[1:], next.Directions
	return next, true
}

// iterate learns from the last batch, if there is one, and asks for the next, or
// at the end for the held-out rows.
func (s *stochastic) iterate() {
	if s.batch != nil {
		s.err = s.step()
		s.batch = nil
	}
	made, all := s.dsg.Features()/2, s.job.Protocol.Directions
	switch {
	case made < all:
		s.batch = s.drawRows(max(1, s.job.Learner.Batch))
		s.ask(s.batch, min(made+s.block, all))
	case !s.asked && s.rows > s.train:
		s.asked = true
		s.ask(rowsFrom(s.train, s.rows), all)
	}
}

// drawRows draws different training rows, ascending.
func (s *stochastic) drawRows(n int) []int {
	if n == 1 {
		return []int{int(s.draw.Uint64n(uint64(s.train)))}
	}
	rows := s.draw.Perm(s.train)[:min(n, s.train)]
	slices.Sort(rows)
	return rows
}

func rowsFrom(first, end int) []int {
	rows := make([]int, end-first)
	for i := range rows {
		rows[i] = first + i
	}
	return rows
}

// ask asks for all directions up to one in which rows have not been seen. Rows
// that have been seen in as many go together.
func (s *stochastic) ask(rows []int, end int) {
	groups := make(map[int][]int)
	var known []int // keys, in the order in which they are met
	for _, r := range rows {
		if groups[s.seen[r]] == nil {
			known = append(known, s.seen[r])
		}
		groups[s.seen[r]] = append(groups[s.seen[r]], r)
		s.seen[r] = end
	}
	for _, first := range known {
		for at := first; at < end; at += s.atOnce() {
			s.waiting = append(s.waiting, fdskl.Request{
				Rows: fdskl.Spans(groups[first]...), Directions: fdskl.Span{First: at, Count: min(s.atOnce(), end-at)},
			})
		}
	}
}

// Answer implements fdskl.Schedule.
func (s *stochastic) Answer(rows []int, words []byte) {
	width := len(words) / len(rows)
	for i := 0; i < len(rows); {
		n := 1
		for i+n < len(rows) && rows[i+n] == rows[i]+n {
			n++
		}
		s.table.Put(words[i*width:(i+n)*width], rows[i], n, s.last.First, s.last.Count)
		i += n
	}
}

// step is an iteration on the batch.
func (s *stochastic) step() error {
	first := s.dsg.Features()
	count := min(2*s.block, s.table.Features()-first)
	targets := linalg.New[float64](s.out.Y.Rows, len(s.batch))
	for k := range targets.Rows {
		for i, r := range s.batch {
			targets.Row(k)[i] = s.out.Y.Row(k)[r]
		}
	}
	u, phi := s.dsg.Decide(s.table, s.batch), linalg.New[float64](count, len(s.batch))
	s.table.ReadAt(phi, first, s.batch)
	if s.job.Protocol.Training == job.Precond {
		return s.dsg.StepNewton(phi, u, targets, newtonRho)
	}
	s.dsg.Step(phi, u, targets)
	return nil
}

func (s *stochastic) learn() (*learnt, error) {
	if s.err != nil {
		return nil, s.err
	}
	w := s.dsg.Coefficients()
	return &learnt{w, linear.Decide(part[float64]{s.table, s.train, s.rows - s.train}, w)}, nil
}
