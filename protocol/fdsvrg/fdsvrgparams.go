package fdsvrg

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Name and Version identify the protocol in every session's descriptor.
const (
	Name           = "fdsvrg"
	Version uint16 = 1
)

// Limits on a session.
const (
	MaxWorkers = 64
	MaxWords   = 1 << 24 // of one step: rows times outputs
	MaxEpochs  = 1 << 16
	maxSteps   = 1 << 31
)

// magic opens encoded parameters.
const magic = "mercer/v1/fdsvrg"

// Spec describes a training.
type Spec struct {
	Rows, HeldOut int // training rows come first
	Outputs       int // margins of a row
	Batch         int // rows of an inner step
	Epochs        int
	Alignment     [sha256.Size]byte // names the data that must be equal at all workers
}

// Params are the checked parameters of a session. They never change.
type Params struct{ spec Spec }

// NewParams checks a description.
func NewParams(s Spec) (Params, error) {
	switch {
	case s.Rows < 1 || s.HeldOut < 0 || s.Outputs < 1 || s.Rows > MaxWords || s.HeldOut > MaxWords || s.Outputs > MaxWords/(s.Rows+s.HeldOut):
		return Params{}, fmt.Errorf("fdsvrg: %d training and %d held-out rows with %d margins each; there can be %d margins in a step", s.Rows, s.HeldOut, s.Outputs, MaxWords)
	case s.Batch < 1 || s.Batch > MaxWords:
		return Params{}, fmt.Errorf("fdsvrg: a batch of %d rows; it has one or more", s.Batch)
	case s.Epochs < 1 || s.Epochs > MaxEpochs:
		return Params{}, fmt.Errorf("fdsvrg: %d epochs; there are 1 to %d", s.Epochs, MaxEpochs)
	}
	p := Params{s}
	if p.Steps() >= maxSteps {
		return Params{}, fmt.Errorf("fdsvrg: %d steps; write fewer epochs or larger batches", p.Steps())
	}
	return p, nil
}

// Spec returns the description.
func (p Params) Spec() Spec { return p.spec }

// perEpoch counts the full step and the inner steps of an epoch.
func (p Params) perEpoch() int { return 1 + (p.spec.Rows-1)/p.spec.Batch + 1 }

// Steps counts all steps, including the last one.
func (p Params) Steps() int { return p.spec.Epochs*p.perEpoch() + 1 }

// Words counts the words that a worker sends its parent.
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

// DecodeParams decodes and checks the output of Encode.
func DecodeParams(b []byte) (Params, error) {
	r := wire.NewReader(b)
	if s := r.String(len(magic)); r.Err() == nil && s != magic {
		r.Fail(fmt.Errorf("parameters of %q", s))
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

// ValidateSession returns a session's parameters. It refuses members other than one leader and
// other workers.
func ValidateSession(s *protocol.Session) (Params, error) {
	leaders, others := s.With(protocol.RoleLeader), s.With(protocol.RoleParty)
	if len(leaders) != 1 || len(others) < 1 || len(others) >= MaxWorkers || len(others)+1 != len(s.Members) {
		return Params{}, errors.New("fdsvrg: a session has one leader and from 1 to 63 other workers, and nobody else")
	}
	return DecodeParams(s.Params)
}
