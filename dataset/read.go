package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"strings"
)

// Bounds of what the readers accept.
const (
	MaxLine    = 64 << 20 // bytes in a line, or in a CSV record with quoted line breaks
	MaxColumns = 1 << 24
	MaxCells   = 1 << 31 // numbers in a table
)

// limits are the bounds above, smaller in tests.
type limits struct{ line, columns, cells int }

func defaultLimits() limits { return limits{line: MaxLine, columns: MaxColumns, cells: MaxCells} }

// Options says how to read a table whose format Read chooses. The names in it
// are ignored.
type Options struct {
	CSV    CSVOptions
	LIBSVM LIBSVMOptions
}

// Read reads a table in the format that the suffix of name tells: .csv and .tsv
// (tabs unless Options say otherwise), or .svm, .libsvm and .txt, each with or
// without .gz. Any other name leaves the choice to the first lines: LIBSVM text
// if one holds index:value after its label, else CSV. Messages call the text by
// name. Errors are *SyntaxError.
func Read(name string, r io.Reader, o Options) (*Set, error) {
	o.CSV.Name, o.LIBSVM.Name = name, name
	suffix := path.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))
	switch suffix {
	case ".tsv":
		if o.CSV.Comma == 0 {
			o.CSV.Comma = '\t'
		}
		return ReadCSV(r, o.CSV)
	case ".csv":
		return ReadCSV(r, o.CSV)
	case ".svm", ".libsvm", ".txt":
		return ReadLIBSVM(r, o.LIBSVM)
	}
	b, err := open(text(name), r)
	if err != nil {
		return nil, err
	}
	if sniffLIBSVM(b) {
		return readLIBSVM(b, o.LIBSVM, defaultLimits())
	}
	return readCSV(b, o.CSV, defaultLimits())
}

const readAhead = 64 << 10

// open decompresses r if it begins like gzip, skips the byte order mark that
// spreadsheets write, and refuses what is no text at all.
func open(t text, r io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, readAhead)
	magic, err := b.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, t.unreadable(1, err)
	}
	if bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, t.unreadable(0, err)
		}
		b = bufio.NewReaderSize(z, readAhead)
	}
	return b, t.skipMark(b)
}

func (t text) skipMark(b *bufio.Reader) error {
	head, err := b.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return t.unreadable(1, err)
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return t.errorf(1, "the text is UTF-16; save it as UTF-8")
	case bytes.HasPrefix(head, []byte("PK\x03")):
		return t.errorf(0, "this is a zip archive or a spreadsheet, not text; unpack it or export it as CSV")
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, err := b.Discard(3)
		return err
	}
	return nil
}

// sniffLIBSVM looks for a label followed by index:value in the lines that b
// holds ready. An error here shows again when the reader proper comes to it.
func sniffLIBSVM(b *bufio.Reader) bool {
	head, _ := b.Peek(readAhead)
	for line := range bytes.Lines(head) {
		line, _, _ = bytes.Cut(line, []byte{'#'})
		fields := bytes.Fields(line)
		if len(fields) < 2 {
			continue
		}
		index, _, found := bytes.Cut(fields[1], []byte{':'})
		return found && (string(index) == "qid" || allDigits(index))
	}
	return false
}

func allDigits(s []byte) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(s) > 0
}
