package ppsvmv

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/mercer-fl/mercer/protocol"
)

// Server is the machine that receives the sum of all matrices from the leader.
type Server struct {
	frame
	sums [][]int64
}

// NewServer returns the machine of the server, which receives the sum.
func NewServer(s protocol.Setup) (*Server, error) { return newServer(s, mostEntries) }

func newServer(s protocol.Setup, most int) (*Server, error) {
	f, err := newFrame(s, protocol.RoleServer, most)
	if err != nil {
		return nil, err
	}
	return &Server{frame: f}, nil
}

// Sums returns the sum of all sites' matrices for each group. It requires that the session has
// ended without an error.
func (s *Server) Sums() [][]int64 { return s.sums }

// InputHash returns the zero hash for [protocol.Start], because a server has no input.
func (s *Server) InputHash() [sha256.Size]byte { return [sha256.Size]byte{} }

// Step implements [protocol.Machine].
func (s *Server) Step(e protocol.Event) (protocol.Effects, error) {
	return s.life.Step(s.setup, e, protocol.Handlers{Start: s.start, Receive: s.receive, Expire: s.expire})
}

func (s *Server) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != s.InputHash() {
		return protocol.Effects{}, errors.New("ppsvmv: a server has no input; its InputHash must be zero")
	}
	return protocol.Effects{Sync: true, Arm: []protocol.Timer{TimerTile}}, nil
}

func (s *Server) receive(m protocol.Message) (protocol.Effects, error) {
	if err := s.check(m); err != nil {
		return protocol.Effects{}, err
	}
	if s.sums == nil {
		s.makeRoom()
	}
	t := s.tiles[m.Chunk]
	read(s.sums[t.group][t.first:t.first+t.entries], m.Body)
	e := s.took(m.Chunk)
	if s.missing > 0 {
		e.Arm = []protocol.Timer{TimerTile}
		return e, nil
	}
	return protocol.Finish(e, nil)
}

// makeRoom allocates the sums when the first tile has arrived.
func (s *Server) makeRoom() {
	for _, entries := range s.params.groups {
		s.sums = append(s.sums, make([]int64, entries))
	}
}

// read decodes words to signed numbers.
func read(numbers []int64, words []byte) {
	for i := range numbers {
		numbers[i] = int64(binary.LittleEndian.Uint64(words[wordBytes*i:]))
	}
}
