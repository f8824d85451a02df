package collective

import (
	"crypto/sha256"

	"github.com/mercer-fl/mercer/protocol"
)

// GatherName and GatherVersion identify a gather in a session's descriptor.
const (
	GatherName           = "gather"
	GatherVersion uint16 = 1
)

// MaxGatherBytes is the largest length of a party's body. The server holds one body of each
// party.
const MaxGatherBytes = 1 << 26

// TimerGather limits the server's wait for the next piece of a body.
const TimerGather protocol.Timer = "gather/give"

func gatherForm() form {
	return form{Name: GatherName, Version: GatherVersion, Kind: "Give", MaxBytes: MaxGatherBytes, Stage: "gather", Timer: TimerGather}
}

// EncodeGather returns the Descriptor.Params of a gather whose bodies have the given number of
// bytes.
func EncodeGather(bytes int) []byte { return gatherForm().encode(bytes) }

// GatherParty is the machine that sends a party's body to the server.
type GatherParty struct{ m *sender }

// NewGatherParty returns the machine of a party that sends body. The machine keeps the slice.
func NewGatherParty(s protocol.Setup, body []byte) (*GatherParty, error) {
	return newGatherParty(s, body, protocol.MaxChunkBytes)
}

func newGatherParty(s protocol.Setup, body []byte, piece int) (*GatherParty, error) {
	g, err := gatherForm().newSender(s, protocol.RoleParty, body, piece)
	if err != nil {
		return nil, err
	}
	return &GatherParty{g}, nil
}

// InputHash returns the hash of the body, for [protocol.Start].
func (p *GatherParty) InputHash() [sha256.Size]byte { return p.m.InputHash() }

// Step implements [protocol.Machine].
func (p *GatherParty) Step(e protocol.Event) (protocol.Effects, error) { return p.m.Step(e) }

// GatherServer is the machine that receives a body from every party.
type GatherServer struct{ m *receiver }

// NewGatherServer returns the machine of the server, which receives all bodies.
func NewGatherServer(s protocol.Setup) (*GatherServer, error) {
	return newGatherServer(s, protocol.MaxChunkBytes)
}

func newGatherServer(s protocol.Setup, piece int) (*GatherServer, error) {
	t, err := gatherForm().newReceiver(s, protocol.RoleServer, piece)
	if err != nil {
		return nil, err
	}
	return &GatherServer{t}, nil
}

// InputHash returns the zero hash for [protocol.Start], because a server has no input.
func (s *GatherServer) InputHash() [sha256.Size]byte { return s.m.InputHash() }

// Step implements [protocol.Machine].
func (s *GatherServer) Step(e protocol.Event) (protocol.Effects, error) { return s.m.Step(e) }

// Bodies returns the parties' bodies in the descriptor's order. It requires that the session
// has ended without an error.
func (s *GatherServer) Bodies() [][]byte { return s.m.Bodies() }
