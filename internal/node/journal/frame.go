package journal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// A frame is a record in the log: length of the sealed record, a checksum of
// that length and the record's number, the sealed record. Without the checksum
// a damaged length would make the rest of the log look like a torn end.
const frameHead = 8

// errTorn marks an end that a crash cut off while it was written.
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

// frames reads a log from its first record on.
type frames struct {
	file   io.ReaderAt
	in     *bufio.Reader
	sealer sealer
	size   int64  // of the log
	offset int64  // of the frame that next reads
	number uint64 // of its record

	sealed, plain []byte // reused
}

func newFrames(file io.ReaderAt, start, size int64, s sealer) *frames {
	in := bufio.NewReaderSize(io.NewSectionReader(file, start, size-start), 64<<10)
	return &frames{file: file, in: in, sealer: s, size: size, offset: start}
}

// next returns the next record's plain bytes, valid until the next call. It
// gives io.EOF at the end, errTorn at a torn end, and another error where the
// log is damaged; then offset and number describe the failing frame.
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
		return nil, f.broken(end-16, damage("the record does not open"))
	}
	f.plain, f.offset, f.number = plain, end, f.number+1
	return plain, nil
}

// broken tells a torn end from damage. After a power cut some file systems
// leave a file at its new length with zeros for what had not been written: if
// everything from offset on is zero, which no sealed record is, the end is
// torn.
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
