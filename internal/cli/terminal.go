package cli

import (
	"io"
	"strings"
	"unicode"
)

// terminal writes text for people. Names of classes, rows and files may come from
// others, and control characters in them could write on the terminal what their
// author likes.
type terminal struct{ w io.Writer }

// Write shows control characters, but for tabs and ends of lines, as U+FFFD.
func (t terminal) Write(p []byte) (int, error) {
	if _, err := io.WriteString(t.w, printable(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
