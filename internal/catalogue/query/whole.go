package query

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mercer-fl/mercer/internal/base/regular"
)

// header is the size of the header of a SQLite file, in bytes.
const header = 100

// checkDatabase refuses a path without a file, an empty file, and a file that is shorter than its own
// header says and has no log. SQLite takes an empty file for a database without tables, and the lost part of a
// page for zeros.
func checkDatabase(path string) error {
	f, err := regular.Open(path)
	if err != nil {
		return err
	}
	size, pages, err := sizes(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	switch {
	case size == 0:
		return fmt.Errorf("%s is empty; correct the path of the SQLite file, or restore the file", path)
	case size < pages && !hasLog(path):
		return fmt.Errorf("%s has %d bytes, but its first page says %d: the file was cut short; restore it", path, size, pages)
	}
	return nil
}

// sizes returns the size of a file, and the size of its pages according to its header (SQLite, Database
// File Format, 1.3). The latter is 0 if the header does not say it.
func sizes(f *os.File) (size, pages int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	var b [header]byte
	if _, err := io.ReadFull(f, b[:]); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return info.Size(), 0, nil
	} else if err != nil {
		return 0, 0, err
	}
	page := int64(binary.BigEndian.Uint16(b[16:]))
	if page == 1 {
		page = 1 << 16
	}
	changes, validFor := binary.BigEndian.Uint32(b[24:]), binary.BigEndian.Uint32(b[92:])
	if string(b[:16]) != "SQLite format 3\x00" || changes != validFor {
		return info.Size(), 0, nil
	}
	return info.Size(), page * int64(binary.BigEndian.Uint32(b[28:])), nil
}

// hasLog reports whether a file beside the database might hold pages that the database lacks.
func hasLog(path string) bool {
	for _, suffix := range []string{"-wal", "-journal"} {
		if info, err := os.Stat(path + suffix); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}
