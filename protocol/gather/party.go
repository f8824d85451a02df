package gather

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

const (
	roundGive uint16 = 1
	kindGive         = "Give"
)

// Party gives its body to the server.
type Party struct {
	frame
	body []byte
	sent int // pieces
}

// NewParty returns the machine of a party. It keeps body.
func NewParty(s protocol.Setup, body []byte) (*Party, error) {
	return newParty(s, body, protocol.MaxChunkBytes)
}

func newParty(s protocol.Setup, body []byte, piece int) (*Party, error) {
	f, err := newFrame(s, protocol.RoleParty, piece)
	if err == nil && len(body) != f.bytes {
		err = fmt.Errorf("gather: a body of %d bytes where %d were agreed", len(body), f.bytes)
	}
	if err != nil {
		return nil, err
	}
	return &Party{frame: f, body: body}, nil
}

// InputHash returns the hash that the start event must hold.
func (p *Party) InputHash() [sha256.Size]byte { return sha256.Sum256(p.body) }

// Step implements [protocol.Machine].
func (p *Party) Step(e protocol.Event) (protocol.Effects, error) {
	return p.life.Step(p.setup, e, protocol.Handlers{Start: p.start, Resume: p.give})
}

func (p *Party) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != p.InputHash() {
		return protocol.Effects{}, errors.New("gather: the body is not the one that this session was started with")
	}
	return protocol.Effects{Sync: true, Resume: true}, nil
}

// give sends the next pieces.
func (p *Party) give() (protocol.Effects, error) {
	server := p.setup.Session.With(protocol.RoleServer)[0]
	var e protocol.Effects
	for range min(protocol.MaxStepBytes/p.piece, p.pieces()-p.sent) {
		lo, hi := p.at(p.sent)
		m := p.setup.Message(server, roundGive, kindGive, slices.Clone(p.body[lo:hi]))
		e.Send = append(e.Send, m.Piece(p.sent, p.pieces()))
		p.sent++
	}
	e.Progress = protocol.Progress{Stage: "gather", Done: int64(p.sent), Total: int64(p.pieces())}
	if e.Resume = p.sent < p.pieces(); e.Resume {
		return e, nil
	}
	return protocol.Finish(e, nil)
}
