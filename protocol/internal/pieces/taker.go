package pieces

import (
	"crypto/sha256"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// Taker is the machine of a member that takes one body from each of its peers.
type Taker struct {
	frame
	bodies [][]byte // of each peer; made at its first piece
	have   [][]bool // pieces of each peer
	left   int      // pieces of all that have not come
}

// NewTaker returns the machine of the member with this role, for messages of at most piece bytes.
func (f Form) NewTaker(s protocol.Setup, role protocol.Role, piece int) (*Taker, error) {
	frame, err := f.newFrame(s, role, piece)
	if err != nil {
		return nil, err
	}
	n := len(frame.peers)
	t := &Taker{frame: frame, bodies: make([][]byte, n), have: make([][]bool, n), left: n * frame.pieces()}
	for i := range n {
		t.have[i] = make([]bool, frame.pieces())
	}
	return t, nil
}

// Bodies returns what the peers have given, in the descriptor's order, once the session has
// ended well.
func (t *Taker) Bodies() [][]byte { return t.bodies }

// InputHash returns the hash that the start event must hold: this side brings nothing.
func (t *Taker) InputHash() [sha256.Size]byte { return [sha256.Size]byte{} }

// Step implements [protocol.Machine].
func (t *Taker) Step(e protocol.Event) (protocol.Effects, error) {
	return t.life.Step(t.setup, e, protocol.Handlers{Start: t.start, Receive: t.receive, Expire: t.expire})
}

func (t *Taker) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != t.InputHash() {
		return protocol.Effects{}, t.errorf("a member that is given bodies has no input")
	}
	return protocol.Effects{Sync: true, Arm: []protocol.Timer{t.Timer}}, nil
}

// receive keeps a piece, and waits for the next one or ends.
func (t *Taker) receive(m protocol.Message) (protocol.Effects, error) {
	from := slices.Index(t.peers, m.Sender)
	if from < 0 || m.Round != round || m.Kind != t.Kind || m.Sequence != 0 || int(m.Chunks) != t.pieces() || m.Chunk >= m.Chunks || t.have[from][m.Chunk] {
		return protocol.Effects{}, m.Unexpected()
	}
	lo, hi := t.at(int(m.Chunk))
	if len(m.Body) != hi-lo {
		return protocol.Effects{}, m.Malformed(t.errorf("%d bytes, not %d", len(m.Body), hi-lo))
	}
	if t.bodies[from] == nil {
		t.bodies[from] = make([]byte, t.bytes)
	}
	copy(t.bodies[from][lo:], m.Body)
	t.have[from][m.Chunk] = true
	t.left--
	e := protocol.Effects{Progress: t.progress(len(t.peers)*t.pieces() - t.left)}
	if t.left > 0 {
		e.Arm = []protocol.Timer{t.Timer}
		return e, nil
	}
	return protocol.Finish(e, nil)
}

// expire names the first peer of which something is missing.
func (t *Taker) expire(timer protocol.Timer) (protocol.Effects, error) {
	if timer != t.Timer {
		return protocol.Effects{}, t.errorf("a member that is given bodies has no timer %q", timer)
	}
	silent := slices.IndexFunc(t.have, func(pieces []bool) bool { return slices.Contains(pieces, false) }) // one is, or the session is over
	missing := 0
	for _, came := range t.have[silent] {
		if !came {
			missing++
		}
	}
	why := t.errorf("%d of %d pieces did not come in time", missing, t.pieces())
	return protocol.Finish(protocol.Effects{}, protocol.Blame(t.peers[silent], protocol.KindSilent, why))
}
