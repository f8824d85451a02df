package collective

import (
	"crypto/sha256"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// receiver is the machine of a member that receives one body from each of its peers.
type receiver struct {
	frame
	bodies  [][]byte // body of each peer; allocated when its first piece arrives
	have    [][]bool // whether each piece of each peer has arrived
	missing int      // number of missing pieces of all peers
}

// newReceiver returns the machine of a member that receives bodies. The member has the given role,
// and a message holds at most piece bytes of a body.
func (f form) newReceiver(s protocol.Setup, role protocol.Role, piece int) (*receiver, error) {
	frame, err := f.newFrame(s, role, piece)
	if err != nil {
		return nil, err
	}
	n := len(frame.peers)
	r := &receiver{frame: frame, bodies: make([][]byte, n), have: make([][]bool, n), missing: n * frame.pieces()}
	for i := range n {
		r.have[i] = make([]bool, frame.pieces())
	}
	return r, nil
}

// Bodies returns the peers' bodies in the descriptor's order. It requires that the session has
// ended without an error.
func (r *receiver) Bodies() [][]byte { return r.bodies }

// InputHash returns the zero hash for [protocol.Start], because a receiver has no input.
func (r *receiver) InputHash() [sha256.Size]byte { return [sha256.Size]byte{} }

// Step implements [protocol.Machine].
func (r *receiver) Step(e protocol.Event) (protocol.Effects, error) {
	return r.life.Step(r.setup, e, protocol.Handlers{Start: r.start, Receive: r.receive, Expire: r.expire})
}

func (r *receiver) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != r.InputHash() {
		return protocol.Effects{}, r.errorf("a receiver has no input; its InputHash must be zero")
	}
	return protocol.Effects{Sync: true, Arm: []protocol.Timer{r.Timer}}, nil
}

// receive stores a piece of a body. After the last piece it ends the session.
func (r *receiver) receive(m protocol.Message) (protocol.Effects, error) {
	from := slices.Index(r.peers, m.Sender)
	if from < 0 || m.Round != round || m.Kind != r.Kind || m.Sequence != 0 || int(m.Chunks) != r.pieces() || m.Chunk >= m.Chunks || r.have[from][m.Chunk] {
		return protocol.Effects{}, m.Unexpected()
	}
	lo, hi := r.pieceRange(int(m.Chunk))
	if len(m.Body) != hi-lo {
		return protocol.Effects{}, m.Malformed(r.errorf("the piece has %d bytes; %d are required", len(m.Body), hi-lo))
	}
	if r.bodies[from] == nil {
		r.bodies[from] = make([]byte, r.bytes)
	}
	copy(r.bodies[from][lo:], m.Body)
	r.have[from][m.Chunk] = true
	r.missing--
	e := protocol.Effects{Progress: r.progress(len(r.peers)*r.pieces() - r.missing)}
	if r.missing > 0 {
		e.Arm = []protocol.Timer{r.Timer}
		return e, nil
	}
	return protocol.Finish(e, nil)
}

// expire ends the session with an error that blames the first peer with a missing piece.
func (r *receiver) expire(timer protocol.Timer) (protocol.Effects, error) {
	if timer != r.Timer {
		return protocol.Effects{}, r.errorf("a receiver has no timer %q", timer)
	}
	silent := slices.IndexFunc(r.have, func(pieces []bool) bool { return slices.Contains(pieces, false) }) // never -1, because the session continues only while a piece is missing
	missing := 0
	for _, came := range r.have[silent] {
		if !came {
			missing++
		}
	}
	why := r.errorf("%d of %d pieces did not come in time", missing, r.pieces())
	return protocol.Finish(protocol.Effects{}, protocol.Blame(r.peers[silent], protocol.KindSilent, why))
}
