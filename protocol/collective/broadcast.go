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

// MaxBroadcastBytes bounds a body.
const MaxBroadcastBytes = 1 << 30

// TimerBroadcast bounds a party's wait for the next piece.
const TimerBroadcast protocol.Timer = "broadcast/tell"

func broadcastForm() form {
	return form{Name: BroadcastName, Version: BroadcastVersion, Kind: "Tell", MaxBytes: MaxBroadcastBytes, Stage: "broadcast", Timer: TimerBroadcast}
}

// EncodeBroadcast returns the parameters of a broadcast of a body of this length, for Descriptor.Params.
func EncodeBroadcast(bytes int) []byte { return broadcastForm().encode(bytes) }

// BroadcastServer sends a body to every party.
type BroadcastServer struct{ m *sender }

// NewBroadcastServer returns the machine of the server. It keeps body.
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

// InputHash returns the hash that the start event must hold.
func (s *BroadcastServer) InputHash() [sha256.Size]byte { return s.m.InputHash() }

// Step implements [protocol.Machine].
func (s *BroadcastServer) Step(e protocol.Event) (protocol.Effects, error) { return s.m.Step(e) }

// BroadcastParty receives the body.
type BroadcastParty struct{ m *receiver }

// NewBroadcastParty returns the machine of a party.
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

// InputHash returns the hash that the start event must hold; a party has no input.
func (p *BroadcastParty) InputHash() [sha256.Size]byte { return p.m.InputHash() }

// Step implements [protocol.Machine].
func (p *BroadcastParty) Step(e protocol.Event) (protocol.Effects, error) { return p.m.Step(e) }

// Body returns the server's body, once the session has ended well.
func (p *BroadcastParty) Body() []byte { return p.m.Bodies()[0] }
