package ridge

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// GPParams are the parameters of a Gaussian process besides its kernel's parameters.
type GPParams struct {
	// Amplitude is a factor of the kernel, above 0. 0 means 1.
	Amplitude float64
	// Noise is the variance of a measurement around the truth, in squared units of the targets. It
	// is at least 0.
	Noise float64
	// Interrupt, if not nil, is called from time to time. If it returns an error, the fit ends and
	// returns this error wrapped. A context's method Err can be used.
	Interrupt func() error
}

func (p GPParams) filled() GPParams {
	if p.Amplitude == 0 {
		p.Amplitude = 1
	}
	if p.Interrupt == nil {
		p.Interrupt = func() error { return nil }
	}
	return p
}

// Validate checks p. Its errors name the field.
func (p GPParams) Validate() error {
	p = p.filled()
	switch {
	case !(p.Amplitude > 0) || math.IsInf(p.Amplitude, 1):
		return fmt.Errorf("ridge: amplitude is %v; it must be finite and above 0", p.Amplitude)
	case !(p.Noise >= 0) || math.IsInf(p.Noise, 1):
		return fmt.Errorf("ridge: noise is %v; it must be finite and at least 0", p.Noise)
	}
	return nil
}

// GP is a Gaussian process conditioned on its training rows. It is read only and safe for
// concurrent use. It keeps the factor of n x n values that the deviations need.
type GP struct {
	Params                GPParams
	Dual                  []float64 // (Amplitude K + Noise I)^-1 targets
	LogMarginalLikelihood float64   // log p(targets | rows), in nats
	// Condition estimates the condition number of Amplitude K + Noise I in the 1-norm. Dual has
	// about 16 - log10(Condition) correct digits.
	Condition float64

	factor linalg.Matrix[float64]
}

// FitGP fits a Gaussian process of mean 0 to noisy targets (Rasmussen and Williams 2006, algorithm
// 2.1). Its covariance is Amplitude K. The source src is the kernel of the n training rows, and
// targets has n finite values. It fails if Amplitude K + Noise I is not positive definite.
func FitGP(src kernel.Source, targets []float64, p GPParams) (*GP, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	p = p.filled()
	s, err := solve(src, targets, p.Amplitude, p.Noise, p.Interrupt)
	if err != nil {
		return nil, err
	}
	evidence := likelihood(s.factor, s.dual, targets)
	if evidence-evidence != 0 {
		return nil, errOverflow
	}
	p.Interrupt = nil // the fitted model must not keep the caller's function
	return &GP{Params: p, Dual: s.dual, LogMarginalLikelihood: evidence, Condition: s.condition, factor: s.factor}, nil
}

// likelihood computes the log marginal likelihood by Rasmussen and Williams' equation 2.30.
func likelihood(l linalg.Matrix[float64], dual, targets []float64) float64 {
	fit := 0.0
	for i, y := range targets {
		fit += y * dual[i]
	}
	return -(fit + linalg.LogDet(l) + float64(len(targets))*math.Log(2*math.Pi)) / 2
}

// Predict returns the mean for m rows, in the unit of the targets. The matrix cross is the kernel
// (without Amplitude) of these rows with the n training rows, m x n; another width panics.
func (g *GP) Predict(cross linalg.Matrix[float64]) []float64 {
	checkWidth(cross, len(g.Dual))
	out := make([]float64, cross.Rows)
	linalg.MulVec(out, cross, g.Dual)
	for i := range out {
		out[i] *= g.Params.Amplitude
	}
	return out
}

// Deviations returns the standard deviation of a new measurement at each of m rows, in the unit of
// the targets. It includes Noise, as in scikit-learn with a WhiteKernel. The deviation of the true
// value, without noise, is sqrt(deviation^2 - Noise). The argument cross is the kernel of the rows
// with the n training rows, m x n, and prior is the kernel of each row with itself; neither
// contains the factor Amplitude. Deviations panics at other sizes. It takes m n^2 / 2
// multiplications.
func (g *GP) Deviations(cross linalg.Matrix[float64], prior []float64) []float64 {
	checkWidth(cross, len(g.Dual))
	if len(prior) != cross.Rows {
		panic(fmt.Sprintf("ridge: %d prior variances for %d rows", len(prior), cross.Rows))
	}
	v := linalg.New[float64](cross.Rows, cross.Cols)
	for i := range v.Rows {
		copy(v.Row(i), cross.Row(i))
	}
	linalg.SolveLower(g.factor, v)
	explained := make([]float64, v.Rows)
	linalg.SquaredNorms(explained, v)
	out, a := make([]float64, v.Rows), g.Params.Amplitude
	for i := range out {
		// Rounding errors can make the variance of a training row negative.
		out[i] = math.Sqrt(max(0, a*prior[i]-a*a*explained[i]) + g.Params.Noise)
	}
	return out
}
