package bench

import (
	"fmt"

	"github.com/mercer-fl/mercer/learn/linear"
)

// learnt is a lesson with the learning curves of its courses.
type learnt struct {
	lesson
	curves [][]snapshot
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
