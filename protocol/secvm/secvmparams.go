package secvm

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Bounds on the models in which devices take part, whatever their [Limits].
const (
	maxBins     = 1 << 20
	maxHashes   = 8
	maxPackages = 1 << 14
	maxCohort   = 1 << 30
	maxName     = 64
)

// Spec describes a model to be trained.
type Spec struct {
	Name   string
	Bins   int // of the hashed features
	Hashes int // bins for one name; 0: 1. With more, an attacker can intersect bins
	// Columns turns hashing off: every column of a public list has its own bin, and a
	// device names its features by the columns' numbers, from 1. Hashes must be 0.
	Columns  bool
	Packages int // that every device sends in each window
	Cohort   int // fewest participants for a step; with fewer the window is repeated
	// Classes has participants reveal their label, so that the classes can be weighted.
	Classes bool
	// MaxWeight bounds each weight that the gateway may publish, the bias included, and
	// Radius bounds their Euclidean norm. 0 means 1e3 for MaxWeight, and no bound for
	// Radius, as published.
	MaxWeight, Radius float64
}

// Params is a checked spec. It does not change.
type Params struct {
	spec Spec
	tag  uint64
}

// NewParams checks a spec.
func NewParams(s Spec) (Params, error) {
	if s.Hashes == 0 && !s.Columns {
		s.Hashes = 1
	}
	if s.MaxWeight == 0 {
		s.MaxWeight = 1e3
	}
	switch {
	case s.Name == "" || len(s.Name) > maxName:
		return Params{}, fmt.Errorf("secvm: a model's name has 1 to %d bytes", maxName)
	case s.Bins < 1 || s.Bins > maxBins:
		return Params{}, fmt.Errorf("secvm: %d bins; use 1 to %d", s.Bins, maxBins)
	case s.Columns && s.Hashes != 0:
		return Params{}, fmt.Errorf("secvm: %d hashes, but columns are not hashed; leave out hashes or columns", s.Hashes)
	case !s.Columns && (s.Hashes < 1 || s.Hashes > maxHashes):
		return Params{}, fmt.Errorf("secvm: %d hashes; use 1 to %d", s.Hashes, maxHashes)
	case s.Packages < 3 || s.Packages > maxPackages:
		return Params{}, fmt.Errorf("secvm: %d packages for each device; use 3 (that it takes part, its bias, one feature) to %d", s.Packages, maxPackages)
	case s.Cohort < 2 || s.Cohort > maxCohort:
		return Params{}, fmt.Errorf("secvm: cohort is %d; use 2 to %d participants", s.Cohort, maxCohort)
	case !(s.Radius >= 0) || math.IsInf(s.Radius, 0):
		return Params{}, fmt.Errorf("secvm: the radius of the ball of weights is %g; use 0, for no ball, or a number above 0", s.Radius)
	case !(s.MaxWeight > 0) || math.IsInf(s.MaxWeight, 0):
		return Params{}, fmt.Errorf("secvm: the greatest weight is %g; use a number above 0", s.MaxWeight)
	}
	p := Params{spec: s}
	sum := sha256.Sum256(append([]byte("mercer/v1/secvm/tag\x00"), p.Encode()...))
	p.tag = binary.LittleEndian.Uint64(sum[:])
	return p, nil
}

// Spec returns the spec with its defaults filled in.
func (p Params) Spec() Spec { return p.spec }

// Features returns the length of a weight vector: the number of bins plus one for the bias,
// which is last.
func (p Params) Features() int { return p.spec.Bins + 1 }

// Room returns the greatest number of feature units that a device can send. One more
// package reports that it takes part, and one carries the bias.
func (p Params) Room() int { return p.spec.Packages - 2 }

// Tokens returns the number of tokens that every device fetches for an iteration: one for
// each package and, last, the token that it shows the relay before it sends packages.
func (p Params) Tokens() int { return Tokens(p.spec.Packages) }

// Tokens returns [Params.Tokens] of a model with the given number of packages.
func Tokens(packages int) int { return packages + 1 }

// Encode returns the canonical bytes. Zero hashes mark columns that are not hashed.
func (p Params) Encode() []byte {
	var w wire.Writer
	w.String(p.spec.Name)
	for _, v := range []int{p.spec.Bins, p.spec.Hashes, p.spec.Packages, p.spec.Cohort} {
		w.Uint32(uint32(v))
	}
	w.Bool(p.spec.Classes)
	w.Float64(p.spec.MaxWeight)
	if p.spec.Radius > 0 { // models from before Radius existed have none
		w.Float64(p.spec.Radius)
	}
	return w.Bytes()
}

// DecodeParams decodes the bytes that Encode returns, and checks the parameters.
func DecodeParams(b []byte) (Params, error) {
	r := wire.NewReader(b)
	s := Spec{Name: r.String(maxName)}
	for _, dst := range []*int{&s.Bins, &s.Hashes, &s.Packages, &s.Cohort} {
		*dst = int(r.Uint32())
	}
	s.Columns = s.Hashes == 0
	s.Classes = r.Bool()
	s.MaxWeight = r.Float64()
	ball := r.Len() > 0
	if ball {
		s.Radius = r.Float64()
	}
	if err := r.Close("secvm: parameters"); err != nil {
		return Params{}, err
	}
	if s.MaxWeight == 0 || ball && s.Radius == 0 {
		return Params{}, errors.New("secvm: the parameters leave out a default; encode them again")
	}
	return NewParams(s)
}

// Tag distinguishes the packages of different models, even of models with one name.
func (p Params) Tag() uint64 { return p.tag }

// Outcome counts the test packages of one class, and the correct guesses among them.
type Outcome struct{ Total, Correct uint64 }

// Census counts the devices that took part in a window, and the results of its tests.
type Census struct {
	Participants [2]uint64  // of label -1 and of +1; all in the first if labels are not revealed
	Tests        [2]Outcome // of label -1 and of +1
}

// Count returns the number of participants.
func (c Census) Count() int { return int(c.Participants[0] + c.Participants[1]) }

// Outcomes returns the results of the tests.
func (c Census) Outcomes() [2]Outcome { return c.Tests }

// weight returns the sum of the participants' weights.
func (c Census) weight(minus, plus float64) float64 {
	return minus*float64(c.Participants[0]) + plus*float64(c.Participants[1])
}

// weighable refuses class weights where participants do not reveal their label.
func (p Params) weighable(minus, plus float64) error {
	if minus != plus && !p.spec.Classes {
		return fmt.Errorf("secvm: class weights of %g and %g need the participants' labels; set classes, or use equal weights", minus, plus)
	}
	return nil
}
