package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

const (
	magic          = "mercer/journal\r\n" // a transfer in text mode changes the line break and so reveals itself
	formatVersion  = 1
	maxBuildBytes  = 256
	maxHeaderBytes = 512
)

// Header holds the unencrypted facts at the beginning of a log.
type Header struct {
	Session protocol.SessionID
	Build   string    // program and instruction set with which the session began
	Created time.Time // time of creation, in whole seconds
}

func (h Header) encode() []byte {
	var w wire.Writer
	w.Uint16(formatVersion)
	w.Fixed(h.Session[:])
	w.String(h.Build)
	w.Uint64(uint64(h.Created.Unix()))
	return w.Bytes()
}

func decodeHeader(b []byte) (Header, error) {
	r := wire.NewReader(b)
	var h Header
	if v := r.Uint16(); r.Err() == nil && v != formatVersion {
		return h, fmt.Errorf("the journal has format %d, but this program reads only format %d: %w", v, formatVersion, ErrBuild)
	}
	r.Fixed(h.Session[:])
	h.Build = r.String(maxBuildBytes)
	h.Created = time.Unix(int64(r.Uint64()), 0)
	if err := r.Close("header"); err != nil {
		return h, damage(err.Error())
	}
	return h, nil
}

func readAt(file io.ReaderAt, b []byte, offset int64) error {
	_, err := file.ReadAt(b, offset)
	if errors.Is(err, io.EOF) {
		return damage("the header is incomplete")
	}
	return err
}

// readHeader checks the beginning of a log. It returns the header, a sealer and the offset of the
// first record.
func readHeader(file io.ReaderAt, seed [SeedSize]byte) (h Header, s sealer, end int64, err error) {
	head := make([]byte, len(magic)+2)
	if err := readAt(file, head, 0); err != nil {
		return h, s, 0, err
	}
	n := int(binary.LittleEndian.Uint16(head[len(magic):]))
	if string(head[:len(magic)]) != magic || n > maxHeaderBytes {
		return h, s, 0, damage("this is not a journal")
	}
	rest := make([]byte, n+sealOverhead)
	if err := readAt(file, rest, int64(len(head))); err != nil {
		return h, s, 0, err
	}
	if s, err = newSealer(seed, rest[:n]); err != nil {
		return h, s, 0, err
	}
	// The seal is checked before the header is decoded. A failed seal means a damaged header; a
	// header of another program has a valid seal.
	if _, err := s.open(nil, place{kind: placeHeader}, rest[n:]); err != nil {
		return h, s, 0, damage("the header and the seed do not belong together")
	}
	h, err = decodeHeader(rest[:n])
	return h, s, int64(len(head) + len(rest)), err
}
