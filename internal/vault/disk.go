package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/mercer-fl/mercer/internal/disk"
	"github.com/mercer-fl/mercer/internal/journal"
	"github.com/mercer-fl/mercer/protocol"
)

// Disk is a vault in a folder:
//
//	ROOT/journals      seeds and journals, see package journal
//	ROOT/documents/ID  proposal, directory, report of each open session
//	ROOT/claims        the ledger of once-for-ever names
type Disk struct {
	root   string
	build  string
	store  *journal.Store
	ledger *journal.Ledger
}

// OpenDisk takes the folder for this process and creates it if need be. build
// names the program, because a journal can be replayed by the same program
// only.
func OpenDisk(root, build string) (*Disk, error) {
	if err := os.MkdirAll(filepath.Join(root, "documents"), 0o700); err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	store, err := journal.OpenStore(filepath.Join(root, "journals"))
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	ledger, err := journal.OpenLedger(filepath.Join(root, "claims"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("vault: %w", err), store.Close())
	}
	return &Disk{root, build, store, ledger}, nil
}

// Close releases the folder.
func (v *Disk) Close() error { return errors.Join(v.ledger.Close(), v.store.Close()) }

// Claim takes names once for ever.
func (v *Disk) Claim(id protocol.SessionID, names ...string) error {
	return v.ledger.Claim(id, names...)
}

// Create opens a new session. The proposal is on disk before the seed, so that
// a session with a seed can always be told what it is.
func (v *Disk) Create(id protocol.SessionID, seed [32]byte, proposal []byte) (Session, error) {
	used, err := v.store.Used(id)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	if used {
		return nil, ErrUsed
	}
	if err := disk.MakeDir(v.folder(id)); err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	if err := disk.Replace(v.path(id, Proposal), proposal); err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	j, err := v.store.Create(id, seed, v.build)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	return &diskSession{v, id, seed, j}, nil
}

// Open returns the sessions that were not destroyed. One that cannot be run on
// — lost, restored from a backup, begun by another build — is destroyed here,
// and named in the error beside the sessions that can.
func (v *Disk) Open() ([]Session, error) {
	ids, err := v.store.Unfinished()
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	var sessions []Session
	for _, id := range ids {
		s, err := v.reopen(id)
		if err != nil {
			err = errors.Join(err, v.bury(id, "lost: "+err.Error()))
			return nil, fmt.Errorf("vault: session %v was open and is now aborted: %w", id, err)
		}
		sessions = append(sessions, s)
	}
	return sessions, nil
}

func (v *Disk) reopen(id protocol.SessionID) (*diskSession, error) {
	j, _, err := v.store.Open(id, v.build)
	if err != nil {
		return nil, err
	}
	seed, err := j.Seed()
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return &diskSession{v, id, seed, j}, nil
}

// bury destroys what is left of a session.
func (v *Disk) bury(id protocol.SessionID, outcome string) error {
	err := v.store.Destroy(id, []byte(outcome))
	return errors.Join(err, os.RemoveAll(v.folder(id)))
}

func (v *Disk) folder(id protocol.SessionID) string {
	return filepath.Join(v.root, "documents", id.Hex())
}

func (v *Disk) path(id protocol.SessionID, name Document) string {
	return filepath.Join(v.folder(id), string(name))
}

type diskSession struct {
	vault   *Disk
	id      protocol.SessionID
	seed    [32]byte
	journal *journal.Journal
}

func (s *diskSession) ID() protocol.SessionID                    { return s.id }
func (s *diskSession) Seed() [32]byte                            { return s.seed }
func (s *diskSession) Records() iter.Seq2[journal.Record, error] { return s.journal.Records() }
func (s *diskSession) Append(r journal.Record) error             { return s.journal.Append(r) }
func (s *diskSession) Sync() error                               { return s.journal.Sync() }

func (s *diskSession) Put(name Document, data []byte) error {
	return disk.Replace(s.vault.path(s.id, name), data)
}

func (s *diskSession) Get(name Document) ([]byte, error) {
	data, err := os.ReadFile(s.vault.path(s.id, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

func (s *diskSession) Destroy(outcome string) error {
	clear(s.seed[:])
	return errors.Join(s.journal.Close(), s.vault.bury(s.id, outcome))
}
