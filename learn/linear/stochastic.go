package linear

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
)

// Stochastic makes the iterations of [DSG] on rows with targets: each draws a
// batch and a block of new features, which the caller brings in between.
//
//	for rows, features := s.Draw(); rows != nil; rows, features = s.Draw() {
//		// source must know the rows in that number of first features
//		err := s.Learn(source)
//	}
type Stochastic struct {
	*DSG
	course  Course
	targets linalg.Matrix[float64] // outputs x rows
	draw    Drawer
	batch   []int // of the iteration under way, ascending
}

// Course describes the iterations of a training.
type Course struct {
	DSGParams
	Batch    int // rows of an iteration, >= 1
	Block    int // new features of an iteration; the last one may have fewer
	Features int // of all iterations
	// Rho > 0 makes steps of Newton's method, see [DSG.StepNewton]; 0: plain ones.
	Rho float64
}

// Drawer draws numbers at random: below n, and 0 to n-1 in random order.
type Drawer interface {
	Uint64n(n uint64) uint64
	Perm(n int) []int
}

// NewStochastic returns a training on rows with the given targets, outputs x rows,
// that has not begun.
func NewStochastic(c Course, targets linalg.Matrix[float64], draw Drawer) (*Stochastic, error) {
	d, err := NewDSG(targets.Rows, c.DSGParams)
	if err != nil {
		return nil, err
	}
	switch per := d.params.PerDirection; {
	case targets.Cols < 1:
		return nil, errors.New("linear: there are no rows to learn from")
	case c.Batch < 1 || c.Block < 1 || c.Features < 1 || c.Block%per != 0 || c.Features%per != 0:
		return nil, fmt.Errorf("linear: batches of %d rows, blocks of %d of %d features; they must be positive, and features multiples of %d", c.Batch, c.Block, c.Features, per)
	case !(c.Rho >= 0):
		return nil, fmt.Errorf("linear: rho is %v; it must be positive, or 0 for plain steps", c.Rho)
	}
	return &Stochastic{DSG: d, course: c, targets: targets, draw: draw}, nil
}

// Draw begins an iteration: it returns the rows of its batch, ascending, and in how
// many features, from the first on, they will be read. It returns nil once all
// iterations are made.
func (s *Stochastic) Draw() (rows []int, features int) {
	s.batch = nil
	if s.Features() >= s.course.Features {
		return nil, s.Features()
	}
	s.batch = s.drawn()
	return s.batch, s.Features() + s.fresh()
}

// fresh returns the number of features that are new in the next iteration.
func (s *Stochastic) fresh() int { return min(s.course.Block, s.course.Features-s.Features()) }

func (s *Stochastic) drawn() []int {
	n := s.targets.Cols
	if s.course.Batch == 1 {
		return []int{int(s.draw.Uint64n(uint64(n)))}
	}
	rows := s.draw.Perm(n)[:min(s.course.Batch, n)]
	slices.Sort(rows)
	return rows
}

// Learn makes the step that belongs to the rows drawn last, by features from t.
func (s *Stochastic) Learn(t Sampler) error { return s.LearnFrom(t, s.Decide(t, s.batch)) }

// LearnFrom is Learn where others have coefficients, too: u holds the decisions of all
// about the rows drawn last, outputs x rows.
func (s *Stochastic) LearnFrom(t Sampler, u linalg.Matrix[float64]) error {
	if s.batch == nil {
		return errors.New("linear: no rows have been drawn to learn from")
	}
	phi, y := linalg.New[float64](s.fresh(), len(s.batch)), linalg.New[float64](u.Rows, len(s.batch))
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
