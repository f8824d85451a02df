package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"strings"
	"unicode/utf8"
)

// These bounds limit the tables and files that the readers accept.
const (
	MaxLine    = 64 << 20 // bytes in a line, or in a CSV record with quoted line breaks
	MaxColumns = 1 << 24
	MaxCells   = 1 << 31 // numbers in a table
	MaxArchive = 1 << 30 // bytes of an archive that is held in memory
	MaxPixels  = 1 << 25 // pixels in an image
	MaxPage    = 1 << 28 // bytes of a parquet page, compressed or decompressed
)

// limits holds the bounds that a reader applies; tests use smaller ones.
type limits struct{ line, columns, cells, pixels, page int }

func defaultLimits() limits {
	return limits{line: MaxLine, columns: MaxColumns, cells: MaxCells, pixels: MaxPixels, page: MaxPage}
}

// Options holds the settings of [Read] for each format. Read ignores the field Name of each format.
type Options struct {
	CSV     CSVOptions
	LIBSVM  LIBSVMOptions
	NPY     NPYOptions
	NPZ     NPZOptions
	Parquet ParquetOptions
}

// Read reads a table in the format that the suffix of name gives. The suffixes .csv, .tsv (tabs
// unless Options say otherwise), .svm, .libsvm, .txt and .npy can be followed by .gz; .npz and
// .parquet cannot. For any other name the first lines decide: the text is LIBSVM text if the first line
// with two fields or more has index:value after its label, else CSV. Errors are *SyntaxError with the given name.
//
// .npz and .parquet need random access. If r has the methods ReadAt and Seek, as files have, it is
// read in place. Otherwise the content of r is held in memory, up to [MaxArchive] bytes.
func Read(name string, r io.Reader, o Options) (*Set, error) {
	o.CSV.Name, o.LIBSVM.Name, o.NPY.Name, o.NPZ.Name, o.Parquet.Name = name, name, name, name, name
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
	case ".npy":
		return ReadNPY(r, o.NPY)
	case ".npz", ".parquet":
		return readArchive(suffix, r, o)
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

// readArchive reads the formats that need random access.
func readArchive(suffix string, r io.Reader, o Options) (*Set, error) {
	at, size, err := randomAccess(text(o.NPZ.Name), r, MaxArchive)
	if err != nil {
		return nil, err
	}
	if suffix == ".parquet" {
		return ReadParquet(at, size, o.Parquet)
	}
	return ReadNPZ(at, size, o.NPZ)
}

// randomAccess returns r as an [io.ReaderAt] with its size. If r has no random access, its content
// is held in memory, up to the given number of bytes.
func randomAccess(t text, r io.Reader, most int64) (io.ReaderAt, int64, error) {
	if f, ok := r.(interface {
		io.ReaderAt
		io.Seeker
	}); ok {
		size, err := f.Seek(0, io.SeekEnd)
		if err != nil {
			return nil, 0, t.unreadable(0, err)
		}
		return f, size, nil
	}
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return nil, 0, t.unreadable(0, err)
	case int64(len(b)) > most:
		return nil, 0, t.errorf(0, "the file has more than the %d bytes allowed here; split the table", most)
	}
	return bytes.NewReader(b), int64(len(b)), nil
}

const readAhead = 64 << 10

// open decompresses r if it begins like gzip, skips the byte order mark that spreadsheets write,
// and refuses data that are not text.
func open(t text, r io.Reader) (*bufio.Reader, error) {
	b, err := gunzip(t, r)
	if err != nil {
		return nil, err
	}
	return b, t.skipMark(b)
}

// gunzip decompresses r if it begins like gzip.
func gunzip(t text, r io.Reader) (*bufio.Reader, error) {
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
	return b, nil
}

func (t text) skipMark(b *bufio.Reader) error {
	head, err := b.Peek(longestMagic)
	if err != nil && !errors.Is(err, io.EOF) && len(head) < 4 { // otherwise the next read returns the error again
		return t.unreadable(1, err)
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return t.errorf(1, "the text is UTF-16; save it as UTF-8, or for CSV write \"csv: {encoding: utf-16}\" (--encoding utf-16)")
	case foreignIn(head) != nil:
		return t.errorf(0, "the file is %s, not text; %s", foreignIn(head).kind, foreignIn(head).remedy)
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		if _, err := b.Discard(3); err != nil {
			return t.unreadable(1, err)
		}
	}
	return t.checkText(b)
}

// checkText refuses JSON, a web page, XML, UTF-16, and a file with a zero byte near its beginning, because
// such a file is not text. It ignores an error of b, because the next read from b returns the error again.
func (t text) checkText(b *bufio.Reader) error {
	head, _ := b.Peek(readAhead)
	if looksJSON(head) {
		return t.errorf(1, "the text is JSON; export the table as CSV or parquet")
	}
	if looksMarkup(head) {
		return t.errorf(1, "the text is a web page or XML, not a table; download the table anew, or export it as CSV or parquet")
	}
	if looksUTF16(head) {
		return t.errorf(1, "the text looks like UTF-16 without a byte order mark; save it as UTF-8, or for CSV write \"csv: {encoding: utf-16}\" (--encoding utf-16)")
	}
	if at := bytes.IndexByte(head, 0); at >= 0 {
		return t.errorf(1+bytes.Count(head[:at], []byte{'\n'}), "the file is not text, since it contains a zero byte; export the table as CSV in UTF-8, or give the file the suffix of its format")
	}
	return nil
}

// looksJSON reports whether a text begins like a JSON object, or like a JSON array of objects, arrays or texts.
func looksJSON(head []byte) bool {
	rest := bytes.TrimLeft(head, " \t\r\n")
	list := bytes.TrimPrefix(rest, []byte{'['})
	object := bytes.TrimLeft(list, " \t\r\n")
	name, is := bytes.CutPrefix(object, []byte{'{'})
	name = bytes.TrimLeft(name, " \t\r\n")
	return is && bytes.HasPrefix(name, []byte{'"'}) || len(list) < len(rest) && (bytes.HasPrefix(object, []byte{'['}) || bytes.HasPrefix(object, []byte{'"'}))
}

// GuessEncoding returns the encoding that a text without a byte order mark of UTF-8 probably has,
// among [Encodings], or "" for UTF-8. It reads to the first bytes that are not UTF-8, or to
// the end.
func GuessEncoding(r io.Reader) string {
	b := bufio.NewReaderSize(r, readAhead)
	head, _ := b.Peek(readAhead)
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) || looksUTF16(head) {
		return "utf-16"
	}
	for {
		char, size, err := b.ReadRune()
		switch {
		case err != nil:
			return ""
		case char == utf8.RuneError && size == 1:
			return "windows-1252"
		}
	}
}

// looksUTF16 reports whether a text begins with two ASCII characters in UTF-16.
func looksUTF16(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	zero := func(at ...int) bool { return head[at[0]] == 0 && head[at[1]] == 0 }
	ascii := func(at ...int) bool { return isASCII(head[at[0]]) && isASCII(head[at[1]]) }
	return zero(1, 3) && ascii(0, 2) || zero(0, 2) && ascii(1, 3)
}

// isASCII reports whether a byte is a character of ASCII text.
func isASCII(c byte) bool { return c >= ' ' && c < 0x7f || c == '\t' || c == '\r' || c == '\n' }

// sniffLIBSVM reports whether, in the first buffered line of b with two fields or more, index:value follows
// the label. It ignores an error of b, because the next read from b returns the error again.
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

// LooksLikeLIBSVM reports whether a plain text begins like LIBSVM's format. It consumes nothing
// from b.
func LooksLikeLIBSVM(b *bufio.Reader) bool {
	_, _ = b.Peek(readAhead) // text that cannot be read is not LIBSVM text
	return sniffLIBSVM(b)
}

func allDigits(s []byte) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(s) > 0
}
