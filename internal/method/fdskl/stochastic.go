package fdskl

import (
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

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

// courseOf are the iterations that the job wants, over some directions.
func (p *problem) courseOf(directions int) linear.Course {
	_, l := learner.CourseOf(p.job)
	c := linear.Course{
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
		rows = linalg.Range(s.train, s.rows)
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

func (s *stochastic) Learn(func() error) (*Learnt, error) {
	if s.err != nil {
		return nil, s.err
	}
	w := s.course.Coefficients()
	return &Learnt{Coefficients: w, Decisions: linear.Decide(part[float64]{s.table, s.train, s.rows - s.train}, w)}, nil
}
