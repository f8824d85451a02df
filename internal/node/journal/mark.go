package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// state holds the content of a session's mark. The mark lies apart from the session's
// folder, so that a folder restored from a backup is found out.
type state struct {
	ended   bool
	records uint64 // that had been on disk
}

// The mark is one line of fixed length, so that it is replaced in one write
// within one sector.
const markFormat = "%-5s %020d\n"

func (s state) String() string {
	if s.ended {
		return fmt.Sprintf(markFormat, "ended", s.records)
	}
	return fmt.Sprintf(markFormat, "open", s.records)
}

func parseState(line string) (state, error) {
	var word string
	var s state
	if _, err := fmt.Sscanf(line, "%s %d\n", &word, &s.records); err != nil {
		return s, damage("not a mark")
	}
	s.ended = word == "ended"
	if s.String() != line {
		return s, damage("not a mark")
	}
	return s, nil
}

// mark is the open file of a session's mark.
type mark struct{ file *os.File }

func openMark(path string) (*mark, state, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, state{}, err
	}
	s, err := readState(f)
	if err != nil {
		return nil, state{}, errors.Join(fault(path, 0, err), f.Close())
	}
	return &mark{f}, s, nil
}

func readState(r io.Reader) (state, error) {
	b, err := io.ReadAll(io.LimitReader(r, 64))
	if err != nil {
		return state{}, err
	}
	return parseState(string(b))
}

// set notes the number of records on disk. The note is not flushed: a mark that
// is too low after a power cut is harmless, and one that is too high cannot be.
func (m *mark) set(records uint64) error {
	_, err := m.file.WriteAt([]byte(state{records: records}.String()), 0)
	return err
}

func (m *mark) close() error { return m.file.Close() }
