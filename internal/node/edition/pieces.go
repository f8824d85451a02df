package edition

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// pieceBytes is the size in bytes of a piece.
const pieceBytes = 1 << 16

// outPieces writes an encoding in pieces, because the whole may be too large for memory.
type outPieces struct {
	wire.Writer
	to  io.Writer
	err error
}

// pass writes the buffer out if it holds at least the given number of bytes.
func (w *outPieces) pass(bytes int) {
	b := w.Bytes()
	if w.err != nil || len(b) < bytes {
		return
	}
	_, w.err = w.to.Write(b)
	w.Reset()
}

// end writes the remaining bytes.
func (w *outPieces) end() error {
	w.pass(0)
	return w.err
}

// inPieces reads an encoding that is too large for memory. Like [wire.Reader] it keeps the first error,
// and every later read returns zero.
type inPieces struct {
	from *bufio.Reader
	err  error
}

// reading opens an item and calls use with its reader. If the reader has an error, reading returns it
// instead of the error of use.
func reading(open opener, use func(*inPieces) error) (err error) {
	in, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	r := &inPieces{from: bufio.NewReaderSize(in, pieceBytes)}
	err = use(r)
	if r.err != nil {
		return r.err
	}
	return err
}

func (r *inPieces) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// take returns the next n bytes, at most 64 KiB, or nil after an error. The bytes are valid until the
// next call.
func (r *inPieces) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	b, err := r.from.Peek(n)
	if errors.Is(err, io.EOF) {
		err = wire.ErrShort
	}
	if err == nil {
		_, err = r.from.Discard(n)
	}
	if r.err = err; err != nil {
		return nil
	}
	return b
}

func (r *inPieces) fixed(dst []byte) { copy(dst, r.take(len(dst))) }

func (r *inPieces) bool() bool {
	b := r.take(1)
	if b == nil {
		return false
	}
	if b[0] > 1 {
		r.fail(fmt.Errorf("a flag is %d; it must be 0 or 1", b[0]))
	}
	return b[0] == 1
}

func (r *inPieces) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *inPieces) uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// count reads the number of the items that follow. Callers must not reserve memory for so many items,
// because fewer might follow.
func (r *inPieces) count(limit int) int {
	n := uint64(r.uint32())
	if r.err == nil && n > uint64(limit) {
		r.fail(fmt.Errorf("a count is %d; at most %d are allowed", n, limit))
	}
	if r.err != nil {
		return 0
	}
	return int(n)
}

// string reads a name of at most limit bytes, which are fewer than 64 KiB.
func (r *inPieces) string(limit int) string {
	b := r.take(2)
	if b == nil {
		return ""
	}
	n := int(binary.LittleEndian.Uint16(b))
	if n > limit {
		r.fail(fmt.Errorf("a name has %d bytes; at most %d are allowed", n, limit))
	}
	return string(r.take(n))
}

// strings reads names; nil if there are none.
func (r *inPieces) strings(most, limit int) (list []string) {
	for range r.count(most) {
		if list = append(list, r.string(limit)); r.err != nil {
			return nil
		}
	}
	return list
}

func (r *inPieces) magic(expected string) {
	if got := r.string(len(expected)); r.err == nil && got != expected {
		r.fail(fmt.Errorf("edition: %q is not the expected format", got))
	}
}

// close returns the first error, or an error if bytes are left over. The error begins with subject, the
// name of the item that was read.
func (r *inPieces) close(subject string) error {
	if r.err == nil {
		if _, err := r.from.Peek(1); err == nil {
			r.err = errors.New("bytes are left over")
		} else if !errors.Is(err, io.EOF) {
			r.err = err
		}
	}
	if r.err != nil {
		r.err = fmt.Errorf("%s: %w", subject, r.err)
	}
	return r.err
}
