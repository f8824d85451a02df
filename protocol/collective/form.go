package collective

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// round is the round number in every message.
const round uint16 = 1

// form holds the names and limits in which a gather and a broadcast differ. Both send bodies of
// one agreed length in pieces.
type form struct {
	Name     string // Name and Version appear in the descriptor of every session
	Version  uint16
	Kind     string         // kind of the messages
	MaxBytes int            // largest length of a body
	Stage    string         // name of the stage in progress reports
	Timer    protocol.Timer // limits a receiver's wait for the next piece
}

func (f form) magic() string { return "mercer/v1/" + f.Name }

// encode returns the Descriptor.Params of a session whose bodies have the given number of
// bytes.
func (f form) encode(bytes int) []byte {
	var w wire.Writer
	w.String(f.magic())
	w.Uint64(uint64(bytes))
	return w.Bytes()
}

// decode returns the length of the bodies from parameters that encode has returned.
func (f form) decode(b []byte) (int, error) {
	r := wire.NewReader(b)
	r.Magic(len(f.magic()), f.magic(), "the parameters begin with %q, so they belong to another protocol")
	n := r.Uint64()
	if r.Err() == nil && (n < 1 || n > uint64(f.MaxBytes)) {
		r.Fail(fmt.Errorf("the bodies have %d bytes; 1 to %d are allowed", n, f.MaxBytes))
	}
	return int(n), r.Close(f.Name + ": parameters")
}

// frame holds the state of a session that the machines of sender and receiver both have.
type frame struct {
	form
	setup        protocol.Setup
	life         protocol.Life
	peers        []string // names of the members to which this member sends or from which it receives
	bytes, piece int      // length of a body, and largest length of a message
}

// newFrame returns the frame of a session. It requires one server, and that all other members
// are parties.
func (f form) newFrame(s protocol.Setup, role protocol.Role, piece int) (frame, error) {
	if err := s.Check(f.Name, f.Version, role); err != nil {
		return frame{}, err
	}
	servers, parties := s.Session.With(protocol.RoleServer), s.Session.With(protocol.RoleParty)
	if n := len(s.Session.Members); len(servers) != 1 || len(parties) != n-1 {
		return frame{}, f.errorf("the session has %d servers, %d parties and %d other members; one server and otherwise only parties are required", len(servers), len(parties), n-len(servers)-len(parties))
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

// pieces returns the number of messages into which a body is divided.
func (f *frame) pieces() int { return (f.bytes-1)/f.piece + 1 }

// pieceRange returns the half-open range of bytes [lo, hi) of piece i in a body.
func (f *frame) pieceRange(i int) (lo, hi int) { return i * f.piece, min((i+1)*f.piece, f.bytes) }

// progress reports how many of the session's messages this member has sent or received.
func (f *frame) progress(done int) protocol.Progress {
	return protocol.Progress{Stage: f.Stage, Done: int64(done), Total: int64(len(f.peers) * f.pieces())}
}
