package gather

import (
	"crypto/sha256"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/pieces"
)

// Name and Version stand in the descriptor of every session.
const (
	Name           = "gather"
	Version uint16 = 1
)

// MaxBytes bounds a body: the server holds one of each party.
const MaxBytes = 1 << 26

// TimerGive bounds the server's wait for the next piece.
const TimerGive protocol.Timer = "gather/give"

func form() pieces.Form {
	return pieces.Form{Name: Name, Version: Version, Kind: "Give", MaxBytes: MaxBytes, Stage: "gather", Timer: TimerGive}
}

// Encode returns the parameters of sessions in which each body has that number of bytes, for
// Descriptor.Params.
func Encode(bytes int) []byte { return form().Encode(bytes) }

// Party gives its body to the server.
type Party struct{ m *pieces.Giver }

// NewParty returns the machine of a party. It keeps body.
func NewParty(s protocol.Setup, body []byte) (*Party, error) {
	return newParty(s, body, protocol.MaxChunkBytes)
}

func newParty(s protocol.Setup, body []byte, piece int) (*Party, error) {
	g, err := form().NewGiver(s, protocol.RoleParty, body, piece)
	if err != nil {
		return nil, err
	}
	return &Party{g}, nil
}

// InputHash returns the hash that the start event must hold.
func (p *Party) InputHash() [sha256.Size]byte { return p.m.InputHash() }

// Step implements [protocol.Machine].
func (p *Party) Step(e protocol.Event) (protocol.Effects, error) { return p.m.Step(e) }

// Server is given a body by every party.
type Server struct{ m *pieces.Taker }

// NewServer returns the machine of the member that all bodies go to.
func NewServer(s protocol.Setup) (*Server, error) { return newServer(s, protocol.MaxChunkBytes) }

func newServer(s protocol.Setup, piece int) (*Server, error) {
	t, err := form().NewTaker(s, protocol.RoleServer, piece)
	if err != nil {
		return nil, err
	}
	return &Server{t}, nil
}

// InputHash returns the hash that the start event must hold: a server brings nothing.
func (s *Server) InputHash() [sha256.Size]byte { return s.m.InputHash() }

// Step implements [protocol.Machine].
func (s *Server) Step(e protocol.Event) (protocol.Effects, error) { return s.m.Step(e) }

// Bodies returns what the parties have given, in the descriptor's order, once the session has
// ended well.
func (s *Server) Bodies() [][]byte { return s.m.Bodies() }
