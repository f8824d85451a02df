package collective

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// round is the round of every message.
const round uint16 = 1

// form is the frame format of gather and broadcast: bodies of one agreed length, in pieces.
type form struct {
	Name     string // Name and Version appear in the descriptor of every session
	Version  uint16
	Kind     string         // of the messages
	MaxBytes int            // of a body
	Stage    string         // of the progress
	Timer    protocol.Timer // bounds a receiver's wait for the next piece
}

func (f form) magic() string { return "mercer/v1/" + f.Name }

// encode returns the parameters of sessions with bodies of the given number of bytes, for
// Descriptor.Params.
func (f form) encode(bytes int) []byte {
	var w wire.Writer
	w.String(f.magic())
	w.Uint64(uint64(bytes))
	return w.Bytes()
}

// decode decodes the bytes that encode returns.
func (f form) decode(b []byte) (int, error) {
	r := wire.NewReader(b)
	r.Magic(len(f.magic()), f.magic(), "parameters of %q")
	n := r.Uint64()
	if r.Err() == nil && (n < 1 || n > uint64(f.MaxBytes)) {
		r.Fail(fmt.Errorf("the bodies have %d bytes; 1 to %d are possible", n, f.MaxBytes))
	}
	return int(n), r.Close(f.Name + ": parameters")
}

// frame holds the facts of a session that sender and receivers share.
type frame struct {
	form
	setup        protocol.Setup
	life         protocol.Life
	peers        []string // the receivers or senders on the other side
	bytes, piece int      // of a body, of a message
}

// newFrame checks that the session has one server, and that all other members are parties.
func (f form) newFrame(s protocol.Setup, role protocol.Role, piece int) (frame, error) {
	if err := s.Check(f.Name, f.Version, role); err != nil {
		return frame{}, err
	}
	servers, parties := s.Session.With(protocol.RoleServer), s.Session.With(protocol.RoleParty)
	if len(servers) != 1 || len(parties) != len(s.Session.Members)-1 {
		return frame{}, f.errorf("a session has one server, and all other members are parties")
	}
	peers := servers
	if role == protocol.RoleServer {
		peers = parties
	}
	n, err := f.decode(s.Session.Params)
	return frame{form: f, setup: s, peers: peers, bytes: n, piece: piece}, err
}

func (f form) errorf(format string, args ...any) error {
	return fmt.Errorf("collective: %s: %w", f.Name, fmt.Errorf(format, args...))
}

// pieces returns the number of messages that a body takes.
func (f *frame) pieces() int { return (f.bytes-1)/f.piece + 1 }

// at returns the range of piece i in a body, without hi.
func (f *frame) at(i int) (lo, hi int) { return i * f.piece, min((i+1)*f.piece, f.bytes) }

// progress counts the messages of the session that this side has sent or received.
func (f *frame) progress(done int) protocol.Progress {
	return protocol.Progress{Stage: f.Stage, Done: int64(done), Total: int64(len(f.peers) * f.pieces())}
}
