package secvm

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Bounds of what devices take part in, whatever their own [Limits] say.
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
	Hashes int // bins that one name falls into; 0: 1. More let bins be intersected
	// Columns says that nothing is hashed: every column of a public list has a bin of its own,
	// and a device names its features by the columns' numbers, from 1. There are no Hashes.
	Columns  bool
	Packages int // that every device sends in each window, whatever it has to say
	Cohort   int // fewest participants for a step; with fewer a window goes on
	// Classes says that participants tell their label, so that the classes can be
	// weighted.
	Classes bool
	// MaxWeight bounds each of the weights that the gateway may publish, and Radius
	// their Euclidean norm, the bias among them. 0: 1e3, and no ball, as published.
	MaxWeight, Radius float64
}

// Params is a spec that has been checked. It does not change.
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
		return Params{}, fmt.Errorf("secvm: %d hashes of columns, which are not hashed; leave them out", s.Hashes)
	case !s.Columns && (s.Hashes < 1 || s.Hashes > maxHashes):
		return Params{}, fmt.Errorf("secvm: %d hashes; use 1 to %d", s.Hashes, maxHashes)
	case s.Packages < 3 || s.Packages > maxPackages:
		return Params{}, fmt.Errorf("secvm: %d packages for each device; use 3 (that it takes part, its bias, one feature) to %d", s.Packages, maxPackages)
	case s.Cohort < 2 || s.Cohort > maxCohort:
		return Params{}, fmt.Errorf("secvm: a cohort of %d; use 2 to %d participants", s.Cohort, maxCohort)
	case !(s.Radius >= 0) || math.IsInf(s.Radius, 0):
		return Params{}, fmt.Errorf("secvm: weights in a ball of radius %g; use 0, for none, or more", s.Radius)
	case !(s.MaxWeight > 0) || math.IsInf(s.MaxWeight, 0):
		return Params{}, fmt.Errorf("secvm: weights of up to %g; use a number above 0", s.MaxWeight)
	}
	p := Params{spec: s}
	sum := sha256.Sum256(append([]byte("mercer/v1/secvm/tag\x00"), p.Encode()...))
	p.tag = binary.LittleEndian.Uint64(sum[:])
	return p, nil
}

// Spec returns the spec with its defaults filled in.
func (p Params) Spec() Spec { return p.spec }

// Features returns the length of a weight vector: the bins and, last, the bias.
func (p Params) Features() int { return p.spec.Bins + 1 }

// Room returns the greatest number of units of features that a device can send:
// one package says that it takes part, and one is for the bias.
func (p Params) Room() int { return p.spec.Packages - 2 }

// Tokens returns the number of tokens that every device fetches for an iteration: one
// for each package, and, last, one that it shows the relay before it sends any package.
func (p Params) Tokens() int { return Tokens(p.spec.Packages) }

// Tokens returns [Params.Tokens] of a model with that number of packages.
func Tokens(packages int) int { return packages + 1 }

// Encode returns the canonical bytes. No hashes say that columns are not hashed.
func (p Params) Encode() []byte {
	var w wire.Writer
	w.String(p.spec.Name)
	for _, v := range []int{p.spec.Bins, p.spec.Hashes, p.spec.Packages, p.spec.Cohort} {
		w.Uint32(uint32(v))
	}
	w.Bool(p.spec.Classes)
	w.Float64(p.spec.MaxWeight)
	if p.spec.Radius > 0 { // models from before there was a ball have none
		w.Float64(p.spec.Radius)
	}
	return w.Bytes()
}

// DecodeParams reads what Encode writes, and checks it.
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
		return Params{}, errors.New("secvm: parameters with a default left out")
	}
	return NewParams(s)
}

// Tag tells packages of different models apart, also of models with one name.
func (p Params) Tag() uint64 { return p.tag }

// Outcome counts the test packages of one class, and the correct guesses among them.
type Outcome struct{ Total, Correct uint64 }

// Census counts the devices that took part in a window, and the outcomes of tests.
type Census struct {
	Participants [2]uint64  // of label -1 and of +1; all in the first if labels are not told
	Tests        [2]Outcome // of label -1 and of +1
}

// Count returns the number of participants.
func (c Census) Count() int { return int(c.Participants[0] + c.Participants[1]) }

// Outcomes returns what tests gave.
func (c Census) Outcomes() [2]Outcome { return c.Tests }

// weight returns the sum of the participants' weights.
func (c Census) weight(minus, plus float64) float64 {
	return minus*float64(c.Participants[0]) + plus*float64(c.Participants[1])
}

// weighable refuses to weight classes that nobody tells.
func (p Params) weighable(minus, plus float64) error {
	if minus != plus && !p.spec.Classes {
		return fmt.Errorf("secvm: classes are weighted by %g and %g, and participants do not tell theirs", minus, plus)
	}
	return nil
}
