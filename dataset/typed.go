package dataset

import "strings"

// Typed is a table whose cells have a meaning that is not yet a number: gaps, categories.
// Its numbers are codes. Nothing may be computed from it before it is prepared, and a set
// that holds one passes [Set.Validate] with gaps.
type Typed interface {
	Table
	// AppendCell appends an unambiguous form of a cell to b, for digests of rows: it depends
	// on the cell only, and not on other rows of the table.
	AppendCell(b []byte, row, col int) []byte
	// Below returns the table with the rows of another one of its kind below it.
	Below(other Table) (Typed, error)
}

// Quote shows foreign text in a message: one line, printable, short.
func Quote(s string) string { return quote(s) }

// ParseNumber reads a finite decimal number, with that sign between whole part and decimals.
// It is stricter than [strconv.ParseFloat].
func ParseNumber(s string, decimal byte) (float64, error) {
	if decimal != '.' {
		if strings.IndexByte(s, '.') >= 0 {
			return 0, errNotNumber
		}
		s = strings.Replace(s, string(decimal), ".", 1)
	}
	return parseNumber(s)
}
