package linear

import (
	"errors"
	"fmt"
	"math"
)

// Assumptions holds the assumptions of the convergence theorem for doubly stochastic gradients with
// a constant step (Gu et al. 2020, assumption 1 and theorem 4).
type Assumptions struct {
	Lambda float64 // regulariser of the objective, above 0
	// Slope bounds the loss's first derivative, and Lipschitz bounds the second derivative. The
	// square loss has no bound on its derivative.
	Slope, Lipschitz float64
	Kernel           float64 // largest value of the kernel, 1 for rbf and laplacian
	Feature          float64 // largest product of two features, 2 for sqrt(2) cos
	Distance         float64 // squared norm of the initial error, about |f*|^2 for the solution f*
}

// Guarantee holds the step length and the number of iterations of the theorem. With steps of at
// most Rate, the expected squared error of a decision is at most the requested error after
// Iterations.
type Guarantee struct{ Rate, Iterations float64 }

// Guarantee returns the theorem's step length and number of iterations for an expected squared
// error of epsilon, which is above 0. These two numbers are for information and too strict for use:
// with lambda 1e-3, an error of .01 and the smooth hinge loss the step is 2e-13, with some 10^16 iterations.
//
// The constant G2 of the paper's appendix lacks the factor Lipschitz that lemma 5 gives to the
// corresponding term; this function includes it. The theorem is about one learner with one row
// and one direction at a time, in sequence.
func (a Assumptions) Guarantee(epsilon float64) (Guarantee, error) {
	for _, v := range []float64{a.Lambda, a.Slope, a.Lipschitz, a.Kernel, a.Feature, a.Distance, epsilon} {
		if !(v > 0) || math.IsInf(v, 1) {
			return Guarantee{}, fmt.Errorf("linear: the assumptions of the convergence theorem are %+v with an error of %v; every number must be positive and finite", a, epsilon)
		}
	}
	spread := a.Slope * (math.Sqrt(a.Kernel) + math.Sqrt(a.Feature))
	g1 := 2 * a.Kernel * a.Slope * a.Slope / a.Lambda
	g2 := math.Sqrt(a.Kernel) * spread * a.Lipschitz / (2 * math.Pow(a.Lambda, 1.5))
	b := math.Pow(math.Sqrt(g2*g2+g1)+g2, 2)

	// The theorem bounds the step by epsilon / (8 kernel B), 1 / lambda and epsilon lambda / (4
	// spread^2).
	rate := epsilon / (8 * a.Kernel * b)
	rate = min(rate, 1/a.Lambda, epsilon*a.Lambda/(4*spread*spread))
	log := math.Log(8 * a.Kernel * a.Distance / epsilon)
	if !(rate > 0) {
		return Guarantee{}, errors.New("linear: the step of the convergence theorem is rounded to 0; choose a larger lambda or error")
	}
	// The theorem's number of iterations is 8 kernel B log / (theta epsilon lambda). Here theta is
	// 8 kernel B rate / epsilon.
	return Guarantee{Rate: rate, Iterations: max(0, log/(rate*a.Lambda))}, nil
}
