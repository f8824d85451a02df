package gather

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Name and Version stand in the descriptor of every session.
const (
	Name           = "gather"
	Version uint16 = 1
)

// MaxBytes bounds a body: the server holds one of each party.
const MaxBytes = 1 << 26

const magic = "mercer/v1/gather"

// Encode returns the parameters of sessions in which each body has that number of bytes, for
// Descriptor.Params.
func Encode(bytes int) []byte {
	var w wire.Writer
	w.String(magic)
	w.Uint64(uint64(bytes))
	return w.Bytes()
}

// decode reads what Encode wrote.
func decode(b []byte) (int, error) {
	r := wire.NewReader(b)
	r.Magic(len(magic), magic, "parameters of %q")
	n := r.Uint64()
	if r.Err() == nil && (n < 1 || n > MaxBytes) {
		r.Fail(fmt.Errorf("bodies of %d bytes; they have 1 to %d", n, MaxBytes))
	}
	return int(n), r.Close("gather: parameters")
}

// frame holds the facts that both roles know of a session.
type frame struct {
	setup        protocol.Setup
	life         protocol.Life
	parties      []string
	bytes, piece int // of a body, of a message
}

func newFrame(s protocol.Setup, role protocol.Role, piece int) (frame, error) {
	if err := s.Check(Name, Version, role); err != nil {
		return frame{}, err
	}
	parties := s.Session.With(protocol.RoleParty)
	if len(s.Session.With(protocol.RoleServer)) != 1 || len(parties) != len(s.Session.Members)-1 {
		return frame{}, errors.New("gather: a session has one server, and all other members are parties")
	}
	n, err := decode(s.Session.Params)
	return frame{setup: s, parties: parties, bytes: n, piece: piece}, err
}

// pieces returns the number of messages that a body takes.
func (f *frame) pieces() int { return (f.bytes-1)/f.piece + 1 }

// at returns the place of piece i in a body; hi is left out.
func (f *frame) at(i int) (lo, hi int) { return i * f.piece, min((i+1)*f.piece, f.bytes) }
