package okra

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Name and Version identify the protocol in every session's descriptor.
const (
	Name           = "okra"
	Version uint16 = 2
)

// The values that the text fields of [Spec] can have.
const (
	Hadamard = "hadamard" // rounds of permutation, sign changes and Walsh-Hadamard transforms
	Haar     = "haar"     // a uniformly random isometry
	HBH      = "hbh"      // random rotations of 32 coordinates each, between two rounds of hadamard
	Flake    = "flake"    // the encoder of FLAKE: a single dense random frame
	Block    = "block"    // the paper's direct sum of small frames

	Float32 = "float32"
	Float64 = "float64"

	Hardened = "hardened"
	Paper    = "paper"
)

const (
	defaultRounds, maxRounds                   = 3, 16
	defaultBlockWidth, minBlock, maxBlockWidth = 96, 64, 128
)

// Spec holds a job file's settings of the protocol. The zero value gives the recommended settings.
type Spec struct {
	Encoder string `yaml:"encoder"` // hadamard (default), haar, hbh, flake or block (default in mode paper)
	Wire    string `yaml:"wire"`    // float32 (default) or float64: type of the encoded numbers in messages
	Mode    string `yaml:"mode"`    // hardened (default) or paper
	// Rounds is the number of rounds of encoder hadamard: 2 to 16, default 3.
	Rounds int `yaml:"rounds"`
	// BlockWidth is the width of encoder block, in features: 64 to 128, default 96.
	BlockWidth int `yaml:"block_width"`
}

// Params is a validated [Spec]; it never changes. Values are comparable.
type Params struct{ spec Spec }

// NewParams fills in the defaults of s and refuses invalid settings.
func NewParams(s Spec) (Params, error) {
	setDefault(&s.Wire, Float32)
	setDefault(&s.Mode, Hardened)
	if s.Mode == Paper {
		setDefault(&s.Encoder, Block)
	}
	setDefault(&s.Encoder, Hadamard)
	if s.Encoder == Hadamard && s.Rounds == 0 {
		s.Rounds = defaultRounds
	}
	if s.Encoder == Block && s.BlockWidth == 0 {
		s.BlockWidth = defaultBlockWidth
	}
	return Params{s}, s.validate()
}

func setDefault(s *string, value string) {
	if *s == "" {
		*s = value
	}
}

func (s Spec) validate() error {
	if err := s.validateNames(); err != nil {
		return err
	}
	switch {
	case s.Encoder != Hadamard && s.Rounds != 0:
		return fmt.Errorf("okra: \"rounds\" is set, but encoder %s has no rounds; leave \"rounds\" out or use encoder hadamard", s.Encoder)
	case s.Encoder != Block && s.BlockWidth != 0:
		return fmt.Errorf("okra: block_width is set, but encoder %s has no blocks; leave block_width out or use encoder block", s.Encoder)
	case s.Encoder == Hadamard && s.Rounds == 1:
		return errors.New("okra: one round of encoder hadamard hides nothing, because the transform is public and undoes itself; use at least 2 rounds")
	case s.Encoder == Hadamard && (s.Rounds < 2 || s.Rounds > maxRounds):
		return fmt.Errorf("okra: \"rounds\" is %d; encoder hadamard takes 2 to %d rounds", s.Rounds, maxRounds)
	case s.Encoder == Block && (s.BlockWidth < minBlock || s.BlockWidth > maxBlockWidth):
		return fmt.Errorf("okra: block_width is %d; encoder block takes %d to %d features", s.BlockWidth, minBlock, maxBlockWidth)
	}
	return nil
}

func (s Spec) validateNames() error {
	switch {
	case s.Wire != Float32 && s.Wire != Float64:
		return fmt.Errorf("okra: wire is %q; choose float32 or float64", s.Wire)
	case s.Mode != Hardened && s.Mode != Paper:
		return fmt.Errorf("okra: mode is %q; choose hardened or paper", s.Mode)
	case !slices.Contains([]string{Hadamard, Haar, HBH, Flake, Block}, s.Encoder):
		return fmt.Errorf("okra: encoder is %q; choose hadamard, haar, hbh, flake or block", s.Encoder)
	case s.Encoder == Block && s.Mode != Paper:
		return errors.New("okra: encoder block is not secure, because the server learns every block's Gram matrix, and with about 110 known rows it can decode all others; to reproduce the paper, write \"mode: paper\"")
	case s.Encoder != Block && s.Encoder != Flake && s.Mode == Paper:
		return fmt.Errorf("okra: \"mode\" is paper, but encoder %s is not the paper's; leave out \"mode\" or \"encoder\"", s.Encoder)
	}
	return nil
}

// Spec returns the settings with every default filled in.
func (p Params) Spec() Spec { return p.spec }

// Encode returns the canonical encoding of the parameters, for [protocol.Descriptor].Params.
func (p Params) Encode() []byte {
	var w wire.Writer
	w.String("mercer/v1/okra")
	w.String(p.spec.Encoder)
	w.String(p.spec.Wire)
	w.String(p.spec.Mode)
	w.Uint16(uint16(p.spec.Rounds))
	w.Uint16(uint16(p.spec.BlockWidth))
	return w.Bytes()
}

// DecodeParams decodes and validates the output of Encode, and refuses every other encoding.
func DecodeParams(b []byte) (Params, error) {
	const longest = 32
	r := wire.NewReader(b)
	if s := r.String(longest); r.Err() == nil && s != "mercer/v1/okra" {
		r.Fail(errors.New("the parameters are not for okra"))
	}
	s := Spec{Encoder: r.String(longest), Wire: r.String(longest), Mode: r.String(longest),
		Rounds: int(r.Uint16()), BlockWidth: int(r.Uint16())}
	if err := r.Close("okra: parameters"); err != nil {
		return Params{}, err
	}
	p, err := NewParams(s)
	if err == nil && !bytes.Equal(p.Encode(), b) {
		err = errors.New("okra: the parameters are not in canonical form; encode the Params that NewParams returns")
	}
	if err != nil {
		return Params{}, err
	}
	return p, nil
}

// wordBytes returns the number of bytes of one encoded number in a message.
func (p Params) wordBytes() int {
	if p.spec.Wire == Float64 {
		return 8
	}
	return 4
}
