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

// partner is the solver of an active worker in a job whose active workers take turns. Each worker
// has the coefficients of its own directions. The decision function is the sum of all workers'
// parts. Each iteration uses one row and one direction, so the model equals the model of a single worker
// with all labels that draws the same rows and directions.
type partner struct {
	problem
	*fdskl.Book // the requests for the worker's own directions, which are numbered from 0
	first       int
	optimizer   *linear.Stochastic      // the optimizer over the rows that this worker draws
	table       *linear.Phases[float64] // the phases for the worker's own directions
	own         columns.Spread          // the rows that this worker draws and the held-out rows that it judges
	asked       []int                   // the rows of the current request
	learning    bool                    // true if the current request is for learning, and false if it is for judging
	judged      int                     // the number of rows of own.HeldOut that this worker has requested
	decisions   []float64               // the decisions about the judged rows
}

// judgedAtOnce is the largest number of held-out rows in one request of a worker. With this limit,
// the decisions' parts and a request for scattered rows each fit into one message.
const judgedAtOnce = 1 << 12

// partnerOf returns the solver of the active worker with the given index. The worker draws and
// evaluates its own rows. weight scales the loss of each label.
func partnerOf(p problem, index int, own columns.Spread, weight float64, seed [32]byte) (*partner, error) {
	if p.out.Y.Rows > 1 {
		return nil, errors.New("several active workers need two classes, but the labels have more; let one party be active")
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

// weighted is a loss multiplied by a constant weight.
type weighted struct {
	linear.Loss
	weight float64
}

func (l weighted) Value(u, y float64) float64 { return l.weight * l.Loss.Value(u, y) }
func (l weighted) Slope(u, y float64) float64 { return l.weight * l.Loss.Slope(u, y) }
func (l weighted) Curvature() float64         { return l.weight * l.Loss.Curvature() }

// Next implements fdskl.Schedule. It requests the row of the next iteration or, after all
// iterations, some of the held-out rows.
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

// ask requests the missing phases of the given rows in the worker's own directions.
func (s *partner) ask(rows []int, features int) (fdskl.Request, bool) {
	s.Want(rows, features/2)
	q, more := s.Book.Next()
	q.Directions.First += s.first
	return q, more
}

// Answer stores the phases of the last request; it implements fdskl.Schedule.
func (s *partner) Answer(rows []int, words []byte) { put(s.table, rows, words, s.Directions()) }

// Share returns this worker's part of the decisions about another worker's rows; it implements
// fdskl.Partner. A training row belongs to another worker's iteration, in which all workers'
// coefficients decay.
func (s *partner) Share(rows []int) ([]float64, fdskl.Request, bool) {
	if q, missing := s.ask(rows, s.optimizer.Features()); missing {
		return nil, q, false
	}
	u := s.optimizer.Decide(s.table, rows)
	if rows[0] < s.train {
		s.optimizer.Decay()
	}
	if slices.Max(rows) >= s.train {
		s.skipRows(rows)
	}
	return u.Row(0), fdskl.Request{}, true
}

// skipRows removes the given held-out rows from the rows that this worker will judge, because
// another worker has requested them first.
func (s *partner) skipRows(rows []int) {
	theirs := make(map[int]bool)
	for _, row := range rows {
		theirs[row] = true
	}
	left := slices.DeleteFunc(s.own.HeldOut[s.judged:], func(row int) bool { return theirs[row] })
	s.own.HeldOut = s.own.HeldOut[:s.judged+len(left)]
}

// Shares receives the sum of the other workers' parts of the decisions and completes the iteration.
// It implements fdskl.Partner.
func (s *partner) Shares(sum []float64) {
	u := s.optimizer.Decide(s.table, s.asked)
	for i, v := range sum {
		u.Row(0)[i] += v
	}
	if s.learning {
		s.err = s.optimizer.LearnFrom(rowMapping{s.table, s.own.Training}, u)
		return
	}
	s.decisions = append(s.decisions, u.Row(0)...)
}

// rowMapping maps the optimizer's row numbers, which count the worker's own rows, to rows of the
// phases.
type rowMapping struct {
	*linear.Phases[float64]
	rows []int
}

func (d rowMapping) ReadAt(dst linalg.Matrix[float64], feature int, rows []int) {
	d.Phases.ReadAt(dst, feature, linalg.At(d.rows, rows))
}

func (s *partner) Learn(func() error) (*Learnt, error) {
	decisions := linalg.New[float64](1, len(s.decisions))
	copy(decisions.Row(0), s.decisions)
	return &Learnt{Coefficients: s.optimizer.Coefficients(), Decisions: decisions, several: true}, s.err
}
