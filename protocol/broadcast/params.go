package broadcast

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Name and Version stand in the descriptor of every session.
const (
	Name           = "broadcast"
	Version uint16 = 1
)

// MaxBytes bounds a body.
const MaxBytes = 1 << 30

// Encode returns the parameters of sessions with a body of that many bytes, for
// Descriptor.Params.
func Encode(bytes int) []byte {
	var w wire.Writer
	w.String("mercer/v1/broadcast")
	w.Uint64(uint64(bytes))
	return w.Bytes()
}

// decode reads what Encode wrote.
func decode(b []byte) (int, error) {
	r := wire.NewReader(b)
	if magic := r.String(32); r.Err() == nil && magic != "mercer/v1/broadcast" {
		r.Fail(fmt.Errorf("parameters of %q", magic))
	}
	n := r.Uint64()
	if r.Err() == nil && (n < 1 || n > MaxBytes) {
		r.Fail(fmt.Errorf("a body of %d bytes; it must have from 1 to %d", n, MaxBytes))
	}
	return int(n), r.Close("broadcast: parameters")
}

// frame holds the facts that both roles know of a session.
type frame struct {
	setup        protocol.Setup
	life         protocol.Life
	bytes, piece int // of the body, of a message
}

func newFrame(s protocol.Setup, role protocol.Role, piece int) (frame, error) {
	if err := s.Check(Name, Version, role); err != nil {
		return frame{}, err
	}
	if d := s.Session; len(d.With(protocol.RoleServer)) != 1 || len(d.With(protocol.RoleParty)) != len(d.Members)-1 {
		return frame{}, errors.New("broadcast: a session has one server, and all other members are parties")
	}
	n, err := decode(s.Session.Params)
	return frame{setup: s, bytes: n, piece: piece}, err
}

// pieces returns the number of messages that a body takes.
func (f *frame) pieces() int { return (f.bytes-1)/f.piece + 1 }

// at returns the place of piece i in the body; hi is left out.
func (f *frame) at(i int) (lo, hi int) { return i * f.piece, min((i+1)*f.piece, f.bytes) }
