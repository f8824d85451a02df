package dataset

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// unnamed begins the name that a column without a name gets, as in pandas.
const unnamed = "Unnamed: "

// IsUnnamed reports whether a column has the name that readers give to a column without a name.
// Such a column usually counts the rows. It is a feature only if a setting names it.
func IsUnnamed(column string) bool {
	number, is := strings.CutPrefix(column, unnamed)
	return is && allDigits([]byte(strings.ReplaceAll(number, ".", "")))
}

// nameUnnamed returns the names of a header, with names for columns that have none: "Unnamed: 0"
// for the first column. As in pandas, the numbers count from 0.
func nameUnnamed(names []string) []string {
	taken := make(map[string]bool, len(names))
	for _, name := range names {
		taken[name] = true
	}
	full := make([]string, len(names))
	for j, name := range names {
		if name == "" {
			name = unnamed + strconv.Itoa(j)
			for n, free := 1, name; taken[name]; n++ {
				name = free + "." + strconv.Itoa(n)
			}
			taken[name] = true
		}
		full[j] = name
	}
	return full
}

// checkHeader is like checkNames. Its error also advises the key "headers".
func checkHeader(names []string) error {
	if err := checkNames(names); err != nil {
		return fmt.Errorf("%w, or name all columns by \"csv: {headers: [...]}\" (--headers)", err)
	}
	return nil
}

const commentAdvice = `if lines that begin with # are comments, write csv: {comment: "#"} (--comment "#")`

// widthAdvice advises how to mend a row whose number of fields differs from the number of
// columns.
func widthAdvice(columns, row []string) string {
	switch {
	case len(row) > 0 && isConflictMark(row[0]):
		return "the line marks a merge conflict; keep one version of these rows"
	case len(row) == 1 && otherDelimiter(row[0], len(columns)) != "":
		return fmt.Sprintf("the line separates its fields by %q; write one delimiter in all lines, also in the header", otherDelimiter(row[0], len(columns)))
	case len(columns) > 0 && strings.HasPrefix(columns[0], "#"), len(row) > 0 && strings.HasPrefix(row[0], "#"):
		return commentAdvice
	case columns != nil && len(row) == len(columns)+1:
		return "remove a field, or name all columns by \"csv: {headers: [...]}\" (--headers) if the header lacks one"
	}
	return "add or remove fields"
}

// isConflictMark reports whether a line is one that version control writes between two versions of a text.
func isConflictMark(line string) bool {
	return strings.HasPrefix(line, "<<<<<<< ") || line == "=======" || strings.HasPrefix(line, ">>>>>>> ")
}

// otherDelimiter returns the delimiter that splits a line into the given number of fields. It returns "" if no
// delimiter does, or if the number is below 2.
func otherDelimiter(line string, fields int) string {
	for _, d := range []string{",", ";", "\t", "|"} {
		if fields > 1 && strings.Count(line, d) == fields-1 {
			return d
		}
	}
	return ""
}

// separatorHead begins the line by which a text tells Excel its delimiter, such as sep=;
const separatorHead = "sep="

// skipSeparator skips a first line such as sep=; and returns its delimiter. Without such a line it
// returns 0. It ignores an error of b, because the next read from b returns the error again.
func (s *csvSource) skipSeparator(b *bufio.Reader) (rune, error) {
	head, _ := b.Peek(len(separatorHead) + utf8.UTFMax + len("\"\"\r\n"))
	line, _, found := bytes.Cut(head, []byte{'\n'})
	word := strings.Trim(string(bytes.TrimSuffix(line, []byte{'\r'})), `"`)
	if !found || len(word) <= len(separatorHead) || !strings.EqualFold(word[:len(separatorHead)], separatorHead) {
		return 0, nil
	}
	separator, size := utf8.DecodeRuneInString(word[len(separatorHead):])
	if size != len(word)-len(separatorHead) {
		return 0, nil
	}
	s.skipped = 1
	if _, err := b.Discard(len(line) + 1); err != nil {
		return 0, s.unreadable(1, err)
	}
	return separator, nil
}

// checkLineEnds refuses a text whose lines end with a carriage return only, as in Excel's format CSV
// (Macintosh). It ignores an error of b, because the next read from b returns the error again.
func (s *csvSource) checkLineEnds(b *bufio.Reader) error {
	head, _ := b.Peek(readAhead)
	if at := bytes.IndexByte(head, '\r'); at >= 0 && at < len(head)-1 && bytes.IndexByte(head, '\n') < 0 {
		return s.errorf(1, "the lines end with a carriage return only; save the file with line feeds, in Excel as CSV UTF-8")
	}
	return nil
}

// firstLines returns the first two lines of b that are neither empty nor comments. It ignores an error of b,
// because the next read from b returns the error again.
func firstLines(b *bufio.Reader, comment rune) (first, second []byte) {
	head, _ := b.Peek(readAhead)
	var lines [2][]byte
	n := 0
	for line := range bytes.Lines(head) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 || comment != 0 && bytes.HasPrefix(line, []byte(string(comment))) {
			continue
		}
		if lines[n] = line; n == 1 {
			break
		}
		n++
	}
	return lines[0], lines[1]
}

// GuessComment returns "#" if a text probably begins with a comment: its first line begins with # and
// has fewer fields than the next one. Otherwise it returns "".
func GuessComment(r io.Reader) string {
	if beginsWithComment(firstLines(bufio.NewReaderSize(r, readAhead), 0)) {
		return "#"
	}
	return ""
}

// refuseComment returns an error if a text whose options name no comments probably begins with one.
func (s *csvSource) refuseComment(b *bufio.Reader) error {
	if !beginsWithComment(firstLines(b, 0)) {
		return nil
	}
	head, _ := b.Peek(readAhead)
	empty, _, _ := bytes.Cut(head, []byte("#"))
	return s.errorf(1+bytes.Count(empty, []byte("\n")), "the line begins with #, and the next one has more fields; %s", commentAdvice)
}

// inQuotes matches a quoted field. Delimiters in it separate nothing.
var inQuotes = regexp.MustCompile(`"[^"]*"`)

func beginsWithComment(first, second []byte) bool {
	first, second = inQuotes.ReplaceAll(first, []byte("q")), inQuotes.ReplaceAll(second, []byte("q"))
	if !bytes.HasPrefix(bytes.TrimPrefix(first, []byte("\ufeff")), []byte("#")) {
		return false
	}
	for _, delimiter := range ",;\t|" {
		if countFields(second, delimiter) > countFields(first, delimiter) {
			return true
		}
	}
	return false
}

// likelyComma guesses the delimiter from the first two lines. It refuses lines whose fields seem to
// be separated by bars or blanks, because the options must give these delimiters.
func (s *csvSource) likelyComma(first, second []byte) (rune, error) {
	for _, c := range ",;\t" {
		if bytes.ContainsRune(first, c) {
			return c, nil
		}
	}
	for _, c := range "| " {
		if n := countFields(first, c); n > 1 && n == countFields(second, c) {
			what := map[rune]string{'|': "bars", ' ': "blanks"}[c]
			return 0, s.errorf(1+s.skipped, "the fields seem to be separated by %s; write csv: {delimiter: %q} (--csv-delimiter %[2]q), or separate them by commas", what, string(c))
		}
	}
	return ',', nil
}

// countFields returns the number of fields that are not empty.
func countFields(line []byte, delimiter rune) int {
	return len(bytes.FieldsFunc(line, func(r rune) bool { return r == delimiter }))
}

// oneField returns an error if the first line is one field that contains another delimiter. The
// text would otherwise become a table with one strange column.
func oneField(in *csvSource, first record) error {
	if len(first.fields) > 1 {
		return nil
	}
	for _, other := range ",;\t|" {
		if len(first.fields) == 1 && other != in.csv.Comma && strings.ContainsRune(first.fields[0], other) {
			return in.errorf(first.line, "the line has no delimiter %q but contains %q; write csv: {delimiter: %q} (--csv-delimiter)", in.csv.Comma, other, string(other))
		}
	}
	return nil
}

// singleQuote stands around the fields of some texts in place of a double quote.
const singleQuote = '\''

// swapQuotes swaps single and double quotes in a text, so that fields in single quotes can be read.
type swapQuotes struct{ r io.Reader }

func (s swapQuotes) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	for i, b := range p[:n] {
		switch b {
		case '"':
			p[i] = singleQuote
		case singleQuote:
			p[i] = '"'
		}
	}
	return n, err
}

// swappedQuotes swaps the quotes of a field back.
var swappedQuotes = strings.NewReplacer(`"`, "'", "'", `"`)

// InSingleQuotes reports whether list contains the column's name in single quotes. A reader treats
// such quotes as a part of the name.
func InSingleQuotes(column string, list []string) bool {
	return slices.Contains(list, "'"+column+"'")
}
