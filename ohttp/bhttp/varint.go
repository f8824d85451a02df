package bhttp

import (
	"encoding/binary"
	"errors"
)

// errShort says that a message ended in the middle of something.
var errShort = errors.New("bhttp: the message ends in the middle of a field")

// appendVarint appends v as QUIC writes integers: the two highest bits of the
// first byte say whether 1, 2, 4 or 8 bytes are meant (RFC 9000, section 16).
func appendVarint(b []byte, v uint64) []byte {
	switch {
	case v < 1<<6:
		return append(b, byte(v))
	case v < 1<<14:
		return binary.BigEndian.AppendUint16(b, uint16(v)|1<<14)
	case v < 1<<30:
		return binary.BigEndian.AppendUint32(b, uint32(v)|2<<30)
	default:
		return binary.BigEndian.AppendUint64(b, v|3<<62)
	}
}

// appendBytes appends the length of s and s.
func appendBytes[S []byte | string](b []byte, s S) []byte {
	return append(appendVarint(b, uint64(len(s))), s...)
}

// reader takes a message apart from the front. Nothing is copied.
type reader struct{ rest []byte }

func (r *reader) varint() (uint64, error) {
	if len(r.rest) == 0 {
		return 0, errShort
	}
	size := 1 << (r.rest[0] >> 6)
	if len(r.rest) < size {
		return 0, errShort
	}
	v := uint64(r.rest[0] & 63)
	for _, c := range r.rest[1:size] {
		v = v<<8 | uint64(c)
	}
	r.rest = r.rest[size:]
	return v, nil
}

// bytes takes a length and as many bytes.
func (r *reader) bytes() ([]byte, error) {
	n, err := r.varint()
	if err != nil {
		return nil, err
	}
	if n > uint64(len(r.rest)) {
		return nil, errShort
	}
	taken := r.rest[:n:n]
	r.rest = r.rest[n:]
	return taken, nil
}

func (r *reader) text() (string, error) {
	b, err := r.bytes()
	return string(b), err
}
