package svm

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// FitSigmoid fits the parameters A and B of a sigmoid by maximum likelihood, for targets slightly
// off 0 and 1. There is one decision f for each row, and first is whether the row belongs to the
// first class. FitSigmoid uses Newton's method with backtracking (H.-T. Lin, C.-J. Lin, R. Weng, A
// note on Platt's probabilistic outputs for support vector machines, Machine Learning 68, 2007,
// algorithm 1). If the fit does not converge, the last sigmoid comes beside an error that wraps
// [ErrNotConverged].
func FitSigmoid(f []float64, first []bool) (Sigmoid, error) {
	const (
		iterations = 100
		ridge      = 1e-12 // added to the diagonal of the Hessian matrix, so that it is positive definite
		small      = 1e-5  // the fit ends if both first derivatives are smaller
	)
	target, prior := plattTargets(first)
	s := Sigmoid{B: prior}
	value := logLoss(s, f, target)
	for range iterations {
		g, h := derivatives(s, f, target)
		if math.Abs(g[0]) < small && math.Abs(g[1]) < small {
			return s, nil
		}
		haa, hbb, hab := h[0]+ridge, h[1]+ridge, h[2]
		det := haa*hbb - hab*hab
		da, db := -(hbb*g[0]-hab*g[1])/det, -(haa*g[1]-hab*g[0])/det
		next, loss, ok := lineSearch(s, value, da, db, g, f, target)
		if !ok {
			return s, nil // the step is too small to change a rounded number
		}
		s, value = next, loss
	}
	return s, fmt.Errorf("the fit of the sigmoid for probabilities is %w after %d steps: scale the data or lower C", ErrNotConverged, iterations)
}

// plattTargets returns the sigmoid's target for each row, and an initial value of B.
func plattTargets(first []bool) (target []float64, b float64) {
	positive := 0.0
	for _, is := range first {
		if is {
			positive++
		}
	}
	negative := float64(len(first)) - positive
	target = make([]float64, len(first))
	for i, is := range first {
		target[i] = 1 / (negative + 2)
		if is {
			target[i] = (positive + 1) / (positive + 2)
		}
	}
	return target, math.Log((negative + 1) / (positive + 1))
}

// logLoss returns the negative log likelihood, in a form that does not overflow.
func logLoss(s Sigmoid, f, target []float64) float64 {
	sum := 0.0
	for i, t := range target {
		v := s.A*f[i] + s.B
		if v >= 0 {
			sum += t*v + math.Log1p(math.Exp(-v))
		} else {
			sum += (t-1)*v + math.Log1p(math.Exp(v))
		}
	}
	return sum
}

// derivatives returns the derivatives of logLoss. The result g holds the first derivatives by A and
// B, and h the second derivatives by AA, BB and AB.
func derivatives(s Sigmoid, f, target []float64) (g [2]float64, h [3]float64) {
	for i, t := range target {
		p := s.Probability(f[i])
		w, d := p*(1-p), t-p
		g[0] += f[i] * d
		g[1] += d
		h[0] += f[i] * f[i] * w
		h[1] += w
		h[2] += f[i] * w
	}
	return g, h
}

// lineSearch shortens a Newton step until the step reduces the loss enough. It returns false if no
// step does.
func lineSearch(s Sigmoid, value, da, db float64, g [2]float64, f, target []float64) (Sigmoid, float64, bool) {
	const shortest, enough = 1e-10, 1e-4
	slope := g[0]*da + g[1]*db
	for step := 1.0; step >= shortest; step /= 2 {
		next := Sigmoid{s.A + step*da, s.B + step*db}
		if loss := logLoss(next, f, target); loss < value+enough*step*slope {
			return next, loss, true
		}
	}
	return s, value, false
}

// couple computes class probabilities from the probabilities of all pairs of classes. It minimises
// sum_i sum_j (r_ji p_i - r_ij p_j)^2 under sum p = 1 (T.-F. Wu, C.-J. Lin, R. Weng, Probability
// estimates for multi-class classification by pairwise coupling, JMLR 5, 2004, algorithm 2). The
// problem is convex. Two classes solve it by their own probabilities. For more classes the iteration
// converges, in about a dozen sweeps to a tolerance of 1e-10.
func couple(p []float64, r linalg.Matrix[float64], tol float64) {
	classes := len(p)
	if classes == 2 {
		p[0], p[1] = r.Row(0)[1], r.Row(1)[0]
		return
	}
	q := linalg.New[float64](classes, classes)
	for i := range classes {
		p[i] = 1 / float64(classes)
		for j := range classes {
			if i != j {
				q.Row(i)[i] += r.Row(j)[i] * r.Row(j)[i]
				q.Row(i)[j] = -r.Row(j)[i] * r.Row(i)[j]
			}
		}
	}
	qp := make([]float64, classes)
	for range 100 {
		if isOptimal(qp, q, p, tol) {
			return
		}
		sweep(p, qp, q)
	}
}

// isOptimal reports whether the class probabilities p are optimal. They are if all entries of Q p
// equal p'Qp to within tol divided by the number of classes. It stores Q p in qp.
func isOptimal(qp []float64, q linalg.Matrix[float64], p []float64, tol float64) bool {
	value := products(qp, q, p)
	worst := 0.0
	for _, v := range qp {
		worst = max(worst, math.Abs(v-value))
	}
	return worst < tol/float64(len(p))
}

// products stores Q p in qp and returns p'Qp.
func products(qp []float64, q linalg.Matrix[float64], p []float64) float64 {
	value := 0.0
	for i := range p {
		qp[i] = 0
		for j, v := range q.Row(i) {
			qp[i] += v * p[j]
		}
		value += p[i] * qp[i]
	}
	return value
}

// sweep improves the probabilities one after the other.
func sweep(p, qp []float64, q linalg.Matrix[float64]) {
	value := 0.0
	for i := range p {
		value += p[i] * qp[i]
	}
	for i := range p {
		d := (value - qp[i]) / q.Row(i)[i]
		p[i] += d
		value = (value + d*(d*q.Row(i)[i]+2*qp[i])) / (1 + d) / (1 + d)
		for j := range p {
			qp[j] = (qp[j] + d*q.Row(i)[j]) / (1 + d)
			p[j] /= 1 + d
		}
	}
}
