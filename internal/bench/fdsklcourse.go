package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/learn/linear"
)

// learnt is a lesson with the learning curves of its courses.
type learnt struct {
	lesson
	curves [][]snapshot
}

// raceExam studies every course once; nothing takes turns, since the error counts and not the
// time.
func raceExam(ctx context.Context, e exam, lib catalogue.Library, pages curvePages) (race, error) {
	l, err := e.lesson(lib)
	if err := errors.Join(err, pages.open()); err != nil {
		return race{}, err
	}
	got := learnt{lesson: l}
	for _, c := range l.courses {
		s, err := l.study(ctx, c)
		if err != nil {
			return race{}, fmt.Errorf("%s, %s: %w", l.name, c.mode, err)
		}
		got.curves = append(got.curves, s)
	}
	if err := pages.write(got); err != nil {
		return race{}, err
	}
	return race{rows: func([]span) []Row { return got.rows() }}, nil
}

// near is the margin by which an error may exceed the reference implementation's test error,
// since the reference has other splits and other draws.
const near = .03

// rows are the errors of each mode at the end and at a few moments before.
func (l learnt) rows() []Row {
	var rows []Row
	for i, c := range l.courses {
		for k, s := range l.curves[i] {
			last := len(l.curves[i]) - 1
			if (last-k)%3 != 0 {
				continue
			}
			name := fmt.Sprintf("%s, %s, %d %s", l.name, c.mode, s.iterations, c.steps())
			row := figure(name+", test error", s.wrong, "")
			if k == last && c.reference != nil {
				row = row.beside("the reference implementation", *c.reference).within(*c.reference + near)
			}
			rows = append(rows, row, figure(name+", processor time", s.cpu, "s"))
		}
	}
	return rows
}

// steps names the mode's iterations.
func (c course) steps() string {
	if c.rows == 0 {
		return "passes"
	}
	return "iterations"
}

// String tells the settings.
func (c course) String() string {
	text := fmt.Sprintf("%d directions, kernel length %v median distances, loss %s, lambda %v", c.directions, c.length, lossName(c.loss), c.lambda)
	if c.rows > 0 {
		text = fmt.Sprintf("%d rows and %d directions an iteration, rate %v, ", c.rows, c.block, c.rate) + text
	}
	if c.rho > 0 {
		text += fmt.Sprintf(", Newton's step with rho %v", c.rho)
	}
	return text
}

func lossName(l linear.Loss) string {
	if l == (linear.SmoothHinge{}) {
		return "smooth-hinge"
	}
	return "logistic"
}
