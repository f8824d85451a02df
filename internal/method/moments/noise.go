package moments

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/noised"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/privacy"
	"github.com/mercer-fl/mercer/protocol"
)

// noise describes the noise that each party adds to its summands in a job with differential privacy.
// Everything in it follows from the job file and the number of columns.
type noise struct {
	privacy.Ridge
	square  float64 // the greatest squared length of a row's features
	heldOut noised.Errors
}

// blurred is an objective whose sums get noise. It rounds nothing, because the noise hides single rows.
type blurred interface {
	objective
	noised.Sums
}

// errIndefinite ends a job whose noise has made the sums indefinite. A job that draws noise again is another release.
var errIndefinite = fault.BadInput(errors.New("moments: the noise makes the sums of products indefinite, which happens once in a million jobs; submit the job again, which spends the privacy again"))

// noiseOf returns the noise of a job with the given number of features; nil for a job without privacy.
func noiseOf(j *job.Job, features int) (*noise, error) {
	k := job.As[*Keys](j.Protocol)
	l, private := objectiveOf(j).(blurred)
	if !private {
		return nil, nil
	}
	of, square := noised.Parties(j), squaredFeatures(j, features)
	ridge, err := privacy.NewRidge(k.Privacy.Guarantee, privacy.Shape{
		Features: features, Targets: l.width(),
		SquaredFeatures: privacy.Nearest(math.Sqrt(square), fractionBits, features), SquaredTargets: moments.One * moments.One, Summands: of,
	})
	if err != nil {
		return nil, fmt.Errorf("moments: %w", err)
	}
	heldOut, err := k.Privacy.Errors(l.Spends(), of)
	if err != nil {
		return nil, fmt.Errorf("moments: %w", err)
	}
	return &noise{ridge, square, heldOut}, nil
}

// squaredFeatures returns the greatest squared length of a row's features. The squares of cosines
// and sines add up to half of the number of features; linear features have a length of at most 1.
func squaredFeatures(j *job.Job, features int) float64 {
	if isLinear(j) {
		return 1
	}
	return float64(features) / 2
}

// fractionBits is the binary logarithm of [moments.One].
const fractionBits = 16

// ridge returns alpha for features in a unit in which the features of a row have a length of at most 1.
func (n *noise) ridge() float64 { return float64(n.Alpha()) / (n.square * moments.One * moments.One) }

// alphas returns the one value of the regulariser; nil without noise.
func (n *noise) alphas() []float64 {
	if n == nil {
		return nil
	}
	return []float64{moments.NoisyAlpha(n.Ridge)}
}

// stream returns the random bytes of a party's noise in a session. They follow from the session's
// seed, so that a replay repeats the noise, and from the session's ID, so that another session has
// other noise.
func stream(s protocol.Setup, of string) *prg.Stream {
	id := s.Session.ID()
	return prg.New(s.Seed, "moments/noise of "+of, id[:])
}

// blur adds the party's noise to its moments.
func (n *noise) blur(of *moments.Partial, s protocol.Setup) error {
	outer, cross := make([]int64, len(of.Outer)), make([]int64, len(of.Cross))
	if err := n.Draw(outer, cross, stream(s, "sums")); err != nil {
		return err
	}
	for i, v := range outer {
		of.Outer[i] += v
	}
	for i, v := range cross {
		of.Cross[i] += v
	}
	return nil
}

// blurErrors adds the party's noise to its sums of errors.
func (n *noise) blurErrors(figures []int64, s protocol.Setup) error {
	return n.heldOut.Blur(figures, stream(s, "errors"))
}

// blurredClasses is like [classRidge] for sums with noise. The targets of a row have length 1, for
// any number of classes: two classes share one target.
type blurredClasses struct {
	classRidge
	noised.RightAnswers
}

var _ blurred = blurredClasses{}

func (c blurredClasses) of(labels []string) moments.UnitClasses {
	return moments.UnitClasses{Codes: c.codes(labels), Count: len(c.classRidge)}
}

func (c blurredClasses) targets(labels []string, _ int) (moments.Targets, error) {
	return c.of(labels), nil
}

func (c blurredClasses) width() int {
	_, targets := c.of(nil).Shape()
	return targets
}

func (c blurredClasses) solve(s *moments.Sums, alpha float64) (*fitted, error) {
	one, err := moments.Solve(s, alpha)
	if err != nil {
		return nil, errIndefinite
	}
	return &fitted{solution: c.of(nil).Outputs(one)}, nil
}

func (c blurredClasses) round(figures []int64, _ int) []int64 {
	return []int64{moments.Thousand * figures[0]}
}

// evaluate computes the accuracy. Noise can put the count of right answers beyond its bounds.
func (c blurredClasses) evaluate(s *moments.Sums, t *fitted, rows int64, figures []int64) (*results, error) {
	return c.classRidge.evaluate(s, t, rows, []int64{min(max(figures[0], 0), moments.Thousand*rows)})
}

// blurredNumbers is like [numberRidge] for sums with noise. It has no sums of the numbers and of
// their squares, and cuts numbers to their range.
type blurredNumbers struct {
	numberRidge
	noised.UnitErrors
}

var _ blurred = blurredNumbers{}

func (n blurredNumbers) of(labels []string) (moments.UnitNumbers, error) {
	values, err := dataset.Targets(labels)
	return moments.UnitNumbers{Values: values, Range: n.within}, err
}

func (n blurredNumbers) targets(labels []string, _ int) (moments.Targets, error) {
	return n.of(labels)
}

func (n blurredNumbers) width() int  { return 1 }
func (n blurredNumbers) totals() int { return 0 }

func (n blurredNumbers) solve(s *moments.Sums, alpha float64) (*fitted, error) {
	one, err := moments.Solve(s, alpha)
	if err != nil {
		return nil, errIndefinite
	}
	return &fitted{solution: moments.UnitNumbers{Range: n.within}.Outputs(one)}, nil
}

func (n blurredNumbers) measurer(m feature.Mapping, t *fitted) (measurer, error) {
	return func(rows linalg.Rows, labels []string) ([]int64, error) {
		y, err := n.of(labels)
		if err != nil {
			return nil, err
		}
		e, err := moments.MeasureUnitNumbers(m, t.solution, rows, y)
		if err != nil {
			return nil, err
		}
		return []int64{e.Truth, e.Power, e.Squared}, nil
	}, nil
}

func (n blurredNumbers) round(figures []int64, _ int) []int64 { return figures }

// evaluate computes rmse and, unless the sums show too little variation of the numbers, r2. It takes 0 for sums of
// squares that the noise has made negative.
func (n blurredNumbers) evaluate(s *moments.Sums, t *fitted, rows int64, figures []int64) (*results, error) {
	return n.numberRidge.evaluate(s, t, rows, []int64{figures[0], max(figures[1], 0), max(figures[2], 0)})
}
