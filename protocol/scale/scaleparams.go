package scale

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Name and Version appear in the descriptor of every session.
const (
	Name           = "scale"
	Version uint16 = 1
)

// Method names the transformation that a scaling applies to a column.
type Method string

// The methods.
const (
	MinMax   Method = "minmax"   // to [0, 1]
	Standard Method = "standard" // to mean 0 and standard deviation 1
)

// MaxColumns bounds the width of a table.
const MaxColumns = 1 << 24

// Spec holds a job file's settings of the scaling.
type Spec struct {
	Method Method `yaml:"method"` // minmax (default) or standard
}

// Params is a validated [Spec]; it never changes. Values are comparable.
type Params struct{ spec Spec }

// NewParams fills in the default of s and refuses an unknown method.
func NewParams(s Spec) (Params, error) {
	if s.Method == "" {
		s.Method = MinMax
	}
	return Params{s}, s.Method.validate()
}

func (m Method) validate() error {
	if m != MinMax && m != Standard {
		return fmt.Errorf("scale: method %q; choose minmax or standard", string(m))
	}
	return nil
}

// Spec returns the settings with every default filled in.
func (p Params) Spec() Spec { return p.spec }

// Encode returns the canonical encoding, which goes into Descriptor.Params.
func (p Params) Encode() []byte {
	var w wire.Writer
	w.String("mercer/v1/scale")
	w.String(string(p.spec.Method))
	return w.Bytes()
}

// DecodeParams decodes and validates the bytes that Encode returns.
func DecodeParams(b []byte) (Params, error) {
	const longest = 32
	r := wire.NewReader(b)
	if s := r.String(longest); r.Err() == nil && s != "mercer/v1/scale" {
		r.Fail(errors.New("these are not the parameters of scale"))
	}
	p := Params{Spec{Method: Method(r.String(longest))}}
	if err := r.Close("scale: parameters"); err != nil {
		return Params{}, err
	}
	if err := p.spec.Method.validate(); err != nil {
		return Params{}, err
	}
	return p, nil
}

// ValidateSession refuses a session that this protocol cannot run. It has one leader, at
// least one party, and no other member.
func ValidateSession(s *protocol.Session) (Params, error) {
	leaders, parties := len(s.With(protocol.RoleLeader)), len(s.With(protocol.RoleParty))
	switch {
	case s.Protocol != Name || s.Version != Version:
		return Params{}, fmt.Errorf("scale: the session is of %s version %d, this is %s version %d", s.Protocol, s.Version, Name, Version)
	case leaders != 1 || parties == 0 || leaders+parties != len(s.Members):
		return Params{}, fmt.Errorf("scale: a session needs one leader, at least one party and no other member; this one has %d, %d and %d", leaders, parties, len(s.Members)-leaders-parties)
	}
	return DecodeParams(s.Params)
}
