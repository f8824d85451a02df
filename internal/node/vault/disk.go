package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/protocol"
)

// Disk is a vault in a folder on disk. The folder has these entries:
//
//	ROOT/journals      seeds and journals, see package journal
//	ROOT/documents/ID  proposal, directory, report, renewal of each open session
//	ROOT/claims        the ledger of names that sessions have claimed
type Disk struct {
	root   string
	build  string
	store  *journal.Store
	ledger *journal.Ledger

	abandons bool
	creating sync.Mutex
}

// claimsName is the name of the file with the claims.
const claimsName = "claims"

// OpenDisk opens or creates the folder for this process. The argument build names the program,
// because only the same program can replay a journal.
func OpenDisk(root, build string) (*Disk, error) {
	if err := disk.MakeDirs(filepath.Join(root, "documents")); err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	store, err := journal.OpenStore(filepath.Join(root, "journals"))
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	ledger, err := journal.OpenLedger(filepath.Join(root, claimsName))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("vault: %w", err), store.Close())
	}
	return &Disk{root: root, build: build, store: store, ledger: ledger}, nil
}

// Close releases the folder.
func (v *Disk) Close() error { return errors.Join(v.ledger.Close(), v.store.Close()) }

// Claim permanently claims names for a session.
func (v *Disk) Claim(id protocol.SessionID, names ...string) error {
	return v.ledger.Claim(id, names...)
}

// Unclaimed returns the error that Claim would return for these names, but claims and writes nothing.
func (v *Disk) Unclaimed(id protocol.SessionID, names ...string) error {
	return v.ledger.Unclaimed(id, names...)
}

// Unfinished returns the proposals of the sessions that were begun and not destroyed. A session without
// a proposal, which is lost, has an empty one. It changes nothing.
func (v *Disk) Unfinished() (proposals [][]byte, err error) {
	ids, err := v.store.Unfinished()
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	for _, id := range ids {
		b, err := os.ReadFile(v.path(id, Proposal))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("vault: %w", err)
		}
		proposals = append(proposals, b)
	}
	return proposals, nil
}

// Abandon makes Open destroy the sessions that another build of the program began.
func (v *Disk) Abandon() { v.abandons = true }

// BuildError reports that another build began some open sessions. Only that build can resume these
// sessions: this build might compute other messages than those that were sent.
type BuildError struct {
	Sessions []protocol.SessionID
	Err      error // error of the last of these sessions
}

func (e *BuildError) Error() string {
	return fmt.Sprintf("vault: another build of the program has left %d sessions open, which this one cannot continue: %v", len(e.Sessions), e.Err)
}

func (e *BuildError) Unwrap() error { return e.Err }

// Create stores a new session. The proposal is on disk before the seed, so that every session with
// a seed has its description. It returns [ErrUsed] for an id that was used before. After any other
// error, no document of the session remains.
func (v *Disk) Create(id protocol.SessionID, seed [32]byte, proposal []byte) (Session, error) {
	v.creating.Lock() // lets only one goroutine at a time look for a used id and mark it
	defer v.creating.Unlock()
	used, err := v.store.Used(id)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	if used {
		return nil, ErrUsed
	}
	j, err := v.create(id, seed, proposal)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("vault: %w", err), os.RemoveAll(v.folder(id)))
	}
	return &diskSession{vault: v, id: id, seed: seed, journal: j}, nil
}

func (v *Disk) create(id protocol.SessionID, seed [32]byte, proposal []byte) (*journal.Journal, error) {
	if err := disk.MakeDir(v.folder(id)); err != nil {
		return nil, err
	}
	if err := disk.Replace(v.path(id, Proposal), proposal); err != nil {
		return nil, err
	}
	return v.store.Create(id, seed, v.build)
}

// Open returns the sessions that an earlier process began and did not destroy. It begins a session
// anew that is lost but can begin anew (see [AllowAnew]). It destroys any other session that cannot
// be resumed, and returns it as lost: the session's job must be submitted again, but the process can
// serve all other jobs. Open fails, and keeps the session, if a session cannot be read for another
// reason, such as too many open files. While sessions of another build are open, Open keeps them and
// fails with a [*BuildError], unless [Disk.Abandon] was called.
func (v *Disk) Open() (open []Session, lost []Lost, err error) {
	ids, err := v.store.Unfinished()
	if err != nil {
		return nil, nil, fmt.Errorf("vault: %w", err)
	}
	if err := v.sweep(ids); err != nil {
		return nil, nil, fmt.Errorf("vault: %w", err)
	}
	var failed error
	foreign := &BuildError{}
	for _, id := range ids {
		s, err := v.resume(id)
		switch {
		case err == nil:
			open = append(open, s)
		case errors.Is(err, journal.ErrBuild) && !v.abandons:
			foreign.Sessions = append(foreign.Sessions, id)
			foreign.Err = err
		case errors.Is(err, journal.ErrLost), errors.Is(err, journal.ErrBuild):
			lost = append(lost, Lost{id, err})
			failed = errors.Join(failed, v.bury(id, "lost: "+err.Error()))
		default:
			failed = errors.Join(failed, err)
		}
	}
	if len(foreign.Sessions) > 0 {
		failed = errors.Join(failed, foreign)
	}
	if failed != nil {
		return nil, nil, errors.Join(fmt.Errorf("vault: %w", failed), closeAll(open))
	}
	return open, lost, nil
}

// resume opens a session again, or begins it anew if it is lost and can begin anew (see [AllowAnew]).
func (v *Disk) resume(id protocol.SessionID) (*diskSession, error) {
	s, err := v.reopen(id)
	if err == nil {
		if err = s.whole(); err == nil {
			return s, nil
		}
		err = errors.Join(err, s.journal.Close())
	}
	if !errors.Is(err, journal.ErrLost) {
		return nil, err
	}
	s, why := v.renew(id)
	if errors.Is(why, journal.ErrLost) {
		return nil, err // the first cause
	}
	return s, why
}

func closeAll(open []Session) error {
	var errs error
	for _, s := range open {
		errs = errors.Join(errs, s.(*diskSession).journal.Close())
	}
	return errs
}

// sweep removes the documents of sessions that are not open. A crash in the middle of a Create or a
// Destroy leaves such documents.
func (v *Disk) sweep(open []protocol.SessionID) error {
	keep := make(map[string]bool)
	for _, id := range open {
		keep[id.Hex()] = true
	}
	entries, err := os.ReadDir(filepath.Join(v.root, "documents"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !keep[e.Name()] {
			err = errors.Join(err, os.RemoveAll(filepath.Join(v.root, "documents", e.Name())))
		}
	}
	return err
}

func (v *Disk) reopen(id protocol.SessionID) (*diskSession, error) {
	j, _, err := v.store.Open(id, v.build)
	if err != nil {
		return nil, err
	}
	return v.sessionOf(id, j)
}

// sessionOf returns the session of an open journal, unless its proposal is missing.
func (v *Disk) sessionOf(id protocol.SessionID, j *journal.Journal) (*diskSession, error) {
	s := &diskSession{vault: v, id: id, journal: j}
	var err error
	if s.seed, err = j.Seed(); err == nil {
		s.anew, err = j.Anew()
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	proposal, err := s.Get(Proposal)
	if err == nil && proposal == nil {
		err = fmt.Errorf("vault: the proposal of session %v is missing: %w", id, journal.ErrLost)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return s, nil
}

// bury destroys a session's journal and documents, and keeps the outcome.
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
	anew    *[32]byte
	journal *journal.Journal
}

func (s *diskSession) ID() protocol.SessionID                    { return s.id }
func (s *diskSession) Seed() [32]byte                            { return s.seed }
func (s *diskSession) Anew() *[32]byte                           { return s.anew }
func (s *diskSession) Created() time.Time                        { return s.journal.Header().Created }
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
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	return data, nil
}

func (s *diskSession) Destroy(outcome string) error {
	clear(s.seed[:])
	if s.anew != nil {
		clear(s.anew[:])
	}
	return errors.Join(s.journal.Close(), s.vault.bury(s.id, outcome))
}
