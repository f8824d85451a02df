package journal

import (
	"bufio"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// The log stores each record in a frame. A frame consists of the length of the sealed record, a
// checksum of that length and the record's number, and the sealed record. Without the checksum a
// damaged length would make the rest of the log look like a torn end.
const frameHead = 8

// errTorn reports that a crash has cut off the end of the log.
var errTorn = errors.New("torn")

func appendFrame(dst []byte, s sealer, number uint64, plain []byte) []byte {
	n := uint32(len(plain) + sealOverhead)
	dst = binary.LittleEndian.AppendUint32(dst, n)
	dst = binary.LittleEndian.AppendUint32(dst, headSum(n, number))
	return s.seal(dst, place{placeRecord, number}, plain)
}

func headSum(n uint32, number uint64) uint32 {
	var b [12]byte
	binary.LittleEndian.PutUint32(b[:], n)
	binary.LittleEndian.PutUint64(b[4:], number)
	return crc32.ChecksumIEEE(b[:])
}

// frames reads the frames of a log in order.
type frames struct {
	file   io.ReaderAt
	in     *bufio.Reader
	sealer sealer
	size   int64  // size of the log
	offset int64  // offset of the next frame
	number uint64 // number of the next record

	sealed, plain []byte // buffers, used again for each frame
}

func newFrames(file io.ReaderAt, start, size int64, s sealer) *frames {
	in := bufio.NewReaderSize(io.NewSectionReader(file, start, size-start), 64<<10)
	return &frames{file: file, in: in, sealer: s, size: size, offset: start}
}

// next decrypts the next record. The plain bytes are valid until the next call. It returns io.EOF
// at the end, errTorn at a torn end, and another error if the log is damaged or cannot be read; then
// offset and number describe the failing frame.
func (f *frames) next() ([]byte, error) {
	left := f.size - f.offset
	if left == 0 {
		return nil, io.EOF
	}
	if left < frameHead {
		return nil, errTorn
	}
	var head [frameHead]byte
	if _, err := io.ReadFull(f.in, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if binary.LittleEndian.Uint32(head[4:]) != headSum(n, f.number) || n < sealOverhead || n > maxRecordBytes+sealOverhead {
		return nil, f.broken(f.offset+frameHead-1, damage("no record begins here"))
	}
	if int64(n) > left-frameHead {
		return nil, errTorn
	}
	return f.body(int(n))
}

func (f *frames) body(n int) ([]byte, error) {
	if cap(f.sealed) < n {
		f.sealed = make([]byte, n)
	}
	sealed := f.sealed[:n]
	if _, err := io.ReadFull(f.in, sealed); err != nil {
		return nil, err
	}
	end := f.offset + frameHead + int64(n)
	plain, err := f.sealer.open(f.plain[:0], place{placeRecord, f.number}, sealed)
	if err != nil {
		return nil, f.broken(end-16, damage("the record cannot be decrypted"))
	}
	f.plain, f.offset, f.number = plain, end, f.number+1
	return plain, nil
}

// broken decides whether a broken frame comes from a crash or from damage. After a power cut some
// file systems leave a file at its new length with zeros for the unwritten part. If everything from
// offset on is zero, which no sealed record is, broken returns errTorn, and otherwise the given
// damage.
func (f *frames) broken(offset int64, what damage) error {
	zero, err := zeros(io.NewSectionReader(f.file, offset, f.size-offset))
	if err != nil {
		return err
	}
	if zero {
		return errTorn
	}
	return what
}

func zeros(r io.Reader) (bool, error) {
	in := bufio.NewReader(r)
	for {
		b, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil || b != 0 {
			return false, err
		}
	}
}

// keyLabel makes the journal's key differ from other keys that are derived from a session's seed.
const keyLabel = "mercer/v1/journal"

// sealOverhead is the number of bytes that sealing adds: a random nonce of 12 and a tag of 16.
const sealOverhead = 12 + 16

// place identifies the position of a sealed piece. The piece can be decrypted only with its own
// place.
type place struct {
	kind   byte
	number uint64 // number of the record
}

const (
	placeHeader = iota
	placeRecord
	placeBody
)

// sealer encrypts and decrypts the pieces of one session's journal.
type sealer struct {
	aead   cipher.AEAD
	header [sha256.Size]byte // hash of the log's header
}

// newSealer returns a sealer with a key that is derived from the seed. It binds all pieces to the
// header.
func newSealer(seed [SeedSize]byte, header []byte) (sealer, error) {
	key, err := hkdf.Key(sha256.New, seed[:], nil, keyLabel, 32)
	if err != nil {
		return sealer{}, fmt.Errorf("journal: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, fmt.Errorf("journal: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return sealer{}, fmt.Errorf("journal: %w", err)
	}
	return sealer{aead, sha256.Sum256(header)}, nil
}

// seal encrypts plain and appends the sealed piece to dst.
func (s sealer) seal(dst []byte, at place, plain []byte) []byte {
	return s.aead.Seal(dst, nil, plain, s.data(at))
}

// open decrypts a sealed piece and appends it to dst.
func (s sealer) open(dst []byte, at place, sealed []byte) ([]byte, error) {
	return s.aead.Open(dst, nil, sealed, s.data(at))
}

func (s sealer) data(at place) []byte {
	b := append(make([]byte, 0, sha256.Size+9), s.header[:]...)
	return binary.LittleEndian.AppendUint64(append(b, at.kind), at.number)
}
