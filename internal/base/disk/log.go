package disk

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// MaxLogRecord is the greatest size of a record in a log, in bytes.
const MaxLogRecord = 64 << 20

const logHead = 12 // bytes before a record: its length, CRC-32C of the length, CRC-32C of the record

// Log is an append-only file of records. It is not safe for concurrent use.
type Log struct{ f *os.File }

// ErrDamaged reports that the content of a log differs from the records that were written.
var ErrDamaged = errors.New("the log is damaged; restore its folder from a backup, or move the log away to start a new one without the old records")

// OpenLog opens or creates a log and calls onRecord with each record of the log. The function
// onRecord must not keep a record. If a crash left only a part of the last record, OpenLog removes
// this part: Append has not reported such a record as written.
func OpenLog(path string, onRecord func(record []byte) error) (*Log, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("disk: %w", err)
	}
	end, err := readLog(f, onRecord)
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err == nil {
		err = SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("disk: log %s: %w", path, err), f.Close())
	}
	return &Log{f}, nil
}

// readLog returns the offset at which the last complete record ends.
func readLog(f *os.File, read func([]byte) error) (end int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	in := bufio.NewReaderSize(f, bufferBytes)
	for left := info.Size(); left >= logHead; left = info.Size() - end {
		var head [logHead]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return end, err
		}
		n := int64(binary.LittleEndian.Uint32(head[:]))
		if sum(head[:4]) != binary.LittleEndian.Uint32(head[4:]) {
			return end, checkZeros(f, end+logHead)
		}
		if left < logHead+n {
			return end, nil
		}
		record := make([]byte, n)
		if _, err := io.ReadFull(in, record); err != nil {
			return end, err
		}
		switch ok := sum(record) == binary.LittleEndian.Uint32(head[8:]); {
		case !ok && left == logHead+n:
			return end, nil
		case !ok:
			return end, checkZeros(f, end+logHead+n)
		}
		if err := read(record); err != nil {
			return end, err
		}
		end += logHead + n
	}
	return end, nil
}

// checkZeros returns an error unless the file holds only zeros from an offset on. After a power
// cut, some file systems leave a file at its new length without the written bytes.
func checkZeros(f *os.File, offset int64) error {
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	rest := bufio.NewReader(f)
	for {
		b, err := rest.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case b != 0:
			return ErrDamaged
		}
	}
}

func sum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// Append adds a record to the log and returns when the record is on disk. After an error the log
// must not be used any more: its content is unknown until OpenLog reads it again.
func (l *Log) Append(record []byte) error {
	if len(record) > MaxLogRecord {
		return fmt.Errorf("disk: the record has %d bytes; at most %d are allowed", len(record), MaxLogRecord)
	}
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, logHead+len(record)), uint32(len(record)))
	b = binary.LittleEndian.AppendUint32(b, sum(b))
	b = binary.LittleEndian.AppendUint32(b, sum(record))
	if _, err := l.f.Write(append(b, record...)); err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	if err := l.f.Sync(); err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	return nil
}

// Close closes the file.
func (l *Log) Close() error { return l.f.Close() }

// Remove closes the file and removes it.
func (l *Log) Remove() error {
	if err := errors.Join(l.f.Close(), os.Remove(l.f.Name())); err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	return SyncDir(filepath.Dir(l.f.Name()))
}
