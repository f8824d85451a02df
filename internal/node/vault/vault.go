// Package vault stores a process's sessions. Of each session it stores the seed, the journal, and
// documents, such as the proposal with which the session began. A daemon stores them on disk, so that it
// can be killed at any instruction; "mercer simulate" keeps seeds and documents in memory.
//
// A session is created once and destroyed once. Its id is remembered without limit: a session that was
// destroyed, or whose folder was lost or restored from a backup, never runs again, but for sessions that may begin anew
// without harm: see [AllowAnew].
package vault

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/protocol"
)

// ErrUsed reports that a session with this id was created before.
var ErrUsed = errors.New("vault: this session has been run before and never runs again")

// Document is the name of a document that a session has beside its journal.
type Document string

// These are the names of a session's documents.
const (
	Proposal  Document = "proposal"  // the coordinator's proposal of the session; in package devices, a note of the step
	Directory Document = "directory" // the signed session keys of all members
	Report    Document = "report"    // how the session ended: a party's report, the reports that a coordinator received, or the devices that said farewell
	Renewal   Document = "renewal"   // what the session needs to begin anew; see AllowAnew
)

// Vault holds the sessions of one process. It is safe for concurrent use.
type Vault interface {
	// Create stores a new session. The seed is durable when it returns.
	Create(id protocol.SessionID, seed [32]byte, proposal []byte) (Session, error)
	// Open returns the sessions that an earlier process did not destroy. It begins a session anew
	// whose journal is lost, if AllowAnew and the claims let it. It also returns the other lost
	// sessions, which it had to destroy, because nothing can resume them. A *BuildError means that
	// this program must not continue some of the sessions. Any other error means that some sessions
	// could not be read or destroyed.
	Open() ([]Session, []Lost, error)
	// Claim permanently claims names for a session. It returns an error if another session holds a
	// name. A name that this session holds already is no error.
	Claim(id protocol.SessionID, names ...string) error
	// Unclaimed returns the error that Claim would return for these names, but claims and writes nothing.
	Unclaimed(id protocol.SessionID, names ...string) error
	// Close releases the vault, so that another process can open it.
	Close() error
}

// Lost describes an open session that cannot be resumed. Its files are damaged or were restored
// from a backup, or another build began it and the operator gave it up. Its secrets are destroyed.
type Lost struct {
	ID  protocol.SessionID
	Err error
}

// Session is a session's seed, documents and journal in a vault.
type Session interface {
	ID() protocol.SessionID
	Seed() [32]byte
	// Anew returns fresh secret bytes if the session was begun anew after its journal was lost,
	// otherwise nil. The journal then has the records since.
	Anew() *[32]byte
	Created() time.Time
	// Put stores a document durably.
	Put(name Document, data []byte) error
	// Get returns a document, or nil if the session does not have it.
	Get(name Document) ([]byte, error)
	// Records yields the journal's records, oldest first.
	Records() iter.Seq2[journal.Record, error]
	Append(journal.Record) error
	Sync() error
	// Destroy irrevocably erases the seed, and with it the journal. The outcome stays as a
	// tombstone.
	Destroy(outcome string) error
}

// Memory is a vault in memory. The vault is lost when the process ends, so a journal could never be
// replayed, and Memory has none.
type Memory struct {
	mu       sync.Mutex
	sessions map[protocol.SessionID]*memorySession
	claims   map[string]protocol.SessionID
}

// NewMemory returns an empty vault.
func NewMemory() *Memory {
	return &Memory{sessions: make(map[protocol.SessionID]*memorySession), claims: make(map[string]protocol.SessionID)}
}

// ReadClaims returns a vault in memory with the claims of a vault on disk, which another process may
// have open. It has none of its sessions.
func ReadClaims(root string) (*Memory, error) {
	claims, err := journal.ReadLedger(filepath.Join(root, claimsName))
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	v := NewMemory()
	maps.Copy(v.claims, claims)
	return v, nil
}

// Create stores a new session in memory.
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

// Open returns no sessions, because there is no earlier process.
func (v *Memory) Open() ([]Session, []Lost, error) { return nil, nil, nil }

// Claim permanently claims names for a session.
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

// Unclaimed returns the error that Claim would return, but claims nothing.
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

// Close does nothing, because a vault in memory has nothing to release.
func (v *Memory) Close() error { return nil }

// memorySession is a session of a vault in memory. One goroutine uses it at a time, like a session
// on disk.
type memorySession struct {
	id        protocol.SessionID
	seed      [32]byte
	created   time.Time
	documents map[Document][]byte
}

func (s *memorySession) ID() protocol.SessionID            { return s.id }
func (s *memorySession) Seed() [32]byte                    { return s.seed }
func (s *memorySession) Anew() *[32]byte                   { return nil }
func (s *memorySession) Created() time.Time                { return s.created }
func (s *memorySession) Get(name Document) ([]byte, error) { return s.documents[name], nil }
func (s *memorySession) Append(journal.Record) error       { return nil }
func (s *memorySession) Sync() error                       { return nil }

// Records yields no records, because a session in memory is never resumed.
func (s *memorySession) Records() iter.Seq2[journal.Record, error] {
	return func(func(journal.Record, error) bool) {}
}

func (s *memorySession) Put(name Document, data []byte) error {
	s.documents[name] = bytes.Clone(data)
	return nil
}

// Destroy removes the seed. The id stays used.
func (s *memorySession) Destroy(string) error {
	clear(s.seed[:])
	clear(s.documents)
	return nil
}
