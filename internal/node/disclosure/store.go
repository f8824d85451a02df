package disclosure

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/method"
)

// Empty reports whether the ledger records no release and no lookup of ids.
func (l Ledger) Empty() (bool, error) {
	list, err := l.names()
	if err != nil {
		return false, err
	}
	for _, name := range list {
		if entryName.MatchString(name) || olderName.MatchString(name) || name == peersName {
			return false, nil
		}
	}
	return true, nil
}

var (
	entryName = regexp.MustCompile(`^([a-z]+)-([0-9a-f]{16})\.(released|admitted)$`)
	noteName  = regexp.MustCompile(`^([0-9a-f]{16})\.(held|approved|told)$`)
	olderName = regexp.MustCompile(`^[0-9a-f]{16}\.released$`)
)

func (l Ledger) entry(kind method.ReleaseKind, id string, s State) string {
	return filepath.Join(string(l), fmt.Sprintf("%s-%s.%s", kind, id, s))
}

func (l Ledger) note(id string, s State) string {
	return filepath.Join(string(l), id+"."+string(s))
}

// names returns the names of all files in the folder, or none if the folder does not exist.
func (l Ledger) names() (names []string, err error) {
	list, err := os.ReadDir(string(l))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("release: %w", err)
	}
	for _, f := range list {
		names = append(names, f.Name())
	}
	return names, nil
}

// files returns the paths of all entries in state s.
func (l Ledger) files(s State) ([]string, error) {
	list, err := l.names()
	if err != nil {
		return nil, err
	}
	var files []string
	for _, name := range list {
		if olderName.MatchString(name) {
			return nil, fmt.Errorf("release: the ledger %s has an old format, so nothing is released; move the folder away to begin a new ledger, which compares no release with the old ones", l)
		}
		if m := entryName.FindStringSubmatch(name); m != nil && State(m[3]) == s {
			files = append(files, filepath.Join(string(l), name))
		}
	}
	return files, nil
}

// heads returns all disclosed or admitted entries without their rows.
func (l Ledger) heads() ([]head, error) {
	var heads []head
	err := l.forEach(func(_ State, file string, e *Entry) {
		id := e.ID()
		e.Rows = nil
		heads = append(heads, head{e, id, file})
	})
	return heads, err
}

// forEach calls do with each disclosed or admitted entry.
func (l Ledger) forEach(do func(s State, file string, e *Entry)) error {
	for _, s := range []State{Released, Admitted} {
		files, err := l.files(s)
		if err != nil {
			return err
		}
		for _, f := range files {
			e, err := l.read(f)
			if err != nil {
				return err
			}
			do(s, f, e)
		}
	}
	return nil
}

func (l Ledger) read(file string) (*Entry, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	e, err := DecodeEntry(b)
	if m := entryName.FindStringSubmatch(filepath.Base(file)); err == nil && (m == nil || e.ID() != m[2] && e.formerID() != m[2] || string(e.Kind) != m[1]) {
		err = errors.New("the entry's content does not match its file name")
	}
	if err != nil {
		return nil, fmt.Errorf("release: %s: %w; restore it from a backup; nothing is released while the ledger cannot be read", file, err)
	}
	return e, nil
}

const (
	lockName = "lock" // name of the file that a process locks before it changes the ledger
	keyName  = "key"
)

// alone runs change under the ledger's lock. Several processes can change the ledger: jobs run in
// the party's daemon, approvals come from a command.
func (l Ledger) alone(change func() error) error {
	if err := disk.MakeDir(string(l)); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return l.locked(change)
}

// Still runs do, such as a copy of the ledger's folder, while nobody changes the ledger. The folder must exist.
func (l Ledger) Still(do func() error) error { return l.locked(do) }

// locked runs do under the ledger's lock. The ledger's folder must exist.
func (l Ledger) locked(do func() error) error {
	held, err := disk.WaitLock(filepath.Join(string(l), lockName))
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return errors.Join(do(), held.Close())
}

// key returns the ledger's key for all digests. It draws a key for an empty ledger.
func (l Ledger) key() (key []byte, err error) {
	err = l.alone(func() error {
		if key, err = l.storedKey(); err != nil || key != nil {
			return err
		}
		key = make([]byte, keyBytes)
		if _, err := rand.Read(key); err != nil {
			return err
		}
		return l.write(l.keyPath(), key)
	})
	return key, err
}

const keyBytes = 32

func (l Ledger) keyPath() string { return filepath.Join(string(l), keyName) }

// storedKey returns the ledger's key, or nil if the ledger is empty and has none.
func (l Ledger) storedKey() ([]byte, error) {
	key, err := os.ReadFile(l.keyPath())
	switch {
	case err == nil && len(key) == keyBytes:
		return key, nil
	case err == nil:
		return nil, fmt.Errorf("release: %s has %d bytes instead of %d; restore it from a backup; nothing is released while the ledger cannot be read", l.keyPath(), len(key), keyBytes)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("release: %w", err)
	}
	if there, err := l.files(Released); err != nil {
		return nil, err
	} else if len(there) > 0 {
		return nil, fmt.Errorf("release: the key file %s is missing, so new releases cannot be compared with earlier ones and nothing is released; restore the file from a backup", l.keyPath())
	}
	return nil, nil
}

func (l Ledger) write(path string, b []byte) error {
	if err := disk.Replace(path, b); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

func (l Ledger) remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}
