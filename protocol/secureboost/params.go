package secureboost

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/paillier"
	"github.com/mercer-fl/mercer/protocol"
)

// Name and Version stand in the descriptor of every session.
const (
	Name           = "secureboost"
	Version uint16 = 2
)

// Encryption names the way in which gradients are kept from the hosts.
type Encryption string

// The encryptions.
const (
	None     Encryption = "none"     // hosts read them
	Paillier Encryption = "paillier" // hosts add up ciphertexts
)

// Bounds on a session.
const (
	MaxHosts  = 30
	MaxRows   = 1<<20 - 1
	MaxRounds = 1 << 12
	MaxDepth  = 8
	MaxBins   = 256
	// MaxColumns bounds a host's columns, MaxCells the bins of all of them.
	MaxColumns = 1 << 14
	MaxCells   = 1 << 20
	// MostGradient bounds the size of a gradient, and the second derivative.
	MostGradient = 1 << 24
)

// Spec holds the settings of a session that are agreed before it starts.
type Spec struct {
	Encryption Encryption // "" means Paillier
	// Rows is the number of aligned rows, of which the first Training ones train.
	Rows, Training int
	// Rounds bounds the number of trees, Depth is the depth of each.
	Rounds, Depth int
	// Alignment commits to which row is which. All parties have the same.
	Alignment [sha256.Size]byte
	// InsecureKeyBits makes a key of another length than 2048 bits, for tests; 0 does not.
	InsecureKeyBits int
}

// Params is a validated [Spec]; it never changes. Values are comparable.
type Params struct{ spec Spec }

// NewParams fills in the defaults of s and refuses what no session can have.
func NewParams(s Spec) (Params, error) {
	if s.Encryption == "" {
		s.Encryption = Paillier
	}
	return Params{s}, s.validate()
}

func (s Spec) validate() error {
	switch {
	case s.Encryption != None && s.Encryption != Paillier:
		return fmt.Errorf("secureboost: encryption %q; choose none or paillier", string(s.Encryption))
	case s.Rows < 1 || s.Rows > MaxRows:
		return fmt.Errorf("secureboost: %d aligned rows; 1 to %d are possible", s.Rows, MaxRows)
	case s.Training < 1 || s.Training > s.Rows:
		return fmt.Errorf("secureboost: %d training rows of %d", s.Training, s.Rows)
	case s.Rounds < 1 || s.Rounds > MaxRounds:
		return fmt.Errorf("secureboost: %d rounds; 1 to %d are possible", s.Rounds, MaxRounds)
	case s.Depth < 1 || s.Depth > MaxDepth:
		return fmt.Errorf("secureboost: depth %d; 1 to %d are possible", s.Depth, MaxDepth)
	case s.InsecureKeyBits != 0 && (s.InsecureKeyBits < 256 || s.InsecureKeyBits > 1024 || s.InsecureKeyBits%16 != 0):
		return fmt.Errorf("secureboost: a key of %d bits for tests; choose 256 to 1024", s.InsecureKeyBits)
	}
	return nil
}

// Spec returns the settings with every default filled in.
func (p Params) Spec() Spec { return p.spec }

func (p Params) keyBits() int {
	if p.spec.InsecureKeyBits != 0 {
		return p.spec.InsecureKeyBits
	}
	return paillier.Bits
}

// Encode returns the canonical encoding, which goes into Descriptor.Params.
func (p Params) Encode() []byte {
	var w wire.Writer
	w.String("mercer/v1/secureboost")
	w.String(string(p.spec.Encryption))
	for _, n := range []int{p.spec.Rows, p.spec.Training, p.spec.Rounds, p.spec.Depth, p.spec.InsecureKeyBits} {
		w.Uint32(uint32(n))
	}
	w.Fixed(p.spec.Alignment[:])
	return w.Bytes()
}

// DecodeParams decodes and validates what Encode wrote.
func DecodeParams(b []byte) (Params, error) {
	const longest = 32
	r := wire.NewReader(b)
	if s := r.String(longest); r.Err() == nil && s != "mercer/v1/secureboost" {
		r.Fail(errors.New("not the parameters of secureboost"))
	}
	s := Spec{Encryption: Encryption(r.String(longest))}
	for _, n := range []*int{&s.Rows, &s.Training, &s.Rounds, &s.Depth, &s.InsecureKeyBits} {
		*n = int(r.Uint32())
	}
	r.Fixed(s.Alignment[:])
	if err := r.Close("secureboost: parameters"); err != nil {
		return Params{}, err
	}
	if err := s.validate(); err != nil {
		return Params{}, err
	}
	return Params{s}, nil
}

// ValidateSession refuses a session that this protocol cannot run: it takes one leader,
// who is the guest, at least one host, and nobody else.
func ValidateSession(s *protocol.Session) (Params, error) {
	guests, hosts := len(s.With(protocol.RoleLeader)), len(s.With(protocol.RoleParty))
	switch {
	case s.Protocol != Name || s.Version != Version:
		return Params{}, fmt.Errorf("secureboost: session of %s version %d, this is %s version %d", s.Protocol, s.Version, Name, Version)
	case guests != 1 || hosts < 1 || hosts > MaxHosts || guests+hosts != len(s.Members):
		return Params{}, fmt.Errorf("secureboost: a session needs a leader, 1 to %d parties and nobody else; this one has %d leaders, %d parties and %d others", MaxHosts, guests, hosts, len(s.Members)-guests-hosts)
	}
	return DecodeParams(s.Params)
}
