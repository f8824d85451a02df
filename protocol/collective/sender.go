package collective

import (
	"crypto/sha256"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// sender is the machine of a member that sends one body to each of its peers.
type sender struct {
	frame
	body []byte
	sent int // number of messages sent
}

// newSender returns the machine of a member that sends body. The member has the given role, and a
// message holds at most piece bytes of the body. The machine keeps body.
func (f form) newSender(setup protocol.Setup, role protocol.Role, body []byte, piece int) (*sender, error) {
	frame, err := f.newFrame(setup, role, piece)
	if err == nil && len(body) != frame.bytes {
		err = f.errorf("the body has %d bytes; the agreed length is %d", len(body), frame.bytes)
	}
	if err != nil {
		return nil, err
	}
	return &sender{frame: frame, body: body}, nil
}

// InputHash returns the hash of the body, for [protocol.Start].
func (s *sender) InputHash() [sha256.Size]byte { return sha256.Sum256(s.body) }

// Step implements [protocol.Machine].
func (s *sender) Step(e protocol.Event) (protocol.Effects, error) {
	return s.life.Step(s.setup, e, protocol.Handlers{Start: s.start, Resume: s.send})
}

func (s *sender) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != s.InputHash() {
		return protocol.Effects{}, s.errorf("the body has changed since the session started")
	}
	return protocol.Effects{Sync: true, Resume: true}, nil
}

// send sends the next pieces of the body. Every peer gets a piece before any peer gets the next
// piece.
func (s *sender) send() (protocol.Effects, error) {
	total := len(s.peers) * s.pieces()
	var e protocol.Effects
	for range min(protocol.MaxStepBytes/s.piece, total-s.sent) {
		i := s.sent / len(s.peers)
		lo, hi := s.pieceRange(i)
		m := s.setup.Message(s.peers[s.sent%len(s.peers)], round, s.Kind, slices.Clone(s.body[lo:hi]))
		e.Send = append(e.Send, m.Piece(i, s.pieces()))
		s.sent++
	}
	e.Progress = s.progress(s.sent)
	if e.Resume = s.sent < total; e.Resume {
		return e, nil
	}
	return protocol.Finish(e, nil)
}
