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

// InputHash returns the hash that the start event must hold.
func (s *Server) InputHash() [sha256.Size]byte { return sha256.Sum256(s.body) }

// Step implements [protocol.Machine].
func (s *Server) Step(e protocol.Event) (protocol.Effects, error) {
	return s.life.Step(s.setup, e, protocol.Handlers{Start: s.start, Resume: s.tell})
}

func (s *Server) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != s.InputHash() {
		return protocol.Effects{}, errors.New("broadcast: the body is not the one that this session was started with")
	}
	return protocol.Effects{Sync: true, Resume: true}, nil
}

// tell sends the next pieces, each to all parties before the piece after it.
func (s *Server) tell() (protocol.Effects, error) {
	names := s.setup.Session.With(protocol.RoleParty)
	total := len(names) * s.pieces()
	var e protocol.Effects
	for range min(protocol.MaxStepBytes/s.piece, total-s.sent) {
		i := s.sent / len(names)
		lo, hi := s.at(i)
		m := s.setup.Message(names[s.sent%len(names)], roundTell, kindTell, slices.Clone(s.body[lo:hi]))
		e.Send = append(e.Send, m.Piece(i, s.pieces()))
		s.sent++
	}
	e.Progress = protocol.Progress{Stage: "tell", Done: int64(s.sent), Total: int64(total)}
	if e.Resume = s.sent < total; e.Resume {
		return e, nil
	}
	return protocol.Finish(e, nil)
}
