package dataset

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mercer-fl/mercer/internal/base/date"
)

// SyntaxError reports a fault in a text, or in the table that a query returned. The message for a line of a
// text has the form NAME:LINE: what is wrong; what to do. Line counts from 1; 0 means the text as a whole.
// Err wraps the cause if reading itself failed.
type SyntaxError struct {
	Name string
	Line int
	Err  error
	// Answer states that Name is the file of a query. Line then counts the rows of the table that the
	// query returned.
	Answer bool
}

func (e *SyntaxError) Error() string {
	switch {
	case e.Answer && e.Line > 0:
		return fmt.Sprintf("row %d of the answer of %s: %v", e.Line, e.Name, e.Err)
	case e.Answer:
		return fmt.Sprintf("the answer of %s: %v", e.Name, e.Err)
	case e.Line > 0:
		return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Name, e.Err)
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// ColumnError reports that a table lacks a given column, or that an archive lacks a given array.
type ColumnError struct {
	Column string // given name of the column or the array
	Err    error  // the whole message
}

func (e *ColumnError) Error() string { return e.Err.Error() }

func (e *ColumnError) Unwrap() error { return e.Err }

// NoColumn returns a [ColumnError] with a formatted message.
func NoColumn(column, format string, args ...any) error {
	return &ColumnError{Column: column, Err: fmt.Errorf(format, args...)}
}

// text holds the name of a text, for use in error messages.
type text string

func (t text) wrap(line int, err error) error {
	name := string(t)
	if name == "" {
		name = "input"
	}
	return &SyntaxError{Name: name, Line: line, Err: err}
}

func (t text) errorf(line int, format string, args ...any) error {
	return t.wrap(line, fmt.Errorf(format, args...))
}

// unreadable returns the error for a text whose reader failed, for instance because a gzip file was
// cut.
func (t text) unreadable(line int, err error) error {
	return t.errorf(line, "reading fails here (%w); copy the file again", err)
}

const longestQuote = 40

// quote formats foreign text for a message as one short, printable line.
func quote(s string) string {
	if len(s) <= longestQuote {
		return strconv.Quote(s)
	}
	cut := longestQuote
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(s[:cut]) + "..."
}

var (
	errEmpty     = errors.New("is empty")
	errNotFinite = errors.New("is not a finite number")
	errNotNumber = errors.New("is not a number")
	errTooLarge  = errors.New("is too large for a 64-bit float")
)

// parseNumber reads a finite decimal number. Unlike strconv.ParseFloat it takes no hexadecimal digits,
// underscores, NaN and Inf, but it takes the typographic minus sign.
func parseNumber(s string) (float64, error) {
	if s == "" {
		return 0, errEmpty
	}
	if !decimal(s) {
		if plain := strings.ReplaceAll(s, minusSign, "-"); plain != s {
			return parseNumber(plain)
		}
		return 0, notDecimal(s)
	}
	v, err := strconv.ParseFloat(s, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, errTooLarge
	}
	if err != nil {
		return 0, errNotNumber
	}
	return v, nil
}

func decimal(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9', c == '.', c == '-', c == '+', c == 'e', c == 'E':
		default:
			return false
		}
	}
	return true
}

func notDecimal(s string) error {
	switch strings.ToLower(strings.TrimLeft(s, "+-")) {
	case "nan", "inf", "infinity":
		return errNotFinite
	}
	return errNotNumber
}

// Typed is a table whose cells can be gaps or categories. The numbers in the table are codes of
// such cells, which must be prepared before anything is computed from the table. [Set.Validate]
// allows gaps in a Typed table.
type Typed interface {
	Table
	// AppendCell appends an unambiguous encoding of a cell to b, for digests of rows. It depends on
	// the cell only, not on other rows of the table.
	AppendCell(b []byte, row, col int) []byte
	// Below returns a new table with the rows of this table and then the rows of another table.
	Below(other Table) (Typed, error)
}

// Quote formats foreign text for a message as one short, printable line.
func Quote(s string) string { return quote(s) }

// ParseNumber reads a finite decimal number with the given decimal sign, like [NumberForm.Parse].
func ParseNumber(s string, decimal byte) (float64, error) {
	return NumberForm{Decimal: decimal}.Parse(s)
}

// Bound is the number or time from which on rows are held out.
type Bound struct {
	text   string
	number float64
	time   string // time in the format of the function instant; "" for a number
}

// ParseBound reads a number, a day such as 2024-01-01, or a day with a time such as
// 2024-01-01T12:30.
func ParseBound(text string) (Bound, error) {
	if v, err := ParseNumber(text, '.'); err == nil {
		return Bound{text: text, number: v}, nil
	}
	if t, ok := instant(text); ok {
		return Bound{text: text, time: t}, nil
	}
	return Bound{}, fmt.Errorf("dataset: %s is neither a number nor a day such as 2024-01-01", quote(text))
}

// instant formats a time as 2006-01-02T15:04:05, so that times compare like texts. It reads days,
// and days with a time without a zone or in UTC.
func instant(text string) (string, bool) {
	const midnight = "0000-00-00T00:00:00"
	full := strings.TrimSuffix(strings.Replace(text, " ", "T", 1), "Z")
	if n := len(full); n != len("2006-01-02") && n != len("2006-01-02T15:04") && n != len(midnight) {
		return "", false
	}
	full += midnight[len(full):]
	for i := range midnight {
		if digit := full[i] >= '0' && full[i] <= '9'; midnight[i] == '0' && !digit || midnight[i] != '0' && full[i] != midnight[i] {
			return "", false
		}
	}
	part := func(at int) int { return int(full[at]-'0')*10 + int(full[at+1]-'0') }
	if _, is := date.Days(100*part(0)+part(2), part(5), part(8)); !is {
		return "", false
	}
	return full, part(11) < 24 && part(14) < 60 && part(17) < 60
}

// From returns the rows whose cell is the bound or comes after it, in ascending order. The error
// names the first row, from 1, whose cell cannot be compared with the bound.
func (b Bound) From(cells []string) ([]int, error) { return b.FromRow(0, cells) }

// FromRow is like From for the cells of a part of a table. The argument before is the number of rows before
// this part; an error counts them. The returned indices do not.
func (b Bound) FromRow(before int, cells []string) ([]int, error) {
	var rows []int
	for i, cell := range cells {
		after, err := b.reached(cell)
		if err != nil {
			return nil, fmt.Errorf("row %d holds %s, which %w", before+i+1, quote(cell), err)
		}
		if after {
			rows = append(rows, i)
		}
	}
	return rows, nil
}

func (b Bound) reached(cell string) (bool, error) {
	if b.time == "" {
		v, err := ParseNumber(cell, '.')
		if err != nil {
			return false, fmt.Errorf("cannot be compared with the number %s", b.text)
		}
		return v >= b.number, nil
	}
	t, ok := instant(cell)
	if !ok {
		return false, fmt.Errorf("is not a date, but it is compared with the date %s; write dates such as 2024-01-01, or describe the column in a schema with its format", b.text)
	}
	return t >= b.time, nil
}
