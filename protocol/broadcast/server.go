package broadcast

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

const (
	roundTell uint16 = 1
	kindTell         = "Tell"
)

// Server tells a body to every party.
type Server struct {
	frame
	body []byte
	sent int // messages
}

// NewServer returns the machine of the server. It keeps body.
func NewServer(s protocol.Setup, body []byte) (*Server, error) {
	return newServer(s, body, protocol.MaxChunkBytes)
}

func newServer(s protocol.Setup, body []byte, piece int) (*Server, error) {
	f, err := newFrame(s, protocol.RoleServer, piece)
	if err == nil && len(body) != f.bytes {
		err = fmt.Errorf("broadcast: a body of %d bytes where %d were agreed", len(body), f.bytes)
	}
	if err != nil {
		return nil, err
	}
	return &Server{frame: f, body: body}, nil
}

// InputHash is what the start event must hold.
func (s *Server) InputHash() [sha256.Size]byte { return sha256.Sum256(s.body) }

// Step implements [protocol.Machine].
func (s *Server) Step(e protocol.Event) (protocol.Effects, error) {
	if err := s.admit(e); err != nil {
		return protocol.Effects{}, err
	}
	switch e := e.(type) {
	case protocol.Start:
		if e.InputHash != s.InputHash() {
			return protocol.Effects{}, errors.New("broadcast: the body is not the one that this session was started with")
		}
		s.started = true
		return protocol.Effects{Sync: true, Resume: true}, nil
	case protocol.Resumed:
		return s.tell(), nil
	case protocol.Received:
		if err := s.setup.Session.Check(e.Message.Header, s.setup.Self); err != nil {
			return protocol.Effects{}, err
		}
		return protocol.Effects{}, stray(e.Message)
	case protocol.Expired:
		return protocol.Effects{}, fmt.Errorf("broadcast: a server has no timer %q", e.Timer)
	}
	return protocol.Effects{}, fmt.Errorf("broadcast: unknown event %T", e)
}

// tell sends the next pieces, each to all parties before the piece after it.
func (s *Server) tell() protocol.Effects {
	names := s.setup.Session.With(protocol.RoleParty)
	total := len(names) * s.pieces()
	var e protocol.Effects
	for range min(protocol.MaxStepBytes/s.piece, total-s.sent) {
		i := s.sent / len(names)
		lo, hi := s.at(i)
		h := s.setup.Session.Header(s.setup.Self, names[s.sent%len(names)], roundTell, kindTell)
		h.Chunk, h.Chunks = uint32(i), uint32(s.pieces())
		e.Send = append(e.Send, protocol.Message{Header: h, Body: slices.Clone(s.body[lo:hi])})
		s.sent++
	}
	e.Progress = protocol.Progress{Stage: "tell", Done: int64(s.sent), Total: int64(total)}
	if e.Resume = s.sent < total; !e.Resume {
		s.ended = true
		e.Sync, e.End = true, &protocol.End{}
	}
	return e
}
