package secvm

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Limits on every model, whatever the [Limits] of a device.
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
	Bins   int // number of bins into which names of features are hashed, or of columns
	Hashes int // number of bins into which each name is hashed; 0 means 1. If there are several, an attacker can intersect them
	// Columns gives every column of a public list its own bin, instead of hashing names into bins.
	// Then a device names its features by the columns' numbers, from 1, and Hashes must be 0.
	Columns  bool
	Packages int // number of packages that every device sends in each window
	Cohort   int // least number of participants for a step; with fewer, the window is repeated
	// Classes makes participants reveal their labels, so that the classes can have different
	// weights.
	Classes bool
	// MaxWeight is the largest absolute value of each weight that the gateway may publish,
	// including the bias; 0 means 1e3. Radius is the largest Euclidean norm of the weights; 0 means
	// no limit, as in the paper.
	MaxWeight, Radius float64
}

// Params is a checked [Spec] with its defaults filled in. It does not change.
type Params struct {
	spec Spec
	tag  uint64
}

// NewParams fills in the defaults of a spec and returns an error if a setting is not allowed.
func NewParams(s Spec) (Params, error) {
	if s.Hashes == 0 && !s.Columns {
		s.Hashes = 1
	}
	if s.MaxWeight == 0 {
		s.MaxWeight = 1e3
	}
	switch {
	case s.Name == "" || len(s.Name) > maxName:
		return Params{}, fmt.Errorf("secvm: the model's name is empty or too long; use 1 to %d bytes", maxName)
	case s.Bins < 1 || s.Bins > maxBins:
		return Params{}, fmt.Errorf("secvm: the model has %d bins; use 1 to %d", s.Bins, maxBins)
	case s.Columns && s.Hashes != 0:
		return Params{}, fmt.Errorf("secvm: the model has %d hashes, but columns are not hashed; leave out Hashes or Columns", s.Hashes)
	case !s.Columns && (s.Hashes < 1 || s.Hashes > maxHashes):
		return Params{}, fmt.Errorf("secvm: the model has %d hashes; use 1 to %d", s.Hashes, maxHashes)
	case s.Packages < 3 || s.Packages > maxPackages:
		return Params{}, fmt.Errorf("secvm: each device sends %d packages; use 3 (for participation, bias and one feature) to %d", s.Packages, maxPackages)
	case s.Cohort < 2 || s.Cohort > maxCohort:
		return Params{}, fmt.Errorf("secvm: the cohort has %d participants; use 2 to %d", s.Cohort, maxCohort)
	case !(s.Radius >= 0) || math.IsInf(s.Radius, 0):
		return Params{}, fmt.Errorf("secvm: the radius is %g; use 0, which does not limit the norm of the weights, or a finite number above 0", s.Radius)
	case !(s.MaxWeight > 0) || math.IsInf(s.MaxWeight, 0):
		return Params{}, fmt.Errorf("secvm: the largest weight is %g; use a finite number above 0", s.MaxWeight)
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

// Room returns the number of packages that a device can use for its features in each window. Of its
// other two packages, one reports that the device takes part, and one carries the bias.
func (p Params) Room() int { return p.spec.Packages - 2 }

// Tokens returns the number of tokens that every device fetches for an iteration. A device needs
// one token for each package, and another to show the relay before the device sends packages.
func (p Params) Tokens() int { return Tokens(p.spec.Packages) }

// Tokens returns the number of tokens for a model with the given number of packages; see
// [Params.Tokens].
func Tokens(packages int) int { return packages + 1 }

// Encode returns the canonical encoding of the parameters. If the encoding has 0 hashes, the model
// has columns, which are not hashed.
func (p Params) Encode() []byte {
	var w wire.Writer
	w.String(p.spec.Name)
	for _, v := range []int{p.spec.Bins, p.spec.Hashes, p.spec.Packages, p.spec.Cohort} {
		w.Uint32(uint32(v))
	}
	w.Bool(p.spec.Classes)
	w.Float64(p.spec.MaxWeight)
	if p.spec.Radius > 0 { // models that are older than this setting have no radius
		w.Float64(p.spec.Radius)
	}
	return w.Bytes()
}

// DecodeParams decodes the output of [Params.Encode] and checks the parameters.
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
		return Params{}, errors.New("secvm: the parameters are not in canonical form, because a default is missing; encode the Params that NewParams returns")
	}
	return NewParams(s)
}

// Tag returns a number that distinguishes the packages of different models, even if the models have
// the same name.
func (p Params) Tag() uint64 { return p.tag }

// Outcome holds the number of test packages of one class, and the number of correct guesses among
// them.
type Outcome struct{ Total, Correct uint64 }

// Census holds the counts of a window's participants and the results of the window's tests.
type Census struct {
	Participants [2]uint64  // numbers of participants with label -1 and +1; the first counts all if labels are not revealed
	Tests        [2]Outcome // test results for label -1 and +1
}

// Count returns the number of participants with either label.
func (c Census) Count() int { return int(c.Participants[0] + c.Participants[1]) }

// Outcomes returns the results of the tests for label -1 and +1.
func (c Census) Outcomes() [2]Outcome { return c.Tests }

// totalWeight returns the sum of the participants' class weights.
func (c Census) totalWeight(minus, plus float64) float64 {
	return minus*float64(c.Participants[0]) + plus*float64(c.Participants[1])
}

// checkClassWeights returns an error if the class weights differ but participants do not reveal
// their labels.
func (p Params) checkClassWeights(minus, plus float64) error {
	if minus != plus && !p.spec.Classes {
		return fmt.Errorf("secvm: the class weights %g and %g differ, but participants do not reveal their labels; set Classes in the Spec, or use equal weights", minus, plus)
	}
	return nil
}
