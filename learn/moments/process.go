package moments

import (
	"math"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// Process computes standard deviations of a Gaussian process. [Regress] computes the mean. The
// kernel is 2/M phi.phi, and measurements have the variance Noise Unit^2.
type Process struct {
	Noise float64 // variance of the noise, on the scale where the numbers have variance 1
	Unit  float64 // standard deviation of the numbers

	factor linalg.Matrix[float64] // Cholesky factor of A + Noise M/2 I
}

// NewProcess computes a process from the matrix outer, which is A One^2. The noise is a variance,
// and unit comes from [Unit].
func NewProcess(outer linalg.Matrix[float64], noise, unit float64) (*Process, error) {
	l, err := factor(outer, noise*float64(outer.Rows)/2)
	return &Process{noise, unit, l}, err
}

// Unit returns the standard deviation of the summed numbers. It returns 1 if all numbers are equal.
func Unit(s *Sums, r Range) float64 {
	if v := s.variance(); v > 0 {
		return r.half() * math.Sqrt(v)
	}
	return 1
}

// Deviations returns the standard deviation of a new measurement for each row of phi, which holds
// features. With s^2 the noise, a deviation is Unit times the root of
// phi^T (A/s^2 + M/2 I)^-1 phi + s^2 (Rasmussen and Williams 2006, equation 2.11).
func (p *Process) Deviations(phi linalg.Matrix[float64]) []float64 {
	solved := linalg.New[float64](phi.Rows, phi.Cols)
	for i := range phi.Rows {
		copy(solved.Row(i), phi.Row(i))
	}
	linalg.SolveLower(p.factor, solved)
	out := make([]float64, phi.Rows)
	linalg.SquaredNorms(out, solved)
	for i, v := range out {
		out[i] = p.Unit * math.Sqrt(p.Noise*v+p.Noise)
	}
	return out
}

// Measure returns the sum of the standard deviations over rows, in the unit of [NumberErrors]. The
// second result counts, in 1/Thousand, the rows whose numbers are within 1.96 deviations of the
// mean that s predicts.
func (p *Process) Measure(m feature.Mapping, s Solution, rows linalg.Rows, y Numbers) (deviation, within int64, err error) {
	if err := checkSizes(m, s, rows, len(y.Values)); err != nil {
		return 0, 0, err
	}
	eachPanel(m, rows, func(lo int, phi linalg.Matrix[float64]) {
		means := s.At(phi)
		for i, d := range p.Deviations(phi) {
			deviation += int64(math.RoundToEven(min(d/y.Range.half(), Clip) * SquaredOne))
			if math.Abs(means.Row(i)[0]-y.Values[lo+i]) <= 1.96*d {
				within += Thousand
			}
		}
	})
	return deviation, within, nil
}

// LogMarginalLikelihood returns log p(numbers | rows) of a process in nats. The numbers are scaled
// to mean 0 and variance 1 (Rasmussen and Williams 2006, equation 2.30, by the determinant lemma).
// It needs only the sums.
func LogMarginalLikelihood(s *Sums, noise float64) (float64, error) {
	n, m := float64(s.Rows), float64(s.Outer.Rows)
	l, err := factor(s.Outer, noise*m/2)
	if err != nil {
		return 0, err
	}
	mean, variance := s.mean(), s.variance()
	if variance == 0 {
		variance = 1
	}
	b := linalg.New[float64](1, s.Cross.Cols)
	for k, v := range s.Cross.Row(1) {
		b.Data[k] = (v - mean*s.Cross.Row(0)[k]) / (One * One)
	}
	linalg.SolveLower(l, b)
	explained := make([]float64, 1)
	linalg.SquaredNorms(explained, b)
	fit := (n*s.variance() - explained[0]) / variance / noise
	// This is the log determinant of the n x n covariance matrix 2/M Phi Phi^T + noise I.
	determinant := linalg.LogDet(l) - m*math.Log(m/2) + (n-m)*math.Log(noise)
	return -(fit + determinant + n*math.Log(2*math.Pi)) / 2, nil
}
