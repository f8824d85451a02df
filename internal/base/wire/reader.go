package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Reader reads an encoding. It keeps the first error. Every later read returns zero or leaves its
// destination unchanged, so that a decoder checks for an error once, with Close.
type Reader struct {
	b   []byte
	err error
}

// ErrShort reports a truncated input.
var ErrShort = errors.New("the bytes end too early")

// NewReader returns a reader of the encoding b, which it does not copy.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Fail sets the reader's error to err unless the reader already has an error.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Len returns the number of bytes that are not yet read.
func (r *Reader) Len() int { return len(r.b) }

// Close returns the first error of the reader, or an error if bytes are left over. The error begins
// with subject, the name of the decoded thing.
func (r *Reader) Close(subject string) error {
	if r.err == nil && len(r.b) > 0 {
		r.err = fmt.Errorf("%d bytes are left over", len(r.b))
	}
	if r.err != nil {
		return fmt.Errorf("%s: %w", subject, r.err)
	}
	return nil
}

// take returns the next n bytes, or nil after an error.
func (r *Reader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.b) {
		r.err = ErrShort
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

// Cut calls f with the unread bytes and continues with the bytes that f returns.
func (r *Reader) Cut(f func(b []byte) (rest []byte, err error)) {
	if r.err == nil {
		r.b, r.err = f(r.b)
	}
}

// Fixed fills dst.
func (r *Reader) Fixed(dst []byte) { copy(dst, r.take(len(dst))) }

// Uint8 reads one byte.
func (r *Reader) Uint8() uint8 {
	if p := r.take(1); p != nil {
		return p[0]
	}
	return 0
}

// Bool reads 0 or 1. It refuses any other byte, which would be a second encoding of true.
func (r *Reader) Bool() bool {
	v := r.Uint8()
	if v > 1 {
		r.Fail(fmt.Errorf("a flag is %d; it must be 0 or 1", v))
	}
	return v == 1
}

// Uint16 reads two bytes.
func (r *Reader) Uint16() uint16 {
	if p := r.take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

// Uint32 reads four bytes.
func (r *Reader) Uint32() uint32 {
	if p := r.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

// Uint64 reads eight bytes.
func (r *Reader) Uint64() uint64 {
	if p := r.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// Float64 reads a number of eight bytes. It accepts infinities and NaN; callers that cannot use
// such values check for them.
func (r *Reader) Float64() float64 { return math.Float64frombits(r.Uint64()) }

// Count reads a 32-bit count of items that take at least size bytes each. The count is at
// most limit.
func (r *Reader) Count(limit, size int) int {
	n := uint64(r.Uint32())
	switch {
	case r.err != nil:
		return 0
	case n > uint64(limit):
		r.err = fmt.Errorf("a count is %d; at most %d are allowed", n, limit)
		return 0
	case n*uint64(size) > uint64(len(r.b)):
		r.err = ErrShort
		return 0
	}
	return int(n)
}

// Bytes32 reads a 32-bit length, which is at most limit, and then bytes of that length. The result
// is a copy.
func (r *Reader) Bytes32(limit int) []byte {
	n := r.Count(limit, 1)
	p := r.take(n)
	if p == nil {
		return nil
	}
	return append(make([]byte, 0, n), p...)
}

// Rest returns all unread bytes without copying them.
func (r *Reader) Rest() []byte { return r.take(len(r.b)) }

// String reads a 16-bit length, which is at most limit, and then a string of that length.
func (r *Reader) String(limit int) string {
	n := int(r.Uint16())
	if r.err == nil && n > limit {
		r.err = fmt.Errorf("a name has %d bytes; at most %d are allowed", n, limit)
	}
	return string(r.take(n))
}

// Magic reads a text of at most limit bytes that names the format of the bytes after it. If the
// text differs from the expected one, the reader fails with an error of the given format, which
// quotes the text.
func (r *Reader) Magic(limit int, expected, format string) {
	if got := r.String(limit); r.err == nil && got != expected {
		r.Fail(fmt.Errorf(format, got))
	}
}

// Strings reads texts that Writer.Strings wrote. There are at most count texts of at most length
// bytes each. It returns nil if there are none.
func (r *Reader) Strings(count, length int) []string {
	n := r.Count(count, 2)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.String(length)
	}
	return list
}

// Float64s fills dst.
func (r *Reader) Float64s(dst []float64) { fill(dst, r.take(8*len(dst))) }

// Float32s fills dst.
func (r *Reader) Float32s(dst []float32) { fill(dst, r.take(4*len(dst))) }

// fill sets dst to the numbers encoded in p. It does nothing if p is nil.
func fill[T float32 | float64](dst []T, p []byte) {
	switch {
	case p == nil:
	case littleEndian:
		copy(bytesOf(dst), p)
	default:
		_, _ = binary.Decode(p, binary.LittleEndian, dst) // cannot fail: p has exactly the bytes of dst
	}
}
