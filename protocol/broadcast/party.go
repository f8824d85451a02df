package broadcast

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// TimerTell bounds a party's wait for the next piece.
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

// InputHash returns the hash that the start event must hold: a party brings nothing.
func (p *Party) InputHash() [sha256.Size]byte { return [sha256.Size]byte{} }

// Step implements [protocol.Machine].
func (p *Party) Step(e protocol.Event) (protocol.Effects, error) {
	return p.life.Step(p.setup, e, protocol.Handlers{Start: p.start, Receive: p.receive, Expire: p.expire})
}

func (p *Party) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != p.InputHash() {
		return protocol.Effects{}, errors.New("broadcast: a party that is told has no input")
	}
	return protocol.Effects{Sync: true, Arm: []protocol.Timer{TimerTell}}, nil
}

func (p *Party) expire(t protocol.Timer) (protocol.Effects, error) {
	if t != TimerTell {
		return protocol.Effects{}, fmt.Errorf("broadcast: a party has no timer %q", t)
	}
	why := fmt.Errorf("broadcast: %d of %d pieces did not come in time", p.missing, len(p.have))
	return protocol.Finish(protocol.Effects{}, protocol.Blame(p.server(), protocol.KindSilent, why))
}

func (p *Party) server() string { return p.setup.Session.With(protocol.RoleServer)[0] }

func (p *Party) receive(m protocol.Message) (protocol.Effects, error) {
	if m.Sender != p.server() || m.Round != roundTell || m.Kind != kindTell || m.Sequence != 0 || int(m.Chunks) != p.pieces() || m.Chunk >= m.Chunks || p.have[m.Chunk] {
		return protocol.Effects{}, m.Unexpected()
	}
	lo, hi := p.at(int(m.Chunk))
	if len(m.Body) != hi-lo {
		return protocol.Effects{}, m.Malformed(fmt.Errorf("broadcast: %d bytes, not %d", len(m.Body), hi-lo))
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
	return protocol.Finish(e, nil)
}
