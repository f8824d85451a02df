package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/protocol"
)

// Store is the folder of a process's journals. Only one process can use a folder at a time. A Store
// is safe for concurrent use.
type Store struct {
	root string
	lock *os.File

	creating sync.Mutex // lets only one goroutine at a time look for a mark and write it

	mu   sync.Mutex
	open map[protocol.SessionID]bool
}

// OpenStore opens or creates the folder root for this process. It finishes each Create and Destroy
// that a crash interrupted. It fails with [disk.ErrLocked] while another process has the folder.
func OpenStore(root string) (*Store, error) {
	if err := disk.MakeDirs(root); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	lock, err := disk.Lock(filepath.Join(root, "lock"))
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	s := &Store{root: root, lock: lock, open: make(map[protocol.SessionID]bool)}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("journal: %w", err), lock.Close())
	}
	return s, nil
}

func (s *Store) prepare() error {
	for _, name := range []string{"used", "session"} {
		if err := disk.MakeDir(filepath.Join(s.root, name)); err != nil {
			return err
		}
	}
	if err := s.finish(); err != nil {
		return err
	}
	return s.sweep()
}

// Close releases the folder for other processes. Journals that are still open must not be used any
// more.
func (s *Store) Close() error {
	if err := s.lock.Close(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

func (s *Store) dir(id protocol.SessionID) string {
	return filepath.Join(s.root, "session", id.Hex())
}

func (s *Store) markPath(id protocol.SessionID) string {
	return filepath.Join(s.root, "used", id.Hex())
}

// Used reports whether a session with this id has ever been begun here.
func (s *Store) Used(id protocol.SessionID) (bool, error) {
	_, err := os.Stat(s.markPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("journal: %w", err)
	}
	return true, nil
}

// Create begins a session with a new id. Afterwards its id is used, its seed is on disk, and its
// log is empty. build names the program and the instruction set, on which floats depend. An id that
// was ever used gives an error that wraps [ErrUsed].
func (s *Store) Create(id protocol.SessionID, seed [SeedSize]byte, build string) (*Journal, error) {
	if build == "" || len(build) > maxBuildBytes {
		return nil, fmt.Errorf("journal: the name of the build has %d bytes; it must have 1 to %d", len(build), maxBuildBytes)
	}
	s.creating.Lock()
	defer s.creating.Unlock()
	used, err := s.Used(id)
	if err != nil {
		return nil, err
	}
	if used {
		return nil, fmt.Errorf("journal: session %v: %w", id, ErrUsed)
	}
	if err := s.lay(id, seed, build); err != nil {
		return nil, errors.Join(fmt.Errorf("journal: session %v: %w", id, err), s.discard(id))
	}
	m, err := createMark(s.markPath(id))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("journal: session %v: %w", id, err), s.discard(id))
	}
	if err := s.install(id); err != nil {
		// No later session may use the id, and no secret of this session remains.
		return nil, errors.Join(fmt.Errorf("journal: session %v: %w", id, err), m.close(), s.discard(id), s.Destroy(id, nil))
	}
	j, _, err := s.load(id, m, state{})
	if err != nil {
		return nil, errors.Join(err, s.Destroy(id, nil))
	}
	return j, nil
}

// createMark marks a session's id as used. A process that is killed here leaves no mark or a whole
// mark, because half a mark would mean a lost session. No other call creates marks at the same time.
func createMark(path string) (*mark, error) {
	if err := disk.Replace(path, []byte(state{}.String())); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	return &mark{file: f}, err
}

// draft returns the path of the folder in which a new session is prepared. A crash leaves either no
// session or a complete one.
func (s *Store) draft(id protocol.SessionID) string { return s.dir(id) + draftSuffix }

const draftSuffix = ".new"

// discard removes the folder of an incomplete session, the seed first.
func (s *Store) discard(id protocol.SessionID) error {
	return errors.Join(s.erase(s.draft(id)), os.RemoveAll(s.draft(id)))
}

// install moves a complete session from its draft folder to its final place.
func (s *Store) install(id protocol.SessionID) error {
	if err := os.Rename(s.draft(id), s.dir(id)); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(s.dir(id)))
}

// finish completes a Create that a crash interrupted. A draft with a mark is complete and becomes
// the session. A draft without a mark was never returned to a caller and is removed.
func (s *Store) finish() error {
	entries, err := os.ReadDir(filepath.Join(s.root, "session"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, isDraft := strings.CutSuffix(e.Name(), draftSuffix)
		id, ok := parseID(name)
		if !isDraft || !ok {
			continue
		}
		used, err := s.Used(id)
		if err == nil && used {
			err = s.install(id)
		} else if err == nil {
			err = s.discard(id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lay writes the files of a new session into its draft folder.
func (s *Store) lay(id protocol.SessionID, seed [SeedSize]byte, build string) error {
	dir := s.draft(id)
	log, err := newLog(Header{id, build, time.Now()}, seed)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(bodyPath(dir), 0o700); err != nil {
		return err
	}
	if err := disk.Write(seedPath(dir), seed[:]); err != nil {
		return err
	}
	if err := disk.Write(logPath(dir), log); err != nil {
		return err
	}
	return errors.Join(disk.SyncDir(dir), disk.SyncDir(filepath.Dir(dir)))
}

// newLog returns the bytes of a log without records. They are magic, length, header, and an empty
// sealed piece, which proves that seed and header belong together.
func newLog(h Header, seed [SeedSize]byte) ([]byte, error) {
	header := h.encode()
	s, err := newSealer(seed, header)
	if err != nil {
		return nil, err
	}
	b := append([]byte(magic), 0, 0)
	binary.LittleEndian.PutUint16(b[len(magic):], uint16(len(header)))
	b = append(b, header...)
	return s.seal(b, place{kind: placeHeader}, nil), nil
}

// Unfinished returns the ids of the sessions that were begun and not destroyed, in order. Each must
// be opened and resumed, or destroyed.
func (s *Store) Unfinished() ([]protocol.SessionID, error) {
	var list []protocol.SessionID
	ids, err := s.ids("used", "session")
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		ended, err := s.ended(id)
		if err != nil {
			return nil, err
		}
		if !ended {
			list = append(list, id)
		}
	}
	return list, nil
}

// ended reports whether the mark says that the session has ended. It returns false if the mark is
// damaged or missing.
func (s *Store) ended(id protocol.SessionID) (bool, error) {
	m, st, err := openMark(s.markPath(id))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrLost) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("journal: %w", err)
	}
	return st.ended, m.close()
}

// ids lists the sessions that have a file or a folder in the given folders, in order of their ids.
func (s *Store) ids(folders ...string) ([]protocol.SessionID, error) {
	seen := make(map[protocol.SessionID]bool)
	for _, folder := range folders {
		entries, err := os.ReadDir(filepath.Join(s.root, folder))
		if err != nil {
			return nil, fmt.Errorf("journal: %w", err)
		}
		for _, e := range entries {
			if id, ok := parseID(e.Name()); ok {
				seen[id] = true
			}
		}
	}
	return sorted(seen), nil
}

func sorted(set map[protocol.SessionID]bool) []protocol.SessionID {
	return slices.SortedFunc(maps.Keys(set), func(a, b protocol.SessionID) int { return bytes.Compare(a[:], b[:]) })
}

func parseID(name string) (id protocol.SessionID, ok bool) {
	b, err := hex.DecodeString(name)
	if err != nil || len(b) != len(id) {
		return id, false
	}
	return protocol.SessionID(b), true
}

func (s *Store) release(id protocol.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}
