package collective

import (
	"crypto/sha256"

	"github.com/mercer-fl/mercer/protocol"
)

// BroadcastName and BroadcastVersion identify a broadcast in a session's descriptor.
const (
	BroadcastName           = "broadcast"
	BroadcastVersion uint16 = 1
)

// MaxBroadcastBytes is the largest length of a broadcast body.
const MaxBroadcastBytes = 1 << 30

// TimerBroadcast limits a party's wait for the next piece of the body.
const TimerBroadcast protocol.Timer = "broadcast/tell"

func broadcastForm() form {
	return form{Name: BroadcastName, Version: BroadcastVersion, Kind: "Tell", MaxBytes: MaxBroadcastBytes, Stage: "broadcast", Timer: TimerBroadcast}
}

// EncodeBroadcast returns the Descriptor.Params of a broadcast whose body has the given number
// of bytes.
func EncodeBroadcast(bytes int) []byte { return broadcastForm().encode(bytes) }

// BroadcastServer is the machine that sends a body to every party.
type BroadcastServer struct{ m *sender }

// NewBroadcastServer returns the machine of a server that sends body. The machine keeps the
// slice.
func NewBroadcastServer(s protocol.Setup, body []byte) (*BroadcastServer, error) {
	return newBroadcastServer(s, body, protocol.MaxChunkBytes)
}

func newBroadcastServer(s protocol.Setup, body []byte, piece int) (*BroadcastServer, error) {
	g, err := broadcastForm().newSender(s, protocol.RoleServer, body, piece)
	if err != nil {
		return nil, err
	}
	return &BroadcastServer{g}, nil
}

// InputHash returns the hash of the body, for [protocol.Start].
func (s *BroadcastServer) InputHash() [sha256.Size]byte { return s.m.InputHash() }

// Step implements [protocol.Machine].
func (s *BroadcastServer) Step(e protocol.Event) (protocol.Effects, error) { return s.m.Step(e) }

// BroadcastParty is the machine that receives the server's body.
type BroadcastParty struct{ m *receiver }

// NewBroadcastParty returns the machine of a party that receives the body.
func NewBroadcastParty(s protocol.Setup) (*BroadcastParty, error) {
	return newBroadcastParty(s, protocol.MaxChunkBytes)
}

func newBroadcastParty(s protocol.Setup, piece int) (*BroadcastParty, error) {
	t, err := broadcastForm().newReceiver(s, protocol.RoleParty, piece)
	if err != nil {
		return nil, err
	}
	return &BroadcastParty{t}, nil
}

// InputHash returns the zero hash for [protocol.Start], because a party has no input.
func (p *BroadcastParty) InputHash() [sha256.Size]byte { return p.m.InputHash() }

// Step implements [protocol.Machine].
func (p *BroadcastParty) Step(e protocol.Event) (protocol.Effects, error) { return p.m.Step(e) }

// Body returns the server's body. It requires that the session has ended without an error.
func (p *BroadcastParty) Body() []byte { return p.m.Bodies()[0] }
