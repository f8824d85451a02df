package noised

import (
	"io"
	"math"
	"math/big"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/privacy"
)

// Parties returns the members that add noise to sums: every party of the job. Each party knows its own noise. So the
// noise of the other parties alone gives the guarantee, towards the coordinator and towards each single party.
func Parties(j *job.Job) privacy.Summands {
	n := len(j.Parties())
	return privacy.Summands{Honest: n - 1, All: n}
}

// Spending holds the cost of one sum of errors on held-out rows.
type Spending struct {
	Most  int64   // the most that one row adds to the sum, in magnitude
	Share float64 // part of rho; the parts of all sums add up to 1
}

// Sums lists the costs of sums of errors on held-out rows, and converts noise in these sums to noise in
// metrics.
type Sums interface {
	// Spends lists what each sum costs.
	Spends() []Spending
	// Deviations returns the standard deviations of metrics. Argument of holds the standard deviations of the sums, which
	// are over the given number of rows.
	Deviations(rows int64, sums []int64, of []float64) learner.Metrics
}

// RightAnswers is the one sum of a classification: the right answers, in thousandths.
type RightAnswers struct{}

// Spends implements [Sums].
func (RightAnswers) Spends() []Spending { return []Spending{{moments.Thousand, 1}} }

// Deviations implements [Sums].
func (RightAnswers) Deviations(rows int64, _ []int64, of []float64) learner.Metrics {
	return learner.Metrics{"accuracy": of[0] / moments.Thousand / float64(rows)}
}

// UnitErrors are the sums of a regression, in the order of [moments.MeasureUnitNumbers].
type UnitErrors struct{ Half float64 } // half of the range of the labels

// UnitErrorsOf returns the sums of a regression on numbers in a range.
func UnitErrorsOf(r moments.Range) UnitErrors { return UnitErrors{(r.Greatest - r.Least) / 2} }

// Spends implements [Sums]. Half of the budget is for the squared errors, from which rmse follows.
// The rest is for the two other sums, which only r2 needs.
func (UnitErrors) Spends() []Spending {
	return []Spending{{moments.SquaredOne, .25}, {moments.SquaredOne, .25}, {moments.UnitSquare, .5}}
}

// Deviations implements [Sums]. The deviation of rmse is a first-order approximation.
func (e UnitErrors) Deviations(rows int64, sums []int64, of []float64) learner.Metrics {
	square := max(float64(sums[2]), of[2]) / moments.SquaredOne / float64(rows)
	return learner.Metrics{"rmse": e.Half * of[2] / moments.SquaredOne / float64(rows) / (2 * math.Sqrt(square))}
}

// Errors holds one party's noise in each sum of errors.
type Errors []privacy.Noise

// Errors returns the noise of the sums of errors in a job of the parties.
func (p *Privacy) Errors(costs []Spending, parties privacy.Summands) (list Errors, err error) {
	for _, s := range costs {
		square := new(big.Int).Mul(big.NewInt(s.Most), big.NewInt(s.Most))
		one, err := privacy.NewNoise(s.Share*p.Rho(), square, 1, parties)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// Blur adds the noise to the sums. The argument random is the source of random bytes for
// [privacy.Noise.Draw].
func (e Errors) Blur(sums []int64, random io.Reader) error {
	for i, one := range e {
		var v [1]int64
		if err := one.Draw(v[:], random); err != nil {
			return err
		}
		sums[i] += v[0]
	}
	return nil
}

// Deviations returns the standard deviations of all parties' noise in the sums.
func (e Errors) Deviations() []float64 {
	list := make([]float64, len(e))
	for i, one := range e {
		list[i] = one.Deviation()
	}
	return list
}

// Room returns the greatest noise of one party in any of the sums for which the sums have room; 0 without noise.
func (e Errors) Room() (most int64) {
	for _, one := range e {
		most = max(most, Room(one))
	}
	return most
}

// Room returns the greatest noise of one party in one entry for which sums have room: 40 standard deviations. Greater
// noise has a probability of less than 2^-1000, and ends the session.
func Room(of privacy.Noise) int64 {
	const deviations = 40
	return deviations * (new(big.Int).Sqrt(of.Variance).Int64() + 1)
}
