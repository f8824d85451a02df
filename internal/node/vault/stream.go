package vault

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/mercer-fl/mercer/internal/job"
)

// A sealed file consists of a magic line, a salt, and segments. Each segment holds segmentBytes of
// plain text and a tag; the last segment is shorter, and may be empty. The construction is STREAM
// (Hoang, Reyhanitabar, Rogaway, Vizár: "Online Authenticated-Encryption and its Nonce-Reuse
// Misuse-Resistance", CRYPTO 2015): the nonce has the segment's number and a mark of the last
// segment, so that segments can be neither exchanged nor cut off. The salt is new, and with it the
// key, each time a file is written.
const (
	sealedMagic  = "mercer/sealed/1\n"
	saltBytes    = 32
	segmentBytes = 64 << 10
	tagBytes     = 16
)

var errDamaged = errors.New("the file is damaged, or belongs to another job")

// fileCipher returns a cipher whose key is derived for one version of one file.
func fileCipher(key, salt []byte, info string) (cipher.AEAD, error) {
	derived, err := hkdf.Key(sha256.New, key, salt, info, 32)
	if err != nil {
		return nil, err
	}
	defer clear(derived)
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func segmentNonce(i uint64, last bool) []byte {
	nonce := make([]byte, 12)
	binary.BigEndian.PutUint64(nonce[3:], i)
	if last {
		nonce[11] = 1
	}
	return nonce
}

// sealingWriter seals the bytes written to it. Its method close writes the last segment.
type sealingWriter struct {
	to     io.Writer
	aead   cipher.AEAD
	plain  []byte // bytes that are not yet sealed, at most one segment
	sealed []byte
	next   uint64
}

func (w *sealingWriter) Write(b []byte) (n int, err error) {
	n = len(b)
	for len(b) > 0 {
		if len(w.plain) == segmentBytes { // more bytes follow, so this segment is not the last
			if err := w.flush(false); err != nil {
				return 0, err
			}
		}
		fits := min(segmentBytes-len(w.plain), len(b))
		w.plain = append(w.plain, b[:fits]...)
		b = b[fits:]
	}
	return n, nil
}

func (w *sealingWriter) flush(last bool) error {
	w.sealed = w.aead.Seal(w.sealed[:0], segmentNonce(w.next, last), w.plain, nil)
	clear(w.plain)
	w.plain = w.plain[:0]
	w.next++
	_, err := w.to.Write(w.sealed)
	return err
}

func (w *sealingWriter) close() error { return w.flush(true) }

// openSealed decrypts a sealed file and returns its plain content.
func openSealed(file, key []byte, info string) ([]byte, error) {
	body, ok := bytes.CutPrefix(file, []byte(sealedMagic))
	if !ok || len(body) < saltBytes+tagBytes {
		return nil, errDamaged
	}
	aead, err := fileCipher(key, body[:saltBytes], info)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	body = body[saltBytes:]
	plain := body[:0] // each segment is decrypted in place and moved to the front
	for i := uint64(0); ; i++ {
		size := min(segmentBytes+tagBytes, len(body))
		last := size == len(body)
		opened, err := aead.Open(body[:0], segmentNonce(i, last), body[:size], nil)
		if err != nil {
			return nil, errDamaged
		}
		plain = append(plain, opened...)
		if body = body[size:]; last {
			clear(plain[len(plain):cap(plain)]) // clears old copies of plain text in the rest of the buffer
			return plain, nil
		}
	}
}

// Open returns a reader of an item that is too large for memory. Reading fails at the first segment
// that cannot be decrypted, and at an end that is not the item's.
func (e *Artifacts) Open(id job.ID, item Item) (io.ReadCloser, error) {
	key, err := e.keyOf(id)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	f, err := os.Open(e.path(id, string(item)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoState
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

// Remove removes one of a job's items. If the drive still has the item's bytes, they stay sealed
// under the job's key.
func (e *Artifacts) Remove(id job.ID, item Item) error {
	if err := os.Remove(e.path(id, string(item))); err != nil {
		return fmt.Errorf("vault: %w", err)
	}
	return nil
}

// openingReader decrypts a sealed file segment by segment.
type openingReader struct {
	file   *os.File
	from   *bufio.Reader
	aead   cipher.AEAD
	sealed []byte
	plain  []byte // decrypted bytes that are not yet read
	next   uint64
	last   bool // the last segment is decrypted
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

// segment decrypts the next segment in place.
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

// Close clears the decrypted bytes and closes the file.
func (r *openingReader) Close() error {
	clear(r.sealed)
	return r.file.Close()
}
