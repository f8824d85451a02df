package secvm

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/wire"
)

// Kind says what a package is about.
type Kind uint8

// The kinds, as the paper's client has them, and Cover, which says nothing:
// padding of a device's number of packages.
const (
	Participation Kind = iota + 1
	Training
	Testing
	Cover
)

// PackageSize is the number of bytes of every package.
const PackageSize = 24

// Package is one anonymous message of a device. It holds nothing that two
// packages of a device share and others do not.
type Package struct {
	Tag       uint64 // of the model
	Iteration uint32 // that the weights were published for
	Kind      Kind
	Index     uint32 // Training: the feature
	Value     int8   // Training: the unit's sign. Participation: the label, or 0. Testing: the true label
	Guess     int8   // Testing: the label that the weights predict
}

// Encode returns the package's bytes, always as many.
func (p Package) Encode() []byte {
	var w wire.Writer
	w.Uint64(p.Tag)
	w.Uint32(p.Iteration)
	w.Uint32(p.Index)
	w.Uint8(uint8(p.Kind))
	w.Uint8(uint8(p.Value))
	w.Uint8(uint8(p.Guess))
	w.Fixed(make([]byte, PackageSize-19))
	return w.Bytes()
}

// DecodePackage reads what Encode writes.
func DecodePackage(b []byte) (Package, error) {
	r := wire.NewReader(b)
	p := Package{Tag: r.Uint64(), Iteration: r.Uint32(), Index: r.Uint32()}
	p.Kind, p.Value, p.Guess = Kind(r.Uint8()), int8(r.Uint8()), int8(r.Uint8())
	var padding [PackageSize - 19]byte
	r.Fixed(padding[:])
	if padding != [len(padding)]byte{} {
		r.Fail(errors.New("padding that is not zero"))
	}
	return p, r.Close("secvm: a package")
}

// valid refuses packages that no device sends.
func (p Package) valid(params Params) error {
	sign := func(v int8) bool { return v == 1 || v == -1 }
	ok := false
	switch p.Kind {
	case Participation:
		ok = p.Index == 0 && p.Guess == 0 && (sign(p.Value) && params.spec.Classes || p.Value == 0 && !params.spec.Classes)
	case Training:
		ok = sign(p.Value) && p.Guess == 0 && p.Index < uint32(params.Features())
	case Testing:
		ok = sign(p.Value) && sign(p.Guess) && p.Index == 0
	case Cover:
		ok = p.Value == 0 && p.Guess == 0 && p.Index < uint32(params.Features())
	}
	if !ok {
		return fmt.Errorf("secvm: no device sends a package of kind %d with index %d, value %d and guess %d", p.Kind, p.Index, p.Value, p.Guess)
	}
	return nil
}
