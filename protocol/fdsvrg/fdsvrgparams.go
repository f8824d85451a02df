package fdsvrg

import (
	"crypto/sha256"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Name and Version identify the protocol in every session's descriptor.
const (
	Name           = "fdsvrg"
	Version uint16 = 1
)

// Every session has these limits.
const (
	MaxWorkers = 64
	MaxWords   = 1 << 24 // largest number of rows times outputs in one step
	MaxEpochs  = 1 << 16
	maxSteps   = 1 << 31
)

// magic is the string at the start of encoded parameters.
const magic = "mercer/v1/fdsvrg"

// Spec holds the public settings of a training session.
type Spec struct {
	Rows, HeldOut int // numbers of training rows and of held-out rows; training rows come first
	Outputs       int // number of margins of a row
	Batch         int // number of rows of an inner step
	Epochs        int
	Alignment     [sha256.Size]byte // digest of the data that must be equal at all workers
}

// Params is a validated [Spec]. It never changes.
type Params struct{ spec Spec }

// NewParams returns the parameters, or an error if a setting of s is invalid.
func NewParams(s Spec) (Params, error) {
	switch {
	case s.Rows < 1 || s.HeldOut < 0 || s.Outputs < 1 || s.Rows > MaxWords || s.HeldOut > MaxWords || s.Outputs > MaxWords/(s.Rows+s.HeldOut):
		return Params{}, fmt.Errorf("fdsvrg: there are %d training and %d held-out rows with %d margins each; at least one training row, one margin of each row and at most %d margins in all are allowed", s.Rows, s.HeldOut, s.Outputs, MaxWords)
	case s.Batch < 1 || s.Batch > MaxWords:
		return Params{}, fmt.Errorf("fdsvrg: the batch has %d rows; 1 to %d are allowed", s.Batch, MaxWords)
	case s.Epochs < 1 || s.Epochs > MaxEpochs:
		return Params{}, fmt.Errorf("fdsvrg: the number of epochs is %d; 1 to %d are allowed", s.Epochs, MaxEpochs)
	}
	p := Params{s}
	if p.Steps() >= maxSteps {
		return Params{}, fmt.Errorf("fdsvrg: the training has too many steps, %d; choose fewer epochs or larger batches", p.Steps())
	}
	return p, nil
}

// Spec returns the settings of the session.
func (p Params) Spec() Spec { return p.spec }

// perEpoch returns the number of steps in an epoch: one full step and the inner steps.
func (p Params) perEpoch() int { return 1 + (p.spec.Rows-1)/p.spec.Batch + 1 }

// Steps returns the number of all steps, including the last step over all rows.
func (p Params) Steps() int { return p.spec.Epochs*p.perEpoch() + 1 }

// Words returns the number of 8-byte words that a worker sends its parent in a session.
func (p Params) Words() int64 {
	s := p.spec
	return int64(s.Outputs) * (int64(2*s.Epochs+1)*int64(s.Rows) + int64(s.HeldOut))
}

// Encode returns the canonical encoding, for Descriptor.Params.
func (p Params) Encode() []byte {
	var w wire.Writer
	w.String(magic)
	for _, n := range []int{p.spec.Rows, p.spec.HeldOut, p.spec.Outputs, p.spec.Batch, p.spec.Epochs} {
		w.Uint32(uint32(n))
	}
	w.Fixed(p.spec.Alignment[:])
	return w.Bytes()
}

// DecodeParams decodes and validates parameters that Encode has returned.
func DecodeParams(b []byte) (Params, error) {
	r := wire.NewReader(b)
	if s := r.String(len(magic)); r.Err() == nil && s != magic {
		r.Fail(fmt.Errorf("the parameters are for %q, not for fdsvrg", s))
	}
	var s Spec
	for _, n := range []*int{&s.Rows, &s.HeldOut, &s.Outputs, &s.Batch, &s.Epochs} {
		*n = int(r.Uint32())
	}
	r.Fixed(s.Alignment[:])
	if err := r.Close("fdsvrg: parameters"); err != nil {
		return Params{}, err
	}
	return NewParams(s)
}

// ValidateSession returns a session's parameters. It returns an error unless the members are
// one leader and 1 to 63 other workers.
func ValidateSession(s *protocol.Session) (Params, error) {
	leaders, others := s.With(protocol.RoleLeader), s.With(protocol.RoleParty)
	if len(leaders) != 1 || len(others) < 1 || len(others) >= MaxWorkers || len(others)+1 != len(s.Members) {
		return Params{}, fmt.Errorf("fdsvrg: the session has %d leaders, %d parties and %d other members; one leader, 1 to %d parties and no other member are required", len(leaders), len(others), len(s.Members)-len(leaders)-len(others), MaxWorkers-1)
	}
	return DecodeParams(s.Params)
}
