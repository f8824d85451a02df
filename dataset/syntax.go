package dataset

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SyntaxError refuses a text: NAME:LINE: what is wrong; what to do. Line counts
// from 1; 0 means the text as a whole. Err wraps the cause where reading itself
// failed.
type SyntaxError struct {
	Name string
	Line int
	Err  error
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err)
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// ColumnError refuses a table that lacks what was asked for by name: a column or,
// in an archive, an array.
type ColumnError struct {
	Column string // as it was asked for
	Err    error  // the whole sentence
}

func (e *ColumnError) Error() string { return e.Err.Error() }

func (e *ColumnError) Unwrap() error { return e.Err }

// NoColumn makes a ColumnError of a sentence.
func NoColumn(column, format string, args ...any) error {
	return &ColumnError{Column: column, Err: fmt.Errorf(format, args...)}
}

// text is the name a text goes by in messages.
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

// unreadable reports that the reader under a text failed, for instance because a
// gzip file was cut short.
func (t text) unreadable(line int, err error) error {
	return t.errorf(line, "reading fails here (%w); copy the file again", err)
}

const longestQuote = 40

// quote shows a foreign string in a message: one line, printable, short.
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

// parseNumber reads a finite decimal number. It is stricter than
// strconv.ParseFloat, which also takes hexadecimal, underscores, NaN and Inf.
func parseNumber(s string) (float64, error) {
	if s == "" {
		return 0, errEmpty
	}
	if !decimal(s) {
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
