package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Mark is a line of a record: its number and its hash. The zero Mark is the place before the first line.
type Mark struct {
	Number int    `json:"number"`
	Hash   string `json:"hash"`
}

// Follower reads the lines that any process adds to a record. It is not safe for concurrent use.
type Follower struct {
	path  string
	state state
}

// Follow returns a Follower that begins after a line. If the record has no such line, the Follower begins with the
// first line, and found is false.
func Follow(path string, after Mark) (f *Follower, found bool, err error) {
	f, found = &Follower{path: path}, after == Mark{}
	if found {
		return f, true, nil
	}
	err = f.Read(func(m Mark, _ Event) error {
		found = m == after
		if m.Number >= after.Number {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, false, err
	}
	if !found {
		f.state = state{}
		return f, false, nil
	}
	return f, true, f.skip()
}

// errEnough ends a reading.
var errEnough = errors.New("audit: enough")

// skip passes one line.
func (f *Follower) skip() error {
	passed := false
	err := f.Read(func(Mark, Event) error {
		if passed {
			return errEnough
		}
		passed = true
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// Read calls each for the lines that follow those read before. The Follower stays before a line for which each
// returns an error, and Read returns that error. A line that a crash cut off is left for the next call.
func (f *Follower) Read(each func(m Mark, e Event) error) (err error) {
	in, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	defer in.Close() //nolint:errcheck // read only
	info, err := in.Stat()
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if info.Size() < f.state.end {
		return fmt.Errorf("audit: %s has become shorter, by %d bytes; restore it from a backup", f.path, f.state.end-info.Size())
	}
	at := f.state
	return at.follow(io.NewSectionReader(in, at.end, info.Size()-at.end), f.path, func(e Event, hash string) error {
		if err := each(Mark{at.lines, hash}, e); err != nil {
			return err
		}
		f.state = at
		return nil
	})
}
