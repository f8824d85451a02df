package linear

import (
	"fmt"
	"math"
)

// Loss is the cost of a decision u if the target is y. The target is +1 or -1 for classes, and a
// number in regression. It is convex, and its second derivative in u is at most Curvature.
type Loss interface {
	Value(u, y float64) float64
	Slope(u, y float64) float64 // derivative of Value with respect to u
	Curvature() float64
}

// Square is the loss (u - y)^2 of classification and regression. Its slope is unbounded.
type Square struct{}

// Value returns (u - y)^2.
func (Square) Value(u, y float64) float64 { return (u - y) * (u - y) }

// Slope returns 2 (u - y).
func (Square) Slope(u, y float64) float64 { return 2 * (u - y) }

// Curvature returns 2.
func (Square) Curvature() float64 { return 2 }

// Logistic is the loss log(1 + exp(-yu)) of classification. Its decisions correspond to
// probabilities (see [Sigmoid]).
type Logistic struct{}

// Value returns log(1 + exp(-yu)), without overflow.
func (Logistic) Value(u, y float64) float64 {
	z := y * u
	return max(0, -z) + math.Log1p(math.Exp(-math.Abs(z)))
}

// Slope returns -y / (1 + exp(yu)).
func (Logistic) Slope(u, y float64) float64 { return -y / (1 + math.Exp(y*u)) }

// Curvature returns 1/4.
func (Logistic) Curvature() float64 { return 0.25 }

// SmoothHinge is the hinge loss of classification with its corner rounded (Gu et al. 2020, table
// 1). With z = yu, it is 1/2 - z up to z = 0, (1-z)^2 / 2 up to z = 1, and then 0.
type SmoothHinge struct{}

// Value returns the smooth hinge loss.
func (SmoothHinge) Value(u, y float64) float64 {
	z := y * u
	if z <= 0 {
		return 0.5 - z
	}
	rest := max(0, 1-z)
	return rest * rest / 2
}

// Slope returns the derivative of the smooth hinge loss with respect to u.
func (SmoothHinge) Slope(u, y float64) float64 { return -y * max(0, min(1, 1-y*u)) }

// Curvature returns 1.
func (SmoothHinge) Curvature() float64 { return 1 }

// Huber is a loss of regression (Huber 1964). It is (u-y)^2 / 2 up to an error of Delta > 0 and
// linear beyond, so that its slope is at most Delta.
type Huber struct{ Delta float64 }

// NewHuber returns the loss with the given delta, which must be positive and finite.
func NewHuber(delta float64) (Huber, error) {
	if !(delta > 0) || math.IsInf(delta, 1) {
		return Huber{}, fmt.Errorf("linear: the delta of the loss \"huber\" is %v; it must be positive and finite", delta)
	}
	return Huber{delta}, nil
}

// Value returns the Huber loss.
func (h Huber) Value(u, y float64) float64 {
	off := math.Abs(u - y)
	if off <= h.Delta {
		return off * off / 2
	}
	return h.Delta * (off - h.Delta/2)
}

// Slope returns u - y, limited to the range from -Delta to Delta.
func (h Huber) Slope(u, y float64) float64 { return max(-h.Delta, min(h.Delta, u-y)) }

// Curvature returns 1.
func (Huber) Curvature() float64 { return 1 }

// Sign returns the class of a decision: +1 if it is at least 0, else -1.
func Sign(u float64) float64 {
	if u >= 0 {
		return 1
	}
	return -1
}

// Sigmoid returns the probability of class +1 for a decision u with the logistic loss.
func Sigmoid(u float64) float64 { return 1 / (1 + math.Exp(-u)) }
