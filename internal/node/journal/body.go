package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/protocol"
)

// maxPending bounds the number of side files that stay open between two Syncs.
const maxPending = 32

// bodies manages a session's side files, which hold large message bodies. A file stays open until
// it has been flushed: the kernel may report a write-back error only to the descriptor that wrote.
type bodies struct {
	dir     string
	sealer  sealer
	bytes   int64 // total size of the side files
	pending []*os.File
}

func (b *bodies) path(number uint64) string {
	return filepath.Join(b.dir, fmt.Sprintf("%016x", number))
}

// write stores the body of the record with this number in a side file.
func (b *bodies) write(number uint64, body []byte) error {
	f, err := os.OpenFile(b.path(number), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	sealed := b.sealer.seal(make([]byte, 0, len(body)+sealOverhead), place{placeBody, number}, body)
	if _, err := f.Write(sealed); err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	b.pending = append(b.pending, f)
	b.bytes += int64(len(sealed))
	return nil
}

// drop removes the last body, whose record could not be written.
func (b *bodies) drop(number uint64, size int) error {
	last := b.pending[len(b.pending)-1]
	b.pending = b.pending[:len(b.pending)-1]
	b.bytes -= int64(size + sealOverhead)
	return errors.Join(last.Close(), os.Remove(b.path(number)))
}

// bound flushes and closes the open files if there are too many.
func (b *bodies) bound() error {
	if len(b.pending) < maxPending {
		return nil
	}
	return b.sync()
}

// sync waits until every body is on disk.
func (b *bodies) sync() error {
	if len(b.pending) == 0 {
		return nil
	}
	var errs []error
	for _, f := range b.pending {
		errs = append(errs, f.Sync())
	}
	errs = append(errs, b.close(), disk.SyncDir(b.dir))
	return errors.Join(errs...)
}

// close closes the open files without flushing them.
func (b *bodies) close() error {
	var errs []error
	for _, f := range b.pending {
		errs = append(errs, f.Close())
	}
	b.pending = nil
	return errors.Join(errs...)
}

// read returns the body of the record with this number.
func (b *bodies) read(number uint64, want side) ([]byte, error) {
	if err := b.check(number, want); err != nil {
		return nil, err
	}
	sealed, err := os.ReadFile(b.path(number)) // the call of check bounds the file's size
	if err != nil {
		return nil, err
	}
	body, err := b.sealer.open(nil, place{placeBody, number}, sealed)
	if err != nil || sha256.Sum256(body) != want.hash {
		return nil, damage("the body is not the one that was journalled")
	}
	return body, nil
}

// check checks the size of a side file, not its content.
func (b *bodies) check(number uint64, want side) error {
	info, err := os.Stat(b.path(number))
	if err != nil {
		return err
	}
	if size := int64(want.size + sealOverhead); info.Size() != size {
		return damage(fmt.Sprintf("the file has %d bytes, but %d were written", info.Size(), size))
	}
	return nil
}

// adopt takes over a side file that an earlier process wrote. If that process may not have flushed
// the file, adopt checks its content.
func (b *bodies) adopt(number uint64, want side, flushed bool) error {
	if flushed {
		b.bytes += int64(want.size + sealOverhead)
		return b.check(number, want)
	}
	if _, err := b.read(number, want); err != nil {
		return err
	}
	f, err := os.Open(b.path(number))
	if err != nil {
		return err
	}
	b.bytes += int64(want.size + sealOverhead)
	b.pending = append(b.pending, f)
	return b.bound()
}

// sweep removes every side file that keep does not list, and returns their number. The records of
// these files were cut off, or never written.
func (b *bodies) sweep(keep map[string]bool) (int, error) {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return 0, err
	}
	removed := 0
	for _, e := range entries {
		if keep[e.Name()] {
			continue
		}
		if err := os.Remove(filepath.Join(b.dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// restore returns the record with its body from the side file.
func (e entry) restore(body []byte) Record {
	r := e.Record
	m := r.Event.(protocol.Received).Message
	m.Body = body
	r.Event = protocol.Received{Message: m}
	return r
}
