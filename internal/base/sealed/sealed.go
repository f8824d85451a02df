// Package sealed encrypts files that can be too large for memory, and detects every change of them.
//
//	w, err := sealed.NewWriter(file, key, "mercer/v1/purpose")
//	if err != nil {
//		return err
//	}
//	return errors.Join(write(w), w.Close())
//
// A sealed file consists of a magic line, a salt, and segments. Each segment holds [SegmentBytes] of
// plain text and a tag; the last segment can be shorter, or empty. The construction is STREAM
// (Hoang, Reyhanitabar, Rogaway, Vizár: "Online Authenticated-Encryption and its Nonce-Reuse
// Misuse-Resistance", CRYPTO 2015): the nonce has the segment's number and a mark of the last
// segment, so that segments can be neither exchanged nor cut off. The salt is new, and with it the
// key, each time a file is written.
package sealed

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// These are the sizes of a sealed file's parts.
const (
	SegmentBytes = 64 << 10 // bytes of plain text in a segment
	TagBytes     = 16       // bytes that encryption adds to a segment
	HeadBytes    = len(magic) + saltBytes

	magic     = "mercer/sealed/1\n"
	saltBytes = 32
)

// ErrDamaged is the error for a file that is no sealed file, that was changed, or that was sealed under
// another key or for another purpose.
var ErrDamaged = errors.New("the file is damaged, or belongs to another job")

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

// Writer seals the bytes written to it.
type Writer struct {
	to     io.Writer
	aead   cipher.AEAD
	plain  []byte // bytes that are not yet sealed, at most one segment
	sealed []byte
	next   uint64
}

// NewWriter writes the head of a sealed file to the writer to, and returns a Writer for the plain
// content. Only the same key of at least 32 bytes and the same info open the file.
func NewWriter(to io.Writer, key []byte, info string) (*Writer, error) {
	salt := make([]byte, saltBytes)
	if _, err := rand.Read(salt); err != nil {
		return nil, err
	}
	aead, err := fileCipher(key, salt, info)
	if err != nil {
		return nil, err
	}
	if _, err := to.Write(append([]byte(magic), salt...)); err != nil {
		return nil, err
	}
	return &Writer{to: to, aead: aead, plain: make([]byte, 0, SegmentBytes)}, nil
}

// Write implements [io.Writer].
func (w *Writer) Write(b []byte) (n int, err error) {
	n = len(b)
	for len(b) > 0 {
		if len(w.plain) == SegmentBytes { // more bytes follow, so this segment is not the last
			if err := w.flush(false); err != nil {
				return 0, err
			}
		}
		fits := min(SegmentBytes-len(w.plain), len(b))
		w.plain = append(w.plain, b[:fits]...)
		b = b[fits:]
	}
	return n, nil
}

func (w *Writer) flush(last bool) error {
	w.sealed = w.aead.Seal(w.sealed[:0], segmentNonce(w.next, last), w.plain, nil)
	clear(w.plain)
	w.plain = w.plain[:0]
	w.next++
	_, err := w.to.Write(w.sealed)
	return err
}

// Close writes the last segment. It does not close the underlying writer.
func (w *Writer) Close() error { return w.flush(true) }

// Open decrypts a whole sealed file in place, and returns its plain content.
func Open(file, key []byte, info string) ([]byte, error) {
	body, ok := bytes.CutPrefix(file, []byte(magic))
	if !ok || len(body) < saltBytes+TagBytes {
		return nil, ErrDamaged
	}
	aead, err := fileCipher(key, body[:saltBytes], info)
	if err != nil {
		return nil, fmt.Errorf("sealed: %w", err)
	}
	body = body[saltBytes:]
	plain := body[:0] // each segment is decrypted in place and moved to the front
	for i := uint64(0); ; i++ {
		size := min(SegmentBytes+TagBytes, len(body))
		last := size == len(body)
		opened, err := aead.Open(body[:0], segmentNonce(i, last), body[:size], nil)
		if err != nil {
			return nil, ErrDamaged
		}
		plain = append(plain, opened...)
		if body = body[size:]; last {
			clear(plain[len(plain):cap(plain)]) // clears old copies of plain text in the rest of the buffer
			return plain, nil
		}
	}
}

// Reader decrypts a sealed file segment by segment. Reading fails at the first segment that cannot
// be decrypted, and at the end if the file's own last segment was cut off.
type Reader struct {
	from   *bufio.Reader
	aead   cipher.AEAD
	sealed []byte
	plain  []byte // decrypted bytes that are not yet read
	next   uint64
	last   bool // whether the last segment is decrypted
}

// NewReader reads the head of a sealed file.
func NewReader(from io.Reader, key []byte, info string) (*Reader, error) {
	r := &Reader{from: bufio.NewReader(from), sealed: make([]byte, SegmentBytes+TagBytes)}
	head := make([]byte, HeadBytes)
	if _, err := io.ReadFull(r.from, head); err != nil || string(head[:len(magic)]) != magic {
		return nil, ErrDamaged
	}
	var err error
	r.aead, err = fileCipher(key, head[len(magic):], info)
	return r, err
}

// Read implements [io.Reader].
func (r *Reader) Read(b []byte) (int, error) {
	for len(r.plain) == 0 {
		if r.last {
			return 0, io.EOF
		}
		if err := r.segment(); err != nil {
			return 0, err
		}
	}
	n := copy(b, r.plain)
	r.plain = r.plain[n:]
	return n, nil
}

// segment decrypts the next segment in place.
func (r *Reader) segment() error {
	n, err := io.ReadFull(r.from, r.sealed[:SegmentBytes+TagBytes])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return err
	}
	_, err = r.from.Peek(1)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	r.last = err != nil
	if r.plain, err = r.aead.Open(r.sealed[:0], segmentNonce(r.next, r.last), r.sealed[:n], nil); err != nil {
		return ErrDamaged
	}
	r.next++
	return nil
}

// Clear overwrites the decrypted bytes that the reader holds.
func (r *Reader) Clear() { clear(r.sealed) }
