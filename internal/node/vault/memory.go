package vault

import (
	"bytes"
	"iter"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/protocol"
)

// Memory is a vault that ends with the process. It keeps no journal, because
// nothing could ever replay it.
type Memory struct {
	mu       sync.Mutex
	sessions map[protocol.SessionID]*memorySession
	claims   map[string]protocol.SessionID
}

// NewMemory returns an empty vault.
func NewMemory() *Memory {
	return &Memory{sessions: make(map[protocol.SessionID]*memorySession), claims: make(map[string]protocol.SessionID)}
}

// Create opens a new session.
func (v *Memory) Create(id protocol.SessionID, seed [32]byte, proposal []byte) (Session, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, used := v.sessions[id]; used {
		return nil, ErrUsed
	}
	s := &memorySession{id: id, seed: seed, created: time.Now(), documents: map[Document][]byte{Proposal: bytes.Clone(proposal)}}
	v.sessions[id] = s
	return s, nil
}

// Open returns nothing: there is no restart.
func (v *Memory) Open() ([]Session, []Lost, error) { return nil, nil, nil }

// Claim takes names permanently.
func (v *Memory) Claim(id protocol.SessionID, names ...string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.unclaimed(id, names); err != nil {
		return err
	}
	for _, name := range names {
		v.claims[name] = id
	}
	return nil
}

// Unclaimed is the error that Claim would give, and claims nothing.
func (v *Memory) Unclaimed(id protocol.SessionID, names ...string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.unclaimed(id, names)
}

func (v *Memory) unclaimed(id protocol.SessionID, names []string) error {
	for _, name := range names {
		if holder, taken := v.claims[name]; taken && holder != id {
			return &journal.HeldError{Name: name, Holder: holder}
		}
	}
	return nil
}

// Close has nothing to release.
func (v *Memory) Close() error { return nil }

// memorySession is used by one goroutine at a time, like a session on disk.
type memorySession struct {
	id        protocol.SessionID
	seed      [32]byte
	created   time.Time
	documents map[Document][]byte
}

func (s *memorySession) ID() protocol.SessionID            { return s.id }
func (s *memorySession) Seed() [32]byte                    { return s.seed }
func (s *memorySession) Created() time.Time                { return s.created }
func (s *memorySession) Get(name Document) ([]byte, error) { return s.documents[name], nil }
func (s *memorySession) Append(journal.Record) error       { return nil }
func (s *memorySession) Sync() error                       { return nil }

// Records yields nothing: there was no earlier process.
func (s *memorySession) Records() iter.Seq2[journal.Record, error] {
	return func(func(journal.Record, error) bool) {}
}

func (s *memorySession) Put(name Document, data []byte) error {
	s.documents[name] = bytes.Clone(data)
	return nil
}

// Destroy forgets the seed; the id stays used.
func (s *memorySession) Destroy(string) error {
	clear(s.seed[:])
	clear(s.documents)
	return nil
}
