package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
)

// Renew begins a session anew whose log is lost ([ErrLost]). It draws fresh bytes and makes an empty log under them;
// the session's seed stays. The caller must know that the session is allowed to go on without what the lost log says.
//
// A session can be begun anew only once: after that, its mark says so, and Renew returns an error that wraps ErrLost.
// So does Renew if the seed, the mark or the first log's header is damaged, since the header names the build.
func (s *Store) Renew(id protocol.SessionID, build string) (*Journal, error) {
	j, err := s.renew(id, build)
	if err != nil {
		return nil, fmt.Errorf("journal: session %v cannot begin anew: %w", id, err)
	}
	return j, nil
}

func (s *Store) renew(id protocol.SessionID, build string) (*Journal, error) {
	m, st, err := openMark(s.markPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.unknown(id)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case st.ended:
		return nil, errors.Join(ErrEnded, m.close())
	case st.anew:
		return nil, errors.Join(fmt.Errorf("it was begun anew before: %w", ErrLost), m.close())
	}
	if err := s.layAnew(id, build); err != nil {
		return nil, errors.Join(err, m.close())
	}
	if err := m.renew(); err != nil {
		return nil, errors.Join(err, m.close())
	}
	j, _, err := s.load(id, m, state{anew: true})
	return j, err
}

// layAnew writes the fresh bytes and the empty log. Nothing reads them before the mark says that the session was begun
// anew, so a crash in between leaves a lost session.
func (s *Store) layAnew(id protocol.SessionID, build string) error {
	seed, err := readSeed(seedPath(s.dir(id)))
	if err != nil {
		return err
	}
	header, err := s.firstHeader(id, seed)
	if err != nil {
		return err
	}
	if header.Build != build {
		return fmt.Errorf("it was begun by build %q, but this is build %q: %w", header.Build, build, ErrBuild)
	}
	var fresh [SeedSize]byte
	_, _ = rand.Read(fresh[:]) // rand.Read never fails
	log, err := newLog(header, anewKey(seed, fresh))
	if err != nil {
		return err
	}
	if err := disk.MakeDir(bodyPath(s.dir(id))); err != nil {
		return err
	}
	if err := disk.Replace(anewPath(s.dir(id)), fresh[:]); err != nil {
		return err
	}
	return disk.Replace(anewLogPath(s.dir(id)), log)
}

// firstHeader reads the header of the log that is lost.
func (s *Store) firstHeader(id protocol.SessionID, seed [SeedSize]byte) (Header, error) {
	path := logPath(s.dir(id))
	file, err := os.Open(path)
	if err != nil {
		return Header{}, fault(path, 0, err)
	}
	h, _, _, err := readHeader(file, seed)
	if err == nil && h.Session != id {
		err = damage("it is the log of session " + h.Session.String())
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return Header{}, fault(path, 0, err)
	}
	return h, nil
}

// renew marks the session as begun anew, durably.
func (m *mark) renew() error {
	m.anew = true
	return errors.Join(m.set(0), m.file.Sync())
}

// Anew reads the fresh bytes of a session that was begun anew from the disk. It returns nil for any other session. The
// journal keeps no copy of the bytes in memory.
func (j *Journal) Anew() (*[SeedSize]byte, error) {
	if !j.mark.anew {
		return nil, nil
	}
	fresh, err := readSeed(anewPath(j.dir))
	return &fresh, err
}

// readKey returns the bytes that seal a session's log, and the log's path. If the session was begun anew, the bytes
// follow from seed and fresh bytes, so the log's header proves that both are intact.
func readKey(dir string, anew bool) (key [SeedSize]byte, log string, err error) {
	seed, err := readSeed(seedPath(dir))
	if err != nil || !anew {
		return seed, logPath(dir), err
	}
	fresh, err := readSeed(anewPath(dir))
	if err != nil {
		return key, "", err
	}
	return anewKey(seed, fresh), anewLogPath(dir), nil
}

func anewKey(seed, fresh [SeedSize]byte) [SeedSize]byte {
	return prg.Derive(seed, keyLabel+"/anew", fresh[:])
}

// eraseSeeds overwrites and removes a session's seed and fresh bytes.
func eraseSeeds(dir string) error {
	var errs error
	for _, path := range []string{seedPath(dir), anewPath(dir)} {
		if err := disk.Erase(path); !errors.Is(err, fs.ErrNotExist) {
			errs = errors.Join(errs, err)
		}
	}
	return errs
}

func anewPath(dir string) string    { return filepath.Join(dir, "anew") }
func anewLogPath(dir string) string { return filepath.Join(dir, "anew-log") }
