package gather

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// TimerGive bounds the server's wait for the next piece.
const TimerGive protocol.Timer = "gather/give"

// Server is given a body by every party.
type Server struct {
	frame
	bodies  [][]byte
	have    [][]bool
	missing []int // pieces of each party
}

// NewServer returns the machine of the member that all bodies go to.
func NewServer(s protocol.Setup) (*Server, error) { return newServer(s, protocol.MaxChunkBytes) }

func newServer(s protocol.Setup, piece int) (*Server, error) {
	f, err := newFrame(s, protocol.RoleServer, piece)
	if err != nil {
		return nil, err
	}
	n := len(f.parties)
	out := &Server{frame: f, bodies: make([][]byte, n), have: make([][]bool, n), missing: make([]int, n)}
	for i := range n {
		out.have[i], out.missing[i] = make([]bool, f.pieces()), f.pieces()
	}
	return out, nil
}

// Bodies returns what the parties have given, in the descriptor's order, once the session has
// ended well.
func (s *Server) Bodies() [][]byte { return s.bodies }

// InputHash returns the hash that the start event must hold: the server brings nothing.
func (s *Server) InputHash() [sha256.Size]byte { return [sha256.Size]byte{} }

// Step implements [protocol.Machine].
func (s *Server) Step(e protocol.Event) (protocol.Effects, error) {
	return s.life.Step(s.setup, e, protocol.Handlers{Start: s.start, Receive: s.receive, Expire: s.expire})
}

func (s *Server) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != s.InputHash() {
		return protocol.Effects{}, errors.New("gather: a server that is given bodies has no input")
	}
	return protocol.Effects{Sync: true, Arm: []protocol.Timer{TimerGive}}, nil
}

func (s *Server) receive(m protocol.Message) (protocol.Effects, error) {
	from := slices.Index(s.parties, m.Sender)
	if from < 0 || m.Round != roundGive || m.Kind != kindGive || m.Sequence != 0 || int(m.Chunks) != s.pieces() || m.Chunk >= m.Chunks || s.have[from][m.Chunk] {
		return protocol.Effects{}, m.Unexpected()
	}
	lo, hi := s.at(int(m.Chunk))
	if len(m.Body) != hi-lo {
		return protocol.Effects{}, m.Malformed(fmt.Errorf("gather: %d bytes, not %d", len(m.Body), hi-lo))
	}
	if s.bodies[from] == nil {
		s.bodies[from] = make([]byte, s.bytes)
	}
	copy(s.bodies[from][lo:], m.Body)
	s.have[from][m.Chunk] = true
	s.missing[from]--
	return s.after()
}

// after waits for the next piece, or ends.
func (s *Server) after() (protocol.Effects, error) {
	total, left := len(s.parties)*s.pieces(), 0
	for _, n := range s.missing {
		left += n
	}
	e := protocol.Effects{Progress: protocol.Progress{Stage: "gather", Done: int64(total - left), Total: int64(total)}}
	if left > 0 {
		e.Arm = []protocol.Timer{TimerGive}
		return e, nil
	}
	return protocol.Finish(e, nil)
}

// expire names the first party of which something is missing.
func (s *Server) expire(t protocol.Timer) (protocol.Effects, error) {
	if t != TimerGive {
		return protocol.Effects{}, fmt.Errorf("gather: a server has no timer %q", t)
	}
	silent := slices.IndexFunc(s.missing, func(n int) bool { return n > 0 }) // one is, or the session is over
	why := fmt.Errorf("gather: %d of %d pieces did not come in time", s.missing[silent], s.pieces())
	return protocol.Finish(protocol.Effects{}, protocol.Blame(s.parties[silent], protocol.KindSilent, why))
}
