package fdskl

import (
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// partner is the training of one of several active workers that take turns. Each has the
// coefficients of its own directions, and the decision function is the sum of all parts. With one
// row and one direction at a time, the model equals that of a single worker with all labels and
// directions.
type partner struct {
	problem
	*fdskl.Book // of own directions, counted from 0
	first       int
	optimizer   *linear.Stochastic      // on the rows that this worker draws
	table       *linear.Phases[float64] // of own directions
	own         columns.Spread          // the rows that this worker draws, and those that it judges
	asked       []int                   // rows of the request under way
	learning    bool                    // from them; or else they are judged
	judged      int                     // of own.HeldOut, with those under way
	decisions   []float64               // about these
}

// judgedAtOnce limits the held-out rows that a worker requests in one turn, so that their
// parts, and a request for scattered rows, fit into a message.
const judgedAtOnce = 1 << 12

// partnerOf returns the training of the active worker with the given index. It draws and evaluates
// its own rows, whose targets are the outputs out. weight scales the loss of each label.
func partnerOf(p problem, index int, own columns.Spread, weight float64, seed [32]byte) (*partner, error) {
	if p.out.Y.Rows > 1 {
		return nil, errors.New("several active workers need two classes, and the labels have more; let one party be active")
	}
	if weight != 1 {
		p.loss = weighted{p.loss, weight}
	}
	bits, directions := keysOf(p.job).Bits, OwnDirections(p.job)
	s := &partner{
		problem: p, Book: fdskl.NewBook(p.rows, bits), first: index * directions, own: own,
		table: linear.NewPhases[float64](p.rows, directions, bits).Unscaled(),
	}
	var err error
	s.optimizer, err = linear.NewStochastic(p.optimizerParamsOf(directions), p.out.Y, prg.New(seed, "fdskl/batches"))
	return s, err
}

// weighted is a loss times a number.
type weighted struct {
	linear.Loss
	weight float64
}

func (l weighted) Value(u, y float64) float64 { return l.weight * l.Loss.Value(u, y) }
func (l weighted) Slope(u, y float64) float64 { return l.weight * l.Loss.Slope(u, y) }
func (l weighted) Curvature() float64         { return l.weight * l.Loss.Curvature() }

// Next implements fdskl.Schedule: an iteration or, after all iterations, a part of the held-out
// rows.
func (s *partner) Next() (fdskl.Request, bool) {
	if s.err != nil {
		return fdskl.Request{}, false
	}
	drawn, features := s.optimizer.Draw()
	if s.learning = drawn != nil; s.learning {
		s.asked = linalg.At(s.own.Training, drawn)
		return s.ask(s.asked, features)
	}
	left := s.own.HeldOut[s.judged:]
	s.asked = left[:min(judgedAtOnce, len(left))]
	s.judged += len(s.asked)
	return s.ask(s.asked, features)
}

// ask requests the missing phases of rows in the worker's own directions.
func (s *partner) ask(rows []int, features int) (fdskl.Request, bool) {
	s.Want(rows, features/2)
	q, more := s.Book.Next()
	q.Directions.First += s.first
	return q, more
}

// Answer implements fdskl.Schedule.
func (s *partner) Answer(rows []int, words []byte) { put(s.table, rows, words, s.Directions()) }

// Share implements fdskl.Partner. A training row belongs to another worker's iteration, in which
// all workers' coefficients decay.
func (s *partner) Share(rows []int) ([]float64, fdskl.Request, bool) {
	if q, missing := s.ask(rows, s.optimizer.Features()); missing {
		return nil, q, false
	}
	u := s.optimizer.Decide(s.table, rows)
	if rows[0] < s.train {
		s.optimizer.Decay()
	}
	if slices.Max(rows) >= s.train {
		s.leave(rows)
	}
	return u.Row(0), fdskl.Request{}, true
}

// leave leaves held-out rows to the worker that requests them first.
func (s *partner) leave(rows []int) {
	theirs := make(map[int]bool)
	for _, row := range rows {
		theirs[row] = true
	}
	left := slices.DeleteFunc(s.own.HeldOut[s.judged:], func(row int) bool { return theirs[row] })
	s.own.HeldOut = s.own.HeldOut[:s.judged+len(left)]
}

// Shares implements fdskl.Partner.
func (s *partner) Shares(sum []float64) {
	u := s.optimizer.Decide(s.table, s.asked)
	for i, v := range sum {
		u.Row(0)[i] += v
	}
	if s.learning {
		s.err = s.optimizer.LearnFrom(drawn{s.table, s.own.Training}, u)
		return
	}
	s.decisions = append(s.decisions, u.Row(0)...)
}

// drawn numbers the rows that a worker draws from 0.
type drawn struct {
	*linear.Phases[float64]
	rows []int
}

func (d drawn) ReadAt(dst linalg.Matrix[float64], feature int, rows []int) {
	d.Phases.ReadAt(dst, feature, linalg.At(d.rows, rows))
}

func (s *partner) Learn(func() error) (*Learnt, error) {
	decisions := linalg.New[float64](1, len(s.decisions))
	copy(decisions.Row(0), s.decisions)
	return &Learnt{Coefficients: s.optimizer.Coefficients(), Decisions: decisions, several: true}, s.err
}
