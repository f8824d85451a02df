package broadcast

import (
	"crypto/sha256"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/pieces"
)

// Name and Version stand in the descriptor of every session.
const (
	Name           = "broadcast"
	Version uint16 = 1
)

// MaxBytes bounds a body.
const MaxBytes = 1 << 30

// TimerTell bounds a party's wait for the next piece.
const TimerTell protocol.Timer = "broadcast/tell"

func form() pieces.Form {
	return pieces.Form{Name: Name, Version: Version, Kind: "Tell", MaxBytes: MaxBytes, Stage: "tell", Timer: TimerTell}
}

// Encode returns the parameters of sessions with a body of that many bytes, for
// Descriptor.Params.
func Encode(bytes int) []byte { return form().Encode(bytes) }

// Server tells a body to every party.
type Server struct{ m *pieces.Giver }

// NewServer returns the machine of the server. It keeps body.
func NewServer(s protocol.Setup, body []byte) (*Server, error) {
	return newServer(s, body, protocol.MaxChunkBytes)
}

func newServer(s protocol.Setup, body []byte, piece int) (*Server, error) {
	g, err := form().NewGiver(s, protocol.RoleServer, body, piece)
	if err != nil {
		return nil, err
	}
	return &Server{g}, nil
}

// InputHash returns the hash that the start event must hold.
func (s *Server) InputHash() [sha256.Size]byte { return s.m.InputHash() }

// Step implements [protocol.Machine].
func (s *Server) Step(e protocol.Event) (protocol.Effects, error) { return s.m.Step(e) }

// Party receives the body.
type Party struct{ m *pieces.Taker }

// NewParty returns the machine of a party.
func NewParty(s protocol.Setup) (*Party, error) { return newParty(s, protocol.MaxChunkBytes) }

func newParty(s protocol.Setup, piece int) (*Party, error) {
	t, err := form().NewTaker(s, protocol.RoleParty, piece)
	if err != nil {
		return nil, err
	}
	return &Party{t}, nil
}

// InputHash returns the hash that the start event must hold: a party brings nothing.
func (p *Party) InputHash() [sha256.Size]byte { return p.m.InputHash() }

// Step implements [protocol.Machine].
func (p *Party) Step(e protocol.Event) (protocol.Effects, error) { return p.m.Step(e) }

// Body returns what the server has told, once the session has ended well.
func (p *Party) Body() []byte { return p.m.Bodies()[0] }
