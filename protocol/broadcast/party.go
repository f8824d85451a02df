package broadcast

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// TimerTell is how long a party waits for the next piece.
const TimerTell protocol.Timer = "broadcast/tell"

// Party is told a body.
type Party struct {
	frame
	body    []byte
	have    []bool
	missing int
}

// NewParty returns the machine of a party.
func NewParty(s protocol.Setup) (*Party, error) { return newParty(s, protocol.MaxChunkBytes) }

func newParty(s protocol.Setup, piece int) (*Party, error) {
	f, err := newFrame(s, protocol.RoleParty, piece)
	if err != nil {
		return nil, err
	}
	return &Party{frame: f, have: make([]bool, f.pieces()), missing: f.pieces()}, nil
}

// Body returns what the server has told, once the session has ended well.
func (p *Party) Body() []byte { return p.body }

// InputHash is what the start event must hold: a party brings nothing.
func (p *Party) InputHash() [sha256.Size]byte { return [sha256.Size]byte{} }

// Step implements [protocol.Machine].
func (p *Party) Step(e protocol.Event) (protocol.Effects, error) {
	if err := p.admit(e); err != nil {
		return protocol.Effects{}, err
	}
	switch e := e.(type) {
	case protocol.Start:
		if e.InputHash != p.InputHash() {
			return protocol.Effects{}, errors.New("broadcast: a party that is told has no input")
		}
		p.started = true
		return protocol.Effects{Sync: true, Arm: []protocol.Timer{TimerTell}}, nil
	case protocol.Received:
		return p.receive(e.Message)
	case protocol.Expired:
		if e.Timer != TimerTell {
			return protocol.Effects{}, fmt.Errorf("broadcast: a party has no timer %q", e.Timer)
		}
		p.ended = true
		why := fmt.Errorf("broadcast: %d of %d pieces did not come in time", p.missing, len(p.have))
		return protocol.Effects{Sync: true, End: &protocol.End{Err: protocol.Blame(p.server(), protocol.KindSilent, why)}}, nil
	}
	return protocol.Effects{}, fmt.Errorf("broadcast: a party has nothing to do on %T", e)
}

func (p *Party) server() string { return p.setup.Session.With(protocol.RoleServer)[0] }

func (p *Party) receive(m protocol.Message) (protocol.Effects, error) {
	if err := p.setup.Session.Check(m.Header, p.setup.Self); err != nil {
		return protocol.Effects{}, err
	}
	if m.Sender != p.server() || m.Round != roundTell || m.Kind != kindTell || m.Sequence != 0 || int(m.Chunks) != p.pieces() || m.Chunk >= m.Chunks || p.have[m.Chunk] {
		return protocol.Effects{}, stray(m)
	}
	lo, hi := p.at(int(m.Chunk))
	if len(m.Body) != hi-lo {
		return protocol.Effects{}, protocol.Blame(m.Sender, protocol.KindMalformed, fmt.Errorf("broadcast: %v has %d bytes, not %d", m.Header, len(m.Body), hi-lo))
	}
	if p.body == nil {
		p.body = make([]byte, p.bytes)
	}
	copy(p.body[lo:], m.Body)
	p.have[m.Chunk] = true
	p.missing--
	e := protocol.Effects{Progress: protocol.Progress{Stage: "tell", Done: int64(len(p.have) - p.missing), Total: int64(len(p.have))}}
	if p.missing > 0 {
		e.Arm = []protocol.Timer{TimerTell}
		return e, nil
	}
	p.ended = true
	e.Sync, e.End = true, &protocol.End{}
	return e, nil
}
