package secvm

import (
	"encoding/binary"
	"fmt"
)

// Kind is the subject of a package.
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
func (p Package) Encode() []byte { return p.Append(make([]byte, 0, PackageSize)) }

// Append appends the package's bytes to b.
func (p Package) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, p.Tag)
	b = binary.LittleEndian.AppendUint32(b, p.Iteration)
	b = binary.LittleEndian.AppendUint32(b, p.Index)
	return append(b, byte(p.Kind), byte(p.Value), byte(p.Guess), 0, 0, 0, 0, 0)
}

// DecodePackage reads what Encode writes.
func DecodePackage(b []byte) (Package, error) {
	if len(b) != PackageSize || b[19]|b[20]|b[21]|b[22]|b[23] != 0 {
		return Package{}, fmt.Errorf("secvm: a package has %d bytes and ends in zeros", PackageSize)
	}
	return Package{
		Tag: binary.LittleEndian.Uint64(b), Iteration: binary.LittleEndian.Uint32(b[8:]), Index: binary.LittleEndian.Uint32(b[12:]),
		Kind: Kind(b[16]), Value: int8(b[17]), Guess: int8(b[18]),
	}, nil
}

// Check refuses packages that no device sends. It looks at neither tag nor
// iteration.
func (p Package) Check(params Params) error {
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
