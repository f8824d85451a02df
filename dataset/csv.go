package dataset

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/linalg"
)

// Header selects how the first line of a CSV text is read: as column names, as a row, or by
// detection.
type Header int

// DetectHeader decides from the fields of the first line whether the line is a header. The line is a header
// if more of its feature fields are text than numbers, or if a field is a usual name for labels or ids or a
// name that the options give. A line with some text and at least as many numbers is refused, because it could
// be a row with a mistake.
const (
	DetectHeader Header = iota
	WithHeader
	NoHeader
)

// CSVOptions holds the settings for reading a CSV text. The zero value suits a comma separated text
// whose label column is called "label", "y" or "target", or is the last column.
type CSVOptions struct {
	Name string // name of the text in messages
	// Label selects the label column by its name, its index from 0, "last", or "none". If Label is
	// empty, the labels are in the column called "label", "y" or "target" (in upper or lower case).
	// If there is no such name, they are in the last column that has a name, or in the last column
	// of a text without names.
	Label string
	// ID selects the id column by its name, its index from 0, or "none". If ID is empty, the ids
	// are in the column called "id" (in upper or lower case). If there is no such name, the set has
	// no ids.
	ID string
	// Gaps allows rows whose label cell is empty. Their label is "".
	Gaps bool
	// Classes are the allowed labels; nil allows all.
	Classes []string
	Uses
	Comma  rune // field delimiter; 0 means a comma, semicolon or tab, as the first line shows
	Header Header
}

// Uses selects which columns of a table are read. A column is given by its name, or by its index
// from 0 if no column has the index as its name.
type Uses struct {
	// Features lists the feature columns, which keep the file's order. If Features is nil, all
	// columns are features that are neither label nor id nor in Aside, and that have a name if the
	// others have names.
	Features []string
	// Aside lists the columns to be skipped.
	Aside []string
}

// ReadCSV reads a dense set from comma separated text, plain or compressed by gzip, with quotes as in
// encoding/csv. A first line such as scikit-learn's "569,30,malignant,benign" (rows, features, class names)
// is checked and skipped. Labels that are numbers become canonical ("+1" and "1.0" become "1"). ReadCSV
// refuses equal ids and empty ids. It also refuses a feature that is empty, NaN, infinite or not a number,
// and a label that is empty (unless Gaps is set), NaN or infinite. Errors are *SyntaxError.
func ReadCSV(r io.Reader, o CSVOptions) (*Set, error) {
	b, err := open(text(o.Name), r)
	if err != nil {
		return nil, err
	}
	return readCSV(b, o, defaultLimits())
}

func readCSV(b *bufio.Reader, o CSVOptions, bounds limits) (*Set, error) {
	p, rows, err := newCSVParser(b, o, bounds)
	if err != nil {
		return nil, err
	}
	p.firstID = make(map[string]int)
	for _, row := range rows {
		if err := p.add(row); err != nil {
			return nil, err
		}
	}
	for {
		row, err := p.in.next()
		if errors.Is(err, io.EOF) {
			if err := p.checkEnd(p.rows); err != nil {
				return nil, err
			}
			return p.set(), nil
		}
		if err != nil {
			return nil, err
		}
		if err := p.add(row); err != nil {
			return nil, err
		}
	}
}

// newCSVParser finds the columns of a text. It also returns the rows that it has read for that.
func newCSVParser(b *bufio.Reader, o CSVOptions, bounds limits) (*csvParser, []record, error) {
	in, err := newCSVSource(b, o, 0, bounds)
	if err != nil {
		return nil, nil, err
	}
	head, rows, err := readHead(in, o)
	return &csvParser{text: in.text, in: in, head: head, columns: head.featureNames(), bounds: bounds, labeller: labeller{gaps: o.Gaps, among: o.Classes}, classes: make(map[string]bool)}, rows, err
}

// record holds the trimmed fields of one CSV record. The slice is valid until the next record is
// read.
type record struct {
	line   int
	fields []string
}

func (r record) clone() record { return record{line: r.line, fields: slices.Clone(r.fields)} }

// csvSource reads CSV records and refuses records that are too large.
type csvSource struct {
	text
	csv     *csv.Reader
	guard   *guard
	bounds  limits
	skipped int  // number of lines before the table begins
	line    int  // line of the last record
	single  bool // whether the reader has swapped single and double quotes
}

// newCSVSource returns a reader of the records of b. If the options give no delimiter, the first
// lines determine the delimiter.
func newCSVSource(b *bufio.Reader, o CSVOptions, comment rune, bounds limits) (*csvSource, error) {
	s := &csvSource{text: text(o.Name), bounds: bounds}
	if err := s.checkLineEnds(b); err != nil {
		return nil, err
	}
	separator, err := s.skipSeparator(b)
	if err != nil {
		return nil, err
	}
	if comment == 0 && separator == 0 {
		if err := s.refuseComment(b); err != nil {
			return nil, err
		}
	}
	if o.Comma == 0 {
		if o.Comma = separator; o.Comma == 0 {
			o.Comma, err = s.likelyComma(firstLines(b, comment))
		}
		if err != nil {
			return nil, err
		}
	}
	s.guard = &guard{r: b}
	s.csv = csv.NewReader(bufio.NewReaderSize(s.guard, readAhead))
	switch o.Comma {
	case ',', '\t', ';', ' ', '|', ':':
		s.csv.Comma = o.Comma
	default:
		return nil, s.errorf(0, "%q cannot separate fields; choose a comma, semicolon, tab, space, bar or colon", o.Comma)
	}
	if comment == s.csv.Comma {
		return nil, s.errorf(0, "%q separates fields and begins comments; correct \"comment\" or \"delimiter\" (--comment, --csv-delimiter)", comment)
	}
	s.csv.Comment = comment
	s.csv.ReuseRecord = true
	s.csv.FieldsPerRecord = -1
	return s, nil
}

// next returns the next record, or io.EOF.
func (s *csvSource) next() (record, error) {
	s.guard.left = s.bounds.line + readAhead
	fields, err := s.csv.Read()
	if err != nil {
		return record{}, s.refuse(err)
	}
	s.line, _ = s.csv.FieldPos(0)
	s.line += s.skipped
	if len(fields) > s.bounds.columns {
		return record{}, s.errorf(s.line, "the line has %d fields, more than the %d allowed; split the table", len(fields), s.bounds.columns)
	}
	for i, f := range fields {
		if !utf8.ValidString(f) {
			return record{}, s.errorf(s.line, "the line is not UTF-8 text; save the file as UTF-8, or give its encoding, as in \"csv: {encoding: windows-1252}\"")
		}
		if s.single {
			f = swappedQuotes.Replace(f)
		}
		fields[i] = strings.TrimSpace(f)
	}
	if s.csv.Comma == ' ' { // several blanks count as one delimiter
		fields = slices.DeleteFunc(fields, func(f string) bool { return f == "" })
	}
	return record{line: s.line, fields: fields}, nil
}

func (s *csvSource) refuse(err error) error {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF) && !errors.As(err, &parse):
		return io.EOF
	case errors.Is(err, errLongLine):
		return s.errorf(s.line+1, "the line is longer than %d bytes; close its quotes or split the table", s.bounds.line)
	case errors.Is(err, csv.ErrBareQuote):
		errors.As(err, &parse)
		return s.errorf(parse.Line+s.skipped, "an unquoted field contains a quote; quote the field and double the quote")
	case errors.Is(err, csv.ErrQuote):
		errors.As(err, &parse)
		return s.errorf(parse.StartLine+s.skipped, "a quoted field does not end before a delimiter; close it or double the quote inside it")
	}
	return s.unreadable(s.line+1, err)
}

var errLongLine = errors.New("the line is too long")

// guard limits the bytes of a record, so that an endless record cannot fill the memory.
type guard struct {
	r    io.Reader
	left int
}

func (g *guard) Read(p []byte) (int, error) {
	if g.left <= 0 {
		return 0, errLongLine
	}
	n, err := g.r.Read(p[:min(len(p), g.left)])
	g.left -= n
	return n, err
}

// csvParser collects the rows of a CSV text and makes a set from them.
type csvParser struct {
	text
	in       *csvSource
	head     csvHead
	columns  []string // names of the features
	bounds   limits
	labeller labeller
	values   []float64
	rows     int
	labels   []string
	ids      []string
	lines    []int
	firstID  map[string]int  // line in which each id occurs; nil if equal ids are not looked for
	classes  map[string]bool // the labels so far, if the first line gives the number of classes; at most maxCounted + 1
}

func (p *csvParser) add(row record) error {
	if len(row.fields) != p.head.width {
		return p.errorf(row.line, "the row has %s, but the first row has %d; %s", humanize.Count(len(row.fields), "field"), p.head.width, widthAdvice(p.head.names, row.fields))
	}
	if len(p.values)+len(p.head.features) > p.bounds.cells {
		return p.errorf(row.line, "the table has more than %d cells; split it", p.bounds.cells)
	}
	for _, j := range p.head.features {
		v, err := parseNumber(row.fields[j])
		if err != nil {
			return p.wrap(row.line, p.head.badCell(j, row.fields[j], err))
		}
		p.values = append(p.values, v)
	}
	p.rows, p.lines = p.rows+1, append(p.lines, row.line)
	if err := p.addLabel(row); err != nil {
		return err
	}
	return p.addID(row)
}

func (p *csvParser) addLabel(row record) error {
	if p.head.label < 0 {
		return nil
	}
	label, err := p.labeller.canonical(row.fields[p.head.label])
	if errors.Is(err, errEmpty) && p.head.names != nil {
		return p.wrap(row.line, fmt.Errorf("%s %w", p.head.column(p.head.label), NoLabel(p.head.names[p.head.label])))
	}
	if err != nil {
		return p.wrap(row.line, p.head.badCell(p.head.label, row.fields[p.head.label], err))
	}
	p.labels = append(p.labels, label)
	if p.head.shape != nil && len(p.classes) <= maxCounted {
		p.classes[label] = true
	}
	return nil
}

// maxCounted bounds the classes that are counted to check the first line.
const maxCounted = 1 << 16

func (p *csvParser) addID(row record) error {
	if p.head.id < 0 {
		return nil
	}
	id := row.fields[p.head.id]
	if id == "" {
		return p.wrap(row.line, p.head.badCell(p.head.id, id, errEmpty))
	}
	if first, ok := p.firstID[id]; ok {
		return p.errorf(row.line, "id %s is also in line %d; keep one of the two rows", quote(id), first)
	}
	id = strings.Clone(id) // without the copy, the id would keep its whole line in memory
	if p.firstID != nil {
		p.firstID[id] = row.line
	}
	p.ids = append(p.ids, id)
	return nil
}

// set returns the rows that were added.
func (p *csvParser) set() *Set {
	cols := len(p.head.features)
	m := linalg.Matrix[float64]{Rows: p.rows, Cols: cols, Stride: cols, Data: p.values}
	return &Set{Name: string(p.text), X: NewDense(m), Labels: p.labels, IDs: p.ids, Columns: p.columns, Lines: p.lines}
}

// checkEnd checks, after the last row, the number of all rows.
func (p *csvParser) checkEnd(rows int) error {
	if rows == 0 {
		return p.errorf(0, "there are no rows; give at least one")
	}
	return p.head.shape.check(p, rows)
}

func (h csvHead) featureNames() []string {
	if h.names == nil {
		return nil
	}
	return linalg.At(h.names, h.features)
}

func (h csvHead) badCell(col int, cell string, err error) error {
	var unlisted *ClassError
	switch {
	case errors.As(err, &unlisted), errors.Is(err, errLongLabel): // these texts contain their own advice
	case h.names != nil && cell == h.names[col] && cell != "":
		err = fmt.Errorf("%w; remove the line if it repeats the header", err)
	case errors.Is(err, errEmpty), errors.Is(err, errNotFinite):
		err = fmt.Errorf("%w; fill the cell or drop the row", err)
	case errors.Is(err, errNotNumber) && NumberForm{}.Advice(cell) != "":
		err = fmt.Errorf("%w; correct the cell, or %s", err, NumberForm{}.Advice(cell))
	default:
		err = fmt.Errorf("%w; correct the cell, code the column as numbers, or name it as the column of the ids or labels", err)
	}
	if cell == "" {
		return fmt.Errorf("%s %w", h.column(col), err)
	}
	return fmt.Errorf("%s holds %s, which %w", h.column(col), quote(cell), err)
}

// column describes column j in a message: by its name, or by its index from 0 if columns have no
// names.
func (h csvHead) column(j int) string {
	if h.names == nil {
		return fmt.Sprintf("column %d (from 0)", j)
	}
	return "column " + quote(h.names[j])
}

// check returns an error if the first line gives another number of rows or classes than the text
// has. Such a file was cut or edited.
func (s *csvShape) check(p *csvParser, rows int) error {
	if s == nil {
		return nil
	}
	if rows != s.rows {
		return p.errorf(1, "the first line gives %d rows, but the text has %d; restore the file or correct the line", s.rows, rows)
	}
	switch n := len(p.classes); {
	case p.head.label < 0 || n == s.classes:
		return nil
	case n > maxCounted:
		return p.errorf(1, "the first line gives %d classes, but the text has more than %d; restore the file or correct the line", s.classes, maxCounted)
	default:
		return p.errorf(1, "the first line gives %d classes, but the text has %d; restore the file or correct the line", s.classes, n)
	}
}
