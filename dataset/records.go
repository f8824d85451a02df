package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/mercer-fl/mercer/internal/base/humanize"
)

// Records reads a table row by row as text, for readers that interpret its cells.
type Records interface {
	// Columns returns the names of the columns, which are all different.
	Columns() []string
	// Next returns the next row, or io.EOF. Its fields are valid until the next call.
	Next() (Record, error)
}

// Delimited is implemented by [Records] of a text in which a sign separates the fields.
type Delimited interface {
	Delimiter() rune
}

// Record is one row of text, with one field for each column. Fields from CSV and parquet files are trimmed.
type Record struct {
	Line   int // line of the text, from 1; in formats without lines, the number of the row
	Fields []string
	File   string // name of the file, if the rows come from several; else ""
}

// CSVForm describes the format of a CSV text. The zero value is a text in UTF-8 whose first line
// names the columns, with a delimiter that the first line shows.
type CSVForm struct {
	Delimiter rune     // 0 means a comma, semicolon or tab, as the first line shows; a blank means any number of blanks
	Encoding  string   // "" or one of [Encodings]
	Comment   rune     // first character of the lines to skip; 0 means no comments
	Names     []string // names of the columns, for a text without a header line
	Headers   []string // names that replace the names of the header line
	Quote     rune     // sign around fields: a double or a single quote; 0 means a double quote
}

// Encodings lists the supported encodings of text.
func Encodings() []string { return []string{"utf-8", "utf-16", "windows-1252", "iso-8859-15"} }

// OpenCSV returns the rows of a CSV text, plain or compressed by gzip. It reads the names of the columns
// from the first line, unless the form gives them.
// Errors are *SyntaxError with the given name.
func OpenCSV(name string, r io.Reader, form CSVForm) (Records, error) {
	return openCSV(name, r, form, defaultLimits())
}

func openCSV(name string, r io.Reader, form CSVForm, bounds limits) (*csvRecords, error) {
	plain, err := form.decoded(text(name), r)
	if err != nil {
		return nil, err
	}
	b, err := open(text(name), plain)
	if err != nil {
		return nil, err
	}
	if form.Quote == singleQuote {
		b = bufio.NewReaderSize(swapQuotes{b}, b.Size())
	}
	in, err := newCSVSource(b, CSVOptions{Name: name, Comma: form.Delimiter}, form.Comment, bounds)
	if err != nil {
		return nil, err
	}
	in.single = form.Quote == singleQuote
	c := &csvRecords{in: in, columns: form.Names, key: form.namesKey()}
	return c, c.begin(form.Headers)
}

// namesKey returns the key of "csv" that gives the names of the columns, or "" if the first line does.
func (f CSVForm) namesKey() string {
	switch {
	case f.Names != nil:
		return "names"
	case f.Headers != nil:
		return "headers"
	}
	return ""
}

// decoded converts the text to UTF-8.
func (f CSVForm) decoded(t text, r io.Reader) (io.Reader, error) {
	if f.Encoding == "" || f.Encoding == "utf-8" {
		return r, nil
	}
	b, err := gunzip(t, r)
	if err != nil {
		return nil, err
	}
	switch f.Encoding {
	case "utf-16":
		return transform.NewReader(b, unicode.UTF16(likelyOrder(b), unicode.UseBOM).NewDecoder()), nil
	case "windows-1252":
		return transform.NewReader(b, charmap.Windows1252.NewDecoder()), nil
	case "iso-8859-15":
		return transform.NewReader(b, charmap.ISO8859_15.NewDecoder()), nil
	}
	return nil, t.errorf(0, "encoding %s is not known; write one of utf-8, utf-16, windows-1252, iso-8859-15", quote(f.Encoding))
}

// likelyOrder returns the byte order of a UTF-16 text without a byte order mark.
func likelyOrder(b *bufio.Reader) unicode.Endianness {
	if head, _ := b.Peek(2); len(head) == 2 && head[0] == 0 { // the next read returns the error again
		return unicode.BigEndian
	}
	return unicode.LittleEndian
}

// csvRecords reads the rows of a CSV text.
type csvRecords struct {
	in      *csvSource
	columns []string
	key     string                 // key of csv that gives the columns: "names", "headers", or "" for the first line
	ahead   func() (record, error) // returns the row that was read ahead, or the error; nil if no row was read ahead
}

// Delimiter implements [Delimited]. The delimiter comes from the [CSVForm], or else from the
// first line.
func (c *csvRecords) Delimiter() rune { return c.in.csv.Comma }

// begin reads the names from the first line, unless the form gives them. Headers replace the names
// of the line.
func (c *csvRecords) begin(headers []string) error {
	given := c.columns != nil
	if !given {
		first, err := c.in.next()
		if errors.Is(err, io.EOF) {
			return c.in.errorf(0, "there are no rows; give at least one")
		}
		if err != nil {
			return err
		}
		c.columns = headers
		if headers == nil {
			if err := oneField(c.in, first); err != nil {
				return err
			}
			c.columns = slices.Clone(first.fields)
		}
	}
	c.columns = nameUnnamed(c.columns)
	if err := checkHeader(c.columns); err != nil {
		return c.in.wrap(max(c.in.line, 1), err)
	}
	if given || headers != nil {
		return nil
	}
	return c.refuseCounts(c.in.line)
}

// refuseCounts refuses a first line that gives the numbers of rows and columns in place of names, as
// in scikit-learn's files. It reads one row ahead.
func (c *csvRecords) refuseCounts(line int) error {
	second, err := c.in.next()
	second = second.clone()
	c.ahead = func() (record, error) { return second, err }
	if err != nil {
		return nil //nolint:nilerr // Next returns the error with the row that it is about
	}
	if (CSVOptions{}).shape([]record{{line, c.columns}, second}) == nil {
		return nil
	}
	return c.in.errorf(line, "the line gives the numbers of rows and columns in place of names; use the table without a data dictionary, or name all %d columns by \"csv: {headers: [...]}\" (--headers)", len(second.fields))
}

// width says, for a message, whether a key or the table gives the number of columns, and the number.
func (c *csvRecords) width() string {
	if c.key != "" {
		return fmt.Sprintf("key %q gives %d names", c.key, len(c.columns))
	}
	return fmt.Sprintf("table has %d columns", len(c.columns))
}

// advice returns the correction of a row whose number of fields differs from the number of columns.
func (c *csvRecords) advice(row []string) string {
	if c.key != "" {
		return fmt.Sprintf("write one name for each column under \"csv: {%s: [...]}\" (--%[1]s), or correct the row", c.key)
	}
	return widthAdvice(c.columns, row)
}

// Columns implements [Records].
func (c *csvRecords) Columns() []string { return c.columns }

// Next implements [Records].
func (c *csvRecords) Next() (Record, error) {
	row, err := c.next()
	if err != nil {
		return Record{}, err
	}
	if len(row.fields) != len(c.columns) {
		return Record{}, c.in.errorf(row.line, "the row has %s, but the %s; %s", humanize.Count(len(row.fields), "field"), c.width(), c.advice(row.fields))
	}
	return Record{Line: row.line, Fields: row.fields}, nil
}

// next returns the row that was read ahead, or the next one.
func (c *csvRecords) next() (record, error) {
	if ahead := c.ahead; ahead != nil {
		c.ahead = nil
		return ahead()
	}
	return c.in.next()
}

// CanonicalLabel returns the form in which labels are compared. Equal numbers below 2^53 in
// magnitude are one label: "+1" and "1.0" become "1".
func CanonicalLabel(label string) (string, error) { return canonicalLabel(label) }

// RecordsOf returns the rows of a set as text, for readers that interpret cells. Labels and ids
// become columns with the given names, if the set has them; columns without names get the names
// that [WriteCSV] gives them.
func RecordsOf(s *Set, label, id string) Records {
	r := &setRecords{set: s, columns: s.names(), row: make([]float64, s.X.Cols())}
	if s.Labels != nil && label != "" {
		r.columns, r.extra = append(r.columns, label), append(r.extra, s.Labels)
	}
	if s.IDs != nil && id != "" {
		r.columns, r.extra = append(r.columns, id), append(r.extra, s.IDs)
	}
	r.fields = make([]string, len(r.columns))
	return r
}

// setRecords reads the rows of a set as text.
type setRecords struct {
	set     *Set
	columns []string
	extra   [][]string // columns of the labels and the ids, if the set has them
	next    int
	row     []float64
	fields  []string
}

// Columns implements [Records].
func (r *setRecords) Columns() []string { return r.columns }

// Next implements [Records].
func (r *setRecords) Next() (Record, error) {
	if r.next == r.set.X.Rows() {
		return Record{}, io.EOF
	}
	r.set.X.Row(r.next, r.row)
	for j, v := range r.row {
		r.fields[j] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	for k, list := range r.extra {
		r.fields[len(r.row)+k] = list[r.next]
	}
	r.next++
	return Record{Line: r.next, Fields: r.fields}, nil
}
