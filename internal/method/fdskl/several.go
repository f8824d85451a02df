package fdskl

import (
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// partner is the training of one of several active workers, who take turns: each has the
// coefficients of its own directions, and the decision function is the sum of all their
// parts. With one row and one direction at a time, the model equals the model of one worker
// who has all labels and directions.
type partner struct {
	problem
	*fdskl.Book // of own directions, counted from 0
	first       int
	course      *linear.Stochastic
	table       *linear.Phases[float64] // of own directions
	batch       []int                   // the row of the iteration under way
	judge       bool                    // asks all for their parts at held-out rows
	judged      int                     // of held-out rows
	decisions   linalg.Matrix[float64]  // 1 x held-out rows; at the judge
}

// judgedAtOnce limits the held-out rows that the judge asks about in one turn, so that their
// parts fit into a message.
const judgedAtOnce = 1 << 15

// Next implements fdskl.Schedule: an iteration, or at the judge, after all
// iterations, a part of the held-out rows.
func (s *partner) Next() (fdskl.Request, bool) {
	rows, features := s.course.Draw()
	s.batch = rows
	switch {
	case s.err != nil:
		return fdskl.Request{}, false
	case rows == nil && s.judge:
		rows = linalg.Range(s.train+s.judged, min(s.train+s.judged+judgedAtOnce, s.rows))
	}
	return s.ask(rows, features)
}

// ask asks for the unknown phases of rows in own directions.
func (s *partner) ask(rows []int, features int) (fdskl.Request, bool) {
	s.Want(rows, features/2)
	q, more := s.Book.Next()
	q.Directions.First += s.first
	return q, more
}

// Answer implements fdskl.Schedule.
func (s *partner) Answer(rows []int, words []byte) { put(s.table, rows, words, s.Directions()) }

// Share implements fdskl.Partner. A training row belongs to another worker's
// iteration, by which everybody's coefficients decay.
func (s *partner) Share(rows []int) ([]float64, fdskl.Request, bool) {
	if q, missing := s.ask(rows, s.course.Features()); missing {
		return nil, q, false
	}
	u := s.course.Decide(s.table, rows)
	if rows[0] < s.train {
		s.course.Decay()
	}
	return u.Row(0), fdskl.Request{}, true
}

// Shares implements fdskl.Partner.
func (s *partner) Shares(sum []float64) {
	rows := s.batch
	if rows == nil {
		rows = linalg.Range(s.train+s.judged, s.train+s.judged+len(sum))
	}
	u := s.course.Decide(s.table, rows)
	for i, v := range sum {
		u.Row(0)[i] += v
	}
	if s.batch != nil {
		s.err = s.course.LearnFrom(s.table, u)
		return
	}
	s.judged += copy(s.decisions.Row(0)[s.judged:], u.Row(0))
}

func (s *partner) Learn(func() error) (*Learnt, error) {
	return &Learnt{Coefficients: s.course.Coefficients(), Decisions: s.decisions, several: true}, s.err
}
