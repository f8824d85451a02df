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

// Method is the name of the transformation that a scaling applies to a column.
type Method string

// A session uses one of these methods.
const (
	MinMax   Method = "minmax"   // scales each column to [0, 1]
	Standard Method = "standard" // scales each column to mean 0 and standard deviation 1
)

// MaxColumns is the largest number of columns of a table.
const MaxColumns = 1 << 24

// Spec holds the settings for scaling in a job file.
type Spec struct {
	Method Method `yaml:"method"` // minmax (default) or standard
}

// Params is a validated [Spec]. It never changes. Values are comparable.
type Params struct{ spec Spec }

// NewParams replaces an empty method of s by its default. It returns an error if the method is
// unknown.
func NewParams(s Spec) (Params, error) {
	if s.Method == "" {
		s.Method = MinMax
	}
	return Params{s}, s.Method.validate()
}

func (m Method) validate() error {
	if m != MinMax && m != Standard {
		return fmt.Errorf("scale: method %q is unknown; choose \"minmax\" or \"standard\"", string(m))
	}
	return nil
}

// Spec returns the settings, including the defaults.
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
		r.Fail(errors.New("the parameters are not for protocol scale"))
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

// ValidateSession returns the parameters, or an error if this protocol cannot run the session. The
// session must have one leader, at least one party, and no other member.
func ValidateSession(s *protocol.Session) (Params, error) {
	leaders, parties := len(s.With(protocol.RoleLeader)), len(s.With(protocol.RoleParty))
	switch {
	case s.Protocol != Name || s.Version != Version:
		return Params{}, fmt.Errorf("scale: the session runs %s version %d; this program runs %s version %d", s.Protocol, s.Version, Name, Version)
	case leaders != 1 || parties == 0 || leaders+parties != len(s.Members):
		return Params{}, fmt.Errorf("scale: a session requires one leader, at least one party and no other member; this session has %d leaders, %d parties and %d others", leaders, parties, len(s.Members)-leaders-parties)
	}
	return DecodeParams(s.Params)
}
