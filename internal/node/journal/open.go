package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mercer-fl/mercer/protocol"
)

// Note describes what Open found and repaired in a session's files.
type Note struct {
	Records    int
	TornBytes  int64 // bytes cut off at the end of the log, after a crash
	LostBodies int   // number of side files whose records were cut off, or never written
}

// Open opens a session that an earlier process began. It checks the whole log, cuts off a torn end
// and flushes the rest. Replay the records before appending.
//
// The error wraps [ErrUnknown], [ErrEnded], [ErrBuild], or [ErrLost] if the
// session must be aborted. If it wraps none of these, the session is open
// already or a file could not be read or written.
func (s *Store) Open(id protocol.SessionID, build string) (*Journal, Note, error) {
	m, st, err := openMark(s.markPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Note{}, s.unknown(id)
	}
	if err != nil {
		return nil, Note{}, fmt.Errorf("journal: session %v: %w", id, err)
	}
	if st.ended {
		return nil, Note{}, errors.Join(fmt.Errorf("journal: session %v: %w", id, ErrEnded), m.close())
	}
	j, note, err := s.load(id, m, st)
	if err != nil {
		return nil, Note{}, err
	}
	if was := j.header.Build; was != build {
		err := fmt.Errorf("journal: session %v was begun by build %q, but this is build %q: %w", id, was, build, ErrBuild)
		return nil, Note{}, errors.Join(err, j.Close())
	}
	return j, note, nil
}

// unknown returns the error for a session without a mark. It distinguishes a session that never
// began from one whose mark is missing.
func (s *Store) unknown(id protocol.SessionID) error {
	if _, err := os.Stat(s.dir(id)); err == nil {
		return fmt.Errorf("journal: session %v has files but no mark, as if restored from a backup: %w", id, ErrLost)
	}
	return fmt.Errorf("journal: session %v cannot be opened: %w", id, ErrUnknown)
}

// load opens the files of a session whose mark says that it has not ended. If load fails, it closes m.
func (s *Store) load(id protocol.SessionID, m *mark, st state) (*Journal, Note, error) {
	if err := s.claim(id); err != nil {
		return nil, Note{}, errors.Join(err, m.close())
	}
	j := &Journal{store: s, dir: s.dir(id), mark: m}
	note, err := j.load(id, st)
	if err != nil {
		// The journal may be incomplete here, so each of its files is closed separately.
		err = errors.Join(fmt.Errorf("journal: session %v: %w", id, err), j.bodies.close(), m.close())
		if j.log != nil {
			err = errors.Join(err, j.log.Close())
		}
		s.release(id)
		return nil, Note{}, err
	}
	return j, note, nil
}

// claim records that a session is open, and refuses to open it twice.
func (s *Store) claim(id protocol.SessionID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id] {
		return fmt.Errorf("journal: session %v is already open", id)
	}
	s.open[id] = true
	return nil
}

func (j *Journal) load(id protocol.SessionID, st state) (Note, error) {
	key, log, err := readKey(j.dir, st.anew)
	if err != nil {
		return Note{}, err
	}
	if j.log, err = os.OpenFile(log, os.O_RDWR, 0); err != nil {
		return Note{}, fault(log, 0, err)
	}
	if j.header, j.sealer, j.start, err = readHeader(j.log, key); err != nil {
		return Note{}, fault(j.log.Name(), 0, err)
	}
	if j.header.Session != id {
		return Note{}, fault(j.log.Name(), 0, damage("it is the log of session "+j.header.Session.String()))
	}
	j.bodies = bodies{dir: bodyPath(j.dir), sealer: j.sealer}
	return j.mend(st.records)
}

// mend checks the whole log, cuts off a torn end, and flushes the rest. The argument marked is the
// number of records that were on disk according to the mark, so the log must still have that many.
func (j *Journal) mend(marked uint64) (Note, error) {
	info, err := j.log.Stat()
	if err != nil {
		return Note{}, err
	}
	fr := newFrames(j.log, j.start, info.Size(), j.sealer)
	keep, err := j.scan(fr, marked)
	if err != nil {
		return Note{}, err
	}
	if fr.number < marked {
		return Note{}, fmt.Errorf("the log has %d records, but %d were on disk before; the log was cut off or restored from a backup: %w", fr.number, marked, ErrLost)
	}
	j.end, j.next, j.synced = fr.offset, fr.number, marked
	note := Note{Records: int(j.next), TornBytes: info.Size() - j.end}
	if note.LostBodies, err = j.bodies.sweep(keep); err != nil {
		return note, fault(j.bodies.dir, 0, err)
	}
	if note.TornBytes == 0 && j.synced == j.next {
		return note, nil
	}
	if err := j.log.Truncate(j.end); err != nil {
		return note, err
	}
	return note, j.flush()
}

// scan reads the log up to the end of its intact records. It returns the names of the records' side
// files. The position of fr is then that end.
func (j *Journal) scan(fr *frames, marked uint64) (keep map[string]bool, err error) {
	keep = make(map[string]bool)
	for {
		number, offset := fr.number, fr.offset
		plain, err := fr.next()
		if errors.Is(err, io.EOF) || errors.Is(err, errTorn) {
			return keep, nil
		}
		var e entry
		if err == nil {
			e, err = decode(plain)
		}
		if err != nil {
			return nil, fault(j.log.Name(), offset, err)
		}
		if e.side == nil {
			continue
		}
		kept, err := j.adopt(number, *e.side, number < marked)
		if err != nil {
			return nil, err
		}
		if !kept {
			fr.offset, fr.number = offset, number
			return keep, nil
		}
		keep[filepath.Base(j.bodies.path(number))] = true
	}
}

// adopt takes over a record's side file from an earlier process. The argument flushed says whether
// the mark counts the record. If it does not, a power cut may have lost the side file but not the
// record. So a missing or damaged side file is then no error: adopt returns false, and the log ends
// before the record.
func (j *Journal) adopt(number uint64, want side, flushed bool) (kept bool, err error) {
	err = j.bodies.adopt(number, want, flushed)
	if err != nil && !flushed && damaged(err) {
		return false, nil
	}
	if err != nil {
		return false, fault(j.bodies.path(number), 0, err)
	}
	return true, nil
}

// readSeed reads a file of 32 secret bytes.
func readSeed(path string) (seed [SeedSize]byte, err error) {
	b, err := os.ReadFile(path)
	if err == nil && len(b) != SeedSize {
		err = damage(fmt.Sprintf("the file has %d bytes, but a seed has %d", len(b), SeedSize))
	}
	if err != nil {
		return seed, fault(path, 0, err)
	}
	return [SeedSize]byte(b), nil
}

// These errors say how to proceed with a session.
var (
	// ErrLost reports that a session must not continue.
	ErrLost = errors.New("the session must be aborted; destroy it and submit the job again")
	// ErrUsed reports that a session with the same id was created before.
	ErrUsed = errors.New("this session has been begun before and never runs again; submit the job again")
	// ErrEnded reports that a session cannot be opened, because it has ended.
	ErrEnded = errors.New("this session has ended")
	// ErrUnknown reports that a session cannot be opened, because it was never created.
	ErrUnknown = errors.New("there is no such session")
	// ErrBuild reports that another program, or the program on another kind of computer, began the
	// session. A replay here might give other bytes.
	ErrBuild = errors.New("resume the session with the same program on the same kind of computer, or abort it")
)

// CorruptError names the damaged place in a session's files. It wraps [ErrLost].
type CorruptError struct {
	File   string
	Offset int64 // offset of the damage in bytes
	Err    error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("journal: %s is damaged at byte %d: %v; %v", e.File, e.Offset, e.Err, ErrLost)
}

func (e *CorruptError) Unwrap() []error { return []error{e.Err, ErrLost} }

// damage describes a fault in bytes that were read from a file. A missing file counts as damage, too.
// Any other read error, such as too many open files, is no reason to give up a session.
type damage string

func (d damage) Error() string { return string(d) }

func damaged(err error) bool {
	var d damage
	return errors.As(err, &d) || errors.Is(err, fs.ErrNotExist)
}

// fault adds the file and the position to an error.
func fault(file string, offset int64, err error) error {
	if damaged(err) {
		return &CorruptError{file, offset, err}
	}
	return fmt.Errorf("journal: could not read %s at byte %d: %w", file, offset, err)
}

// state is the decoded content of a session's mark. The mark is outside the session's folder, so
// that a folder restored from a backup is detected.
type state struct {
	ended   bool
	anew    bool   // whether the session was begun anew, so that its first log no longer counts
	records uint64 // number of records that were on disk
}

// A session's mark is one line of fixed length. One write within one sector replaces it.
const markFormat = "%-5s %020d\n"

func (s state) String() string {
	word := "open"
	switch {
	case s.ended:
		word = "ended"
	case s.anew:
		word = "anew"
	}
	return fmt.Sprintf(markFormat, word, s.records)
}

func parseState(line string) (state, error) {
	var word string
	var s state
	if _, err := fmt.Sscanf(line, "%s %d\n", &word, &s.records); err != nil {
		return s, damage("the file is not a mark of a session")
	}
	s.ended, s.anew = word == "ended", word == "anew"
	if s.String() != line {
		return s, damage("the file is not a mark of a session")
	}
	return s, nil
}

// mark is the open file of a session's mark.
type mark struct {
	file *os.File
	anew bool
}

func openMark(path string) (*mark, state, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, state{}, err
	}
	s, err := readState(f)
	if err != nil {
		return nil, state{}, errors.Join(fault(path, 0, err), f.Close())
	}
	return &mark{f, s.anew}, s, nil
}

func readState(r io.Reader) (state, error) {
	b, err := io.ReadAll(io.LimitReader(r, 64))
	if err != nil {
		return state{}, err
	}
	return parseState(string(b))
}

// set writes the number of records on disk into the mark, without flushing. After a power cut the
// number in the mark can be too low, but not too high.
func (m *mark) set(records uint64) error {
	_, err := m.file.WriteAt([]byte(state{anew: m.anew, records: records}.String()), 0)
	return err
}

func (m *mark) close() error { return m.file.Close() }
