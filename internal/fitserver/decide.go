package fitserver

import (
	"fmt"

	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// blockValues is the greatest number of kernel values of several rows that decide computes at a time: 32 MB.
const blockValues = 4 << 20

// decide returns the values of functions for the rows X: D, rows x functions. The request has the array
// coef, functions x support vectors, and rho, one for each function, as fit returns them for support vector
// machines, and the support vectors V. Function k of row x is sum_s coef(k, s) K(x, V_s) - rho_k.
func (q *request) decide() (answer, error) {
	coef, err := q.matrix("coef")
	if err != nil {
		return answer{}, err
	}
	rho := q.floats("rho")
	if len(rho) != coef.Rows {
		return answer{}, fmt.Errorf("there are %d values of rho for %d functions", len(rho), coef.Rows)
	}
	rows, values, err := q.crossValues()
	if err != nil {
		return answer{}, err
	}
	out := linalg.New[float64](rows, coef.Rows)
	step := max(1, blockValues/max(coef.Cols, 1))
	for lo := 0; lo < rows; lo += step {
		block := values(lo, min(lo+step, rows))
		if block.Cols != coef.Cols {
			return answer{}, fmt.Errorf("each row has kernel values with %d rows, but each function has %d coefficients; the numbers must be equal", block.Cols, coef.Cols)
		}
		some := out.Panel(lo, lo+block.Rows)
		linalg.MulTransB(some, block, coef)
		for r := range some.Rows {
			linalg.Axpy(-1, rho, some.Row(r))
		}
	}
	return answer{Arrays: []array{floatArray("D", out.Data, out.Rows, out.Cols)}}, nil
}

// couple returns the probabilities of the classes: P, rows x classes. D holds the decisions of a
// classifier, rows x pairs, and A and B the sigmoids that calibrate returned.
func (q *request) couple() (answer, error) {
	decisions, err := q.matrix("D")
	if err != nil {
		return answer{}, err
	}
	a, b := q.floats("A"), q.floats("B")
	pairs := q.Classes * (q.Classes - 1) / 2
	if q.Classes < 2 || q.Classes > svm.MaxClasses || decisions.Cols != pairs || len(a) != pairs || len(b) != pairs {
		return answer{}, fmt.Errorf("%d classes need decisions and sigmoids of %d pairs, but there are %d decisions, %d A and %d B", q.Classes, pairs, decisions.Cols, len(a), len(b))
	}
	c := svm.Calibration{Classes: q.Classes, Sigmoids: make([]svm.Sigmoid, pairs)}
	for k := range c.Sigmoids {
		c.Sigmoids[k] = svm.Sigmoid{A: a[k], B: b[k]}
	}
	p := c.Probabilities(decisions)
	return answer{Arrays: []array{floatArray("P", p.Data, p.Rows, p.Cols)}}, nil
}
