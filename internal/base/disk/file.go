package disk

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Create writes a new file that only its owner can read. It never overwrites: for an
// existing path it returns an error for which errors.Is(err, fs.ErrExist) holds.
func Create(path string, data []byte) error {
	if err := Write(path, data); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Write is like Create, but does not flush the directory. It serves a caller that makes several
// files and then calls [SyncDir] once.
func Write(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	if err := fill(f, path, unbuffered(data)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// Replace writes data to path. It replaces the file, or creates it. A crash leaves either the old
// or the new content, never a mixture.
func Replace(path string, data []byte) error {
	return replace(path, unbuffered(data))
}

// ReplaceBy is like Replace for content that is too large for memory. After an error of write, path
// holds its old content.
func ReplaceBy(path string, write func(io.Writer) error) error {
	return replace(path, func(f *os.File) error {
		buffer := bufio.NewWriterSize(f, bufferBytes)
		if err := write(buffer); err != nil {
			return err
		}
		return buffer.Flush()
	})
}

// bufferBytes is the number of bytes that ReplaceBy writes, and OpenLog reads, at a time.
const bufferBytes = 1 << 18

// draft is the prefix of the name of a file that [Replace] or [ReplaceBy] is writing.
const draft = ".new-"

func replace(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), draft+"*") // mode 0600
	if err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	if err := fill(f, path, write); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return errors.Join(fmt.Errorf("disk: %w", err), os.Remove(f.Name()))
	}
	return SyncDir(filepath.Dir(path))
}

// fill writes the content of f, flushes f and closes it. Its errors name path, the final name of
// the file.
func fill(f *os.File, path string, write func(*os.File) error) error {
	err := write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(reason(err, f), reason(f.Close(), f)); err != nil {
		return fmt.Errorf("disk: %s cannot be written: %w", path, err)
	}
	return nil
}

// reason removes the file's name from an error. If the disk is full, reason adds advice.
func reason(err error, f *os.File) error {
	var p *fs.PathError
	if errors.As(err, &p) && p.Path == f.Name() {
		err = p.Err
	}
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w; make room there, or choose another disk", err)
	}
	return err
}

// unbuffered returns a function that writes data to a file without a buffer. Data can be a key, and
// a buffer would keep a copy of it.
func unbuffered(data []byte) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.Write(data)
		return err
	}
}

// secretDraft is added to the name of a secret file while its next content is written. The name is
// fixed, so that [EraseDraft] finds it after a crash.
const secretDraft = ".new"

// ReplaceSecret is like Replace for an existing file whose former content must not stay on the disk: it
// overwrites the former content once the new one is in place. After a crash, path holds the former or
// the new content, and a draft can be left; see [EraseDraft].
func ReplaceSecret(path string, data []byte) error {
	if err := EraseDraft(path); err != nil {
		return err
	}
	former, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	if err := Create(path+secretDraft, data); err != nil {
		return errors.Join(err, former.Close())
	}
	if err := os.Rename(path+secretDraft, path); err != nil {
		return errors.Join(fmt.Errorf("disk: %w", err), EraseDraft(path), former.Close())
	}
	return errors.Join(SyncDir(filepath.Dir(path)), fillRandom(former, path))
}

// EraseDraft erases the draft that a crash during [ReplaceSecret] has left, if there is one.
func EraseDraft(path string) error {
	err := Erase(path + secretDraft)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Erase overwrites a file with random bytes, flushes it, and removes it. Drives that remap
// blocks and file systems that copy on write can keep the old bytes; no program can reach
// those. Better seal large content under a key, and erase the key.
//
// A missing file gives an error for which errors.Is(err, fs.ErrNotExist) holds.
func Erase(path string) error {
	err := overwrite(path)
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Remove the file even if its bytes could not be overwritten: a removed key is better than a
	// key that is still in place.
	if rm := os.Remove(path); rm != nil {
		return errors.Join(err, fmt.Errorf("disk: %w", rm))
	}
	return errors.Join(err, SyncDir(filepath.Dir(path)))
}

func overwrite(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	return fillRandom(f, path)
}

// fillRandom overwrites an open file with random bytes, flushes it and closes it.
func fillRandom(f *os.File, path string) error {
	info, err := f.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("disk: %w", err), f.Close())
	}
	return fill(f, path, func(f *os.File) error {
		_, err := io.CopyN(f, rand.Reader, info.Size())
		return err
	})
}

// Sweep removes the drafts that crashes during [Replace] or [ReplaceBy] left in a folder. The folder need not exist.
// Other processes must not write into the folder at the same time.
func Sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), draft) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("disk: %w", err)
			}
		}
	}
	return nil
}

// MakeDir creates one directory that only its owner can enter. An existing one is accepted; its entry is
// flushed, too, since an earlier process might have been killed before it flushed the entry.
func MakeDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !isDir(dir) {
		return fmt.Errorf("disk: %w", err)
	}
	return SyncDir(filepath.Dir(dir))
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// MakeDirs is like MakeDir, and also creates the parents that do not exist. An error names the file that is in the
// way.
func MakeDirs(dir string) error {
	parent := filepath.Dir(dir)
	switch _, err := os.Stat(parent); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		if err := MakeDirs(parent); err != nil {
			return err
		}
	case err == nil && !isDir(parent):
		return fmt.Errorf("disk: %w", &fs.PathError{Op: "mkdir", Path: parent, Err: syscall.ENOTDIR})
	}
	return MakeDir(dir)
}

// SyncDir flushes the entries of a directory. Without it, a new file can be gone after a power cut,
// although its bytes were flushed.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("disk: the directory %s cannot be flushed: %w", dir, err)
	}
	return nil
}
