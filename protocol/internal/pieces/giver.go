package pieces

import (
	"crypto/sha256"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// Giver is the machine of a member that gives one body to each of its peers.
type Giver struct {
	frame
	body []byte
	sent int // messages
}

// NewGiver returns the machine of the member with this role, in messages of at most piece
// bytes. It keeps body.
func (f Form) NewGiver(s protocol.Setup, role protocol.Role, body []byte, piece int) (*Giver, error) {
	frame, err := f.newFrame(s, role, piece)
	if err == nil && len(body) != frame.bytes {
		err = f.errorf("a body of %d bytes where %d were agreed", len(body), frame.bytes)
	}
	if err != nil {
		return nil, err
	}
	return &Giver{frame: frame, body: body}, nil
}

// InputHash returns the hash that the start event must hold.
func (g *Giver) InputHash() [sha256.Size]byte { return sha256.Sum256(g.body) }

// Step implements [protocol.Machine].
func (g *Giver) Step(e protocol.Event) (protocol.Effects, error) {
	return g.life.Step(g.setup, e, protocol.Handlers{Start: g.start, Resume: g.give})
}

func (g *Giver) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != g.InputHash() {
		return protocol.Effects{}, g.errorf("the body is not the one that this session was started with")
	}
	return protocol.Effects{Sync: true, Resume: true}, nil
}

// give sends the next pieces, each to all peers before the piece after it.
func (g *Giver) give() (protocol.Effects, error) {
	total := len(g.peers) * g.pieces()
	var e protocol.Effects
	for range min(protocol.MaxStepBytes/g.piece, total-g.sent) {
		i := g.sent / len(g.peers)
		lo, hi := g.at(i)
		m := g.setup.Message(g.peers[g.sent%len(g.peers)], round, g.Kind, slices.Clone(g.body[lo:hi]))
		e.Send = append(e.Send, m.Piece(i, g.pieces()))
		g.sent++
	}
	e.Progress = g.progress(g.sent)
	if e.Resume = g.sent < total; e.Resume {
		return e, nil
	}
	return protocol.Finish(e, nil)
}
