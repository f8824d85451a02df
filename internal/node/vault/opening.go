package vault

import (
	"bufio"
	"crypto/cipher"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/mercer-fl/mercer/internal/job"
)

// Open is Get for what is too large to be in memory as a whole. Reading fails at the first
// segment that does not open, and at an end that is not the item's.
func (e *Estate) Open(id job.ID, item Item) (io.ReadCloser, error) {
	key, err := e.keyOf(id)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	f, err := os.Open(e.path(id, string(item)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoKeepsake
	}
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	r, err := newOpeningReader(f, key, itemInfo(id, item))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("vault: %s: %w", f.Name(), err), f.Close())
	}
	return r, nil
}

// Remove removes one of a job's items, which stays sealed under the job's key wherever a drive
// still has it.
func (e *Estate) Remove(id job.ID, item Item) error {
	if err := os.Remove(e.path(id, string(item))); err != nil {
		return fmt.Errorf("vault: %w", err)
	}
	return nil
}

// openingReader reads what was sealed into a file, segment by segment.
type openingReader struct {
	file   *os.File
	from   *bufio.Reader
	aead   cipher.AEAD
	sealed []byte
	plain  []byte // opened and not read yet
	next   uint64
	last   bool // the last segment is open
}

func newOpeningReader(f *os.File, key []byte, info string) (*openingReader, error) {
	r := &openingReader{file: f, from: bufio.NewReader(f), sealed: make([]byte, segmentBytes+tagBytes)}
	head := make([]byte, len(sealedMagic)+saltBytes)
	if _, err := io.ReadFull(r.from, head); err != nil || string(head[:len(sealedMagic)]) != sealedMagic {
		return nil, errDamaged
	}
	var err error
	r.aead, err = fileCipher(key, head[len(sealedMagic):], info)
	return r, err
}

// Read implements [io.Reader].
func (r *openingReader) Read(b []byte) (int, error) {
	for len(r.plain) == 0 {
		if r.last {
			return 0, io.EOF
		}
		if err := r.segment(); err != nil {
			return 0, fmt.Errorf("vault: %s: %w", r.file.Name(), err)
		}
	}
	n := copy(b, r.plain)
	r.plain = r.plain[n:]
	return n, nil
}

// segment opens the next segment in its place.
func (r *openingReader) segment() error {
	n, err := io.ReadFull(r.from, r.sealed[:segmentBytes+tagBytes])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return err
	}
	_, err = r.from.Peek(1)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	r.last = err != nil
	if r.plain, err = r.aead.Open(r.sealed[:0], segmentNonce(r.next, r.last), r.sealed[:n], nil); err != nil {
		return errDamaged
	}
	r.next++
	return nil
}

// Close forgets what was read and closes the file.
func (r *openingReader) Close() error {
	clear(r.sealed)
	return r.file.Close()
}
