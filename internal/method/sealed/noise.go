package sealed

import (
	"fmt"
	"math"
	"math/big"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/noised"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/privacy"
	"github.com/mercer-fl/mercer/protocol"
)

// With privacy, two kinds of people have noise. Of training rows the keepers add it to the sums, inside the protocol. Of
// held-out rows each party adds it to its errors. Nobody is in both, so each kind has the whole guarantee.

// privacyOf returns the privacy of a job.
func privacyOf(j *job.Job) *noised.Privacy { return &job.As[*Keys](j.Protocol).Privacy }

// blurred is a target whose sums of errors get noise. It rounds nothing, because the noise hides single rows.
type blurred interface {
	target
	// spends lists what each sum of errors costs.
	spends() []spending
	// deviations returns the standard deviations of metrics that follow from those of the sums of errors.
	deviations(rows int64, figures []int64, of []float64) learner.Metrics
}

// spending is the cost of one sum of errors.
type spending struct {
	most  int64   // the most that one row adds to the sum, in magnitude
	share float64 // part of rho; the parts of all sums add up to 1
}

// membersNoise says who adds noise to errors: every party of the job. Each knows its own, and so the others' alone gives
// the guarantee, towards the coordinator and towards each party by itself.
func membersNoise(j *job.Job) privacy.Summands {
	n := len(j.Parties())
	return privacy.Summands{Honest: n - 1, All: n}
}

// heldOutNoise returns the noise of each sum of errors; nil without privacy.
func heldOutNoise(j *job.Job) ([]privacy.Noise, error) {
	to, private := targetOf(j).(blurred)
	if !private {
		return nil, nil
	}
	var list []privacy.Noise
	for _, s := range to.spends() {
		square := new(big.Int).Mul(big.NewInt(s.most), big.NewInt(s.most))
		one, err := privacy.NewNoise(s.share*privacyOf(j).Rho(), square, 1, membersNoise(j))
		if err != nil {
			return nil, fmt.Errorf("sealed: %w", err)
		}
		list = append(list, one)
	}
	return list, nil
}

// room is the magnitude, in standard deviations of one party's noise, for which the sums of errors have room. A larger
// noise has a probability of less than 2^-1000, and ends the session.
const room = 40

// roomFor returns the largest of one party's numbers of some noise, for which the sums have room.
func roomFor(list []privacy.Noise) (most int64) {
	for _, one := range list {
		sigma := new(big.Int).Sqrt(one.Variance)
		most = max(most, room*(sigma.Int64()+1))
	}
	return most
}

// blurErrors adds the party's noise to its sums of errors. The noise follows from the seed of the session, so that a
// replay repeats it, and from the session, so that another one never does.
func blurErrors(j *job.Job, figures []int64, setup protocol.Setup) error {
	list, err := heldOutNoise(j)
	if err != nil {
		return err
	}
	id := setup.Session.ID()
	random := prg.New(setup.Seed, "sealed/noise of errors", id[:])
	for i, one := range list {
		var v [1]int64
		if err := one.Draw(v[:], random); err != nil {
			return err
		}
		figures[i] += v[0]
	}
	return nil
}

// blurredClasses is like [classes] for errors with noise.
type blurredClasses struct{ classes }

var _ blurred = blurredClasses{}

func (c blurredClasses) round(figures []int64, _ int) []int64 {
	return []int64{moments.Thousand * figures[0]}
}

func (c blurredClasses) spends() []spending { return []spending{{moments.Thousand, 1}} }

// metrics cuts the count of right answers to its bounds, which noise can exceed.
func (c blurredClasses) metrics(rows int64, figures []int64) learner.Metrics {
	return c.classes.metrics(rows, []int64{min(max(figures[0], 0), moments.Thousand*rows)})
}

func (c blurredClasses) deviations(rows int64, _ []int64, of []float64) learner.Metrics {
	return learner.Metrics{"accuracy": of[0] / moments.Thousand / float64(rows)}
}

// blurredNumbers is like [numbers] for errors with noise. It cuts numbers to their range.
type blurredNumbers struct{ numbers }

var _ blurred = blurredNumbers{}

func (n blurredNumbers) of(labels []string) (moments.UnitNumbers, error) {
	values, err := dataset.Targets(labels)
	return moments.UnitNumbers{Values: values, Range: moments.Range(n.numbers)}, err
}

func (n blurredNumbers) values(labels []string) (linalg.Matrix[float64], error) {
	y := linalg.New[float64](1, len(labels))
	list, err := n.of(labels)
	if err == nil {
		list.Columns(y, 0)
	}
	return y, err
}

func (n blurredNumbers) measure(m feature.Mapping, s moments.Solution, rows linalg.Rows, labels []string) ([]int64, error) {
	y, err := n.of(labels)
	if err != nil {
		return nil, err
	}
	e, err := moments.MeasureUnitNumbers(m, s, rows, y)
	if err != nil {
		return nil, err
	}
	return []int64{e.Truth, e.Power, e.Squared}, nil
}

func (n blurredNumbers) round(figures []int64, _ int) []int64 { return figures }

// spends gives half of the budget to the squared errors, from which rmse follows, and the rest to the sums that only r2
// needs beside it.
func (n blurredNumbers) spends() []spending {
	return []spending{{moments.SquaredOne, .25}, {moments.SquaredOne, .25}, {moments.UnitSquare, .5}}
}

// metrics cuts sums of squares, which noise can make negative.
func (n blurredNumbers) metrics(rows int64, figures []int64) learner.Metrics {
	return n.numbers.metrics(rows, []int64{figures[0], max(figures[1], 0), max(figures[2], 0)})
}

// deviations returns that of rmse alone, to first order.
func (n blurredNumbers) deviations(rows int64, figures []int64, of []float64) learner.Metrics {
	square := max(float64(figures[2]), of[2]) / moments.SquaredOne / float64(rows)
	return learner.Metrics{"rmse": n.half() * of[2] / moments.SquaredOne / float64(rows) / (2 * math.Sqrt(square))}
}
