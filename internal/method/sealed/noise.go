package sealed

import (
	"fmt"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/noised"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// With privacy, noise protects training rows and held-out rows. The keepers add noise to the sums over the training
// rows, inside the protocol. Each party adds noise to its errors on its held-out rows. Nobody is in both kinds of rows,
// so each kind has the whole guarantee.

// privacyOf returns the privacy of a job.
func privacyOf(j *job.Job) *noised.Privacy { return &job.As[*Keys](j.Protocol).Privacy }

// blurred is a target whose sums of errors get noise. It rounds nothing, because the noise hides single rows.
type blurred interface {
	target
	noised.Sums
}

// heldOutNoise returns the parties' noise in the sums of errors; nil without privacy.
func heldOutNoise(j *job.Job) (noised.Errors, error) {
	to, private := targetOf(j).(blurred)
	if !private {
		return nil, nil
	}
	list, err := privacyOf(j).Errors(to.Spends(), noised.Parties(j))
	if err != nil {
		return nil, fmt.Errorf("sealed: %w", err)
	}
	return list, nil
}

// blurErrors adds the party's noise to its sums of errors. The noise follows from the seed of the session, so that a
// replay repeats the noise, and from the session's ID, so that another session has other noise.
func blurErrors(j *job.Job, figures []int64, setup protocol.Setup) error {
	list, err := heldOutNoise(j)
	if err != nil {
		return err
	}
	id := setup.Session.ID()
	return list.Blur(figures, prg.New(setup.Seed, "sealed/noise of errors", id[:]))
}

// blurredClasses is like [classes] for errors with noise.
type blurredClasses struct {
	classes
	noised.RightAnswers
}

var _ blurred = blurredClasses{}

func (c blurredClasses) round(figures []int64, _ int) []int64 {
	return []int64{moments.Thousand * figures[0]}
}

// metrics cuts the count of right answers to its bounds, which noise can exceed.
func (c blurredClasses) metrics(rows int64, figures []int64) learner.Metrics {
	return c.classes.metrics(rows, []int64{min(max(figures[0], 0), moments.Thousand*rows)})
}

// blurredNumbers is like [numbers] for errors with noise. It cuts numbers to their range.
type blurredNumbers struct {
	numbers
	noised.UnitErrors
}

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

// metrics takes 0 for sums of squares that the noise has made negative.
func (n blurredNumbers) metrics(rows int64, figures []int64) learner.Metrics {
	return n.numbers.metrics(rows, []int64{figures[0], max(figures[1], 0), max(figures[2], 0)})
}
