package dataset

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/humanize"
)

// csvHead holds the columns of a table and their uses. It comes from the first lines of a CSV text or from
// the footer of a parquet file.
type csvHead struct {
	names     []string  // names of all fields; nil without a header
	width     int       // number of fields in a row
	label, id int       // field indices of the label and the id; -1 for none
	features  []int     // indices of the feature fields
	shape     *csvShape // numbers from the first line; nil if the line gives none
}

// csvShape holds the numbers of rows and classes from a first line "rows,features,class names".
type csvShape struct{ rows, classes int }

// readHead determines the columns from the first two records. It also returns the records of the
// two that hold data.
func readHead(in *csvSource, o CSVOptions) (csvHead, []record, error) {
	first, err := in.next()
	if errors.Is(err, io.EOF) {
		return csvHead{}, nil, in.errorf(0, "there are no rows; give at least one")
	}
	if err != nil {
		return csvHead{}, nil, err
	}
	first = first.clone()
	if err := oneField(in, first); err != nil {
		return csvHead{}, nil, err
	}
	rows := []record{first}
	second, err := in.next()
	switch {
	case err == nil:
		rows = append(rows, second.clone())
	case !errors.Is(err, io.EOF):
		return csvHead{}, nil, err
	}
	h, skip, err := o.head(rows)
	if err != nil {
		return csvHead{}, nil, in.wrap(first.line, err)
	}
	return h, rows[skip:], nil
}

// head determines the columns, and counts the first records that are not rows.
func (o CSVOptions) head(rows []record) (h csvHead, skip int, err error) {
	first := rows[0].fields
	h.width = len(first)
	if h.shape = o.shape(rows); h.shape != nil {
		h.width, skip = len(rows[1].fields), 1
		return h, skip, h.assign(o)
	}
	named, err := o.namesColumns(first)
	if err != nil {
		return h, 0, err
	}
	if named {
		h.names, skip = nameUnnamed(first), 1
		if err := checkHeader(h.names); err != nil {
			return h, 0, err
		}
	}
	return h, skip, h.assign(o)
}

// shape reads a first line that holds the number of rows, the number of features and the class
// names, if the header is to be detected. It returns nil for any other line. There must be at least two
// names, all different and none a number, and the next line must have features+1 fields.
func (o CSVOptions) shape(rows []record) *csvShape {
	first := rows[0].fields
	if o.Header != DetectHeader || len(rows) < 2 || len(first) < 4 || !allDigits([]byte(first[0]+first[1])) {
		return nil
	}
	n, errN := strconv.Atoi(first[0])
	f, errF := strconv.Atoi(first[1])
	names := first[2:]
	text := !slices.ContainsFunc(names, func(s string) bool { return !isText(s) })
	if errN != nil || errF != nil || f+1 != len(rows[1].fields) || !text || repeated(names) >= 0 {
		return nil
	}
	return &csvShape{rows: n, classes: len(names)}
}

func isText(s string) bool {
	_, err := parseNumber(s)
	return errors.Is(err, errNotNumber)
}

// repeated returns the index of the first name that equals an earlier name, or -1.
func repeated(names []string) int {
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		if seen[name] {
			return i
		}
		seen[name] = true
	}
	return -1
}

// namesColumns reports whether the first line is a header.
func (o CSVOptions) namesColumns(first []string) (bool, error) {
	if o.Header != DetectHeader {
		return o.Header == WithHeader, nil
	}
	if o.knowsName(first) {
		return true, nil
	}
	label, id := guess(o.Label, len(first), len(first)-1), guess(o.ID, len(first), -1)
	numbers, texts, at := 0, 0, 0
	for j, field := range first {
		switch {
		case j == label || j == id || field == "":
		case isText(field):
			texts, at = texts+1, j
		default:
			numbers++
		}
	}
	if texts > 0 && numbers >= texts {
		return false, fmt.Errorf("column %d (from 0) holds %s among numbers, so the line is neither a header nor a row; correct the line, or put a line with the names of the columns above it",
			at, quote(first[at]))
	}
	return texts > 0, nil
}

// knowsName reports whether the line has a field that can only be part of a header.
func (o CSVOptions) knowsName(first []string) bool {
	return slices.ContainsFunc(first, func(s string) bool {
		named := func(column string) bool { return isName(column) && s == column }
		return likeLabel(s) || likeID(s) || named(o.Label) || named(o.ID) || slices.ContainsFunc(o.Features, named) || slices.ContainsFunc(o.Aside, named)
	})
}

func likeLabel(s string) bool {
	return strings.EqualFold(s, "label") || strings.EqualFold(s, "y") || strings.EqualFold(s, "target")
}

func likeID(s string) bool { return strings.EqualFold(s, "id") }

// isName reports whether an option gives a column by name.
func isName(column string) bool {
	return column != "" && column != "last" && column != "none" && !allDigits([]byte(column))
}

// guess returns the index of the column that an option gives, or -1 for "none". It returns otherwise if the
// option gives a name or is empty.
func guess(column string, width, otherwise int) int {
	switch column {
	case "last":
		return width - 1
	case "none":
		return -1
	}
	if j, err := strconv.Atoi(column); err == nil {
		return j
	}
	return otherwise
}

// checkNames returns an error if a name is empty or occurs twice.
func checkNames(names []string) error {
	if j := slices.Index(names, ""); j >= 0 {
		return fmt.Errorf("column %d (from 1) has no name; name it", j+1)
	}
	if j := repeated(names); j >= 0 {
		return fmt.Errorf("columns %d and %d (from 1) are both called %s; rename one", slices.Index(names, names[j])+1, j+1, quote(names[j]))
	}
	return nil
}

// assign determines the columns of the label, the id and the features.
func (h *csvHead) assign(o CSVOptions) error {
	var err error
	if h.label, err = h.find(o.Label, h.lastNamed(), likeLabel); err != nil {
		return fmt.Errorf("label: %w", err)
	}
	if h.id, err = h.find(o.ID, -1, likeID); err != nil {
		return fmt.Errorf("id: %w", err)
	}
	if h.label >= 0 && h.label == h.id {
		return fmt.Errorf("%s is both label and id; choose a different column for each", h.column(h.label))
	}
	return h.chooseFeatures(o.Uses)
}

// lastNamed returns the index of the last column that has a name in the file.
func (h *csvHead) lastNamed() int {
	j := h.width - 1
	for j > 0 && h.names != nil && IsUnnamed(h.names[j]) {
		j--
	}
	return j
}

// chooseFeatures determines the feature columns among the columns that are neither label nor id. A
// column that the file does not name is a feature only if the options name it.
func (h *csvHead) chooseFeatures(u Uses) error {
	features, err := h.findAll(u.Features)
	if err != nil {
		return fmt.Errorf("columns: %w", err)
	}
	aside, err := h.findAll(u.Aside)
	if err != nil {
		return fmt.Errorf("columns: %w", err)
	}
	for j := range h.width {
		wanted := u.Features == nil && (h.names == nil || !IsUnnamed(h.names[j])) || slices.Contains(features, j)
		if wanted && j != h.label && j != h.id && !slices.Contains(aside, j) {
			h.features = append(h.features, j)
		}
	}
	if len(h.features) == 0 {
		return errors.New("no column is left for features; give at least one, or set label to \"none\"")
	}
	return nil
}

// findAll returns the indices of the given columns, or an error if a column does not exist.
func (h *csvHead) findAll(columns []string) ([]int, error) {
	found := make([]int, len(columns))
	for i, c := range columns {
		if !isName(c) && !allDigits([]byte(c)) {
			return nil, NoColumn(c, "no column is called %s", quote(c))
		}
		var err error
		if found[i], err = h.find(c, 0, nil); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// find returns the index of the column that an option gives. If the option is empty, find returns
// the index of the only column with a likely name. Without such a column it returns the given
// default.
func (h *csvHead) find(column string, otherwise int, likely func(string) bool) (int, error) {
	if j := slices.Index(h.names, column); j >= 0 {
		return j, nil
	}
	switch {
	case column == "":
		return h.findLikely(otherwise, likely)
	case column == "last":
		return h.width - 1, nil
	case column == "none":
		return -1, nil
	case isName(column) && h.names == nil:
		return 0, NoColumn(column, "no column is called %s, since the text has no header; give the column's index from 0 or add a header", quote(column))
	case isName(column) && InSingleQuotes(column, h.names):
		return 0, NoColumn(column, "no column is called %s, since the names are in single quotes; write csv: {quote: \"'\"} (--quote \"'\")", quote(column))
	case isName(column):
		return 0, NoColumn(column, "no column is called %s; the columns are %s", quote(column), list(h.names))
	}
	if j, err := strconv.Atoi(column); err == nil && j < h.width {
		return j, nil
	}
	return 0, NoColumn(column, "there is no column %s; choose 0 to %d", quote(column), h.width-1)
}

func (h *csvHead) findLikely(otherwise int, likely func(string) bool) (int, error) {
	found := slices.IndexFunc(h.names, likely)
	if found < 0 {
		return otherwise, nil
	}
	if again := slices.IndexFunc(h.names[found+1:], likely); again >= 0 {
		return 0, fmt.Errorf("the names of the columns %s and %s both suggest this use; give the name of one column", quote(h.names[found]), quote(h.names[found+1+again]))
	}
	return found, nil
}

const longestList = 8

// list joins the first few names, quoted, for a message, and appends the number of the others.
func list(names []string) string { return humanize.List(names, longestList, quote) }
