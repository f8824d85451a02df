package prepare

import (
	"errors"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
)

// addBeside keeps a row's group and the cell by which later rows are held out.
func (r *reader) addBeside(fields []string) error {
	if r.group.at >= 0 {
		word := r.group.word(fields)
		if r.missing[word] {
			return r.group.fault(word, errors.New("is empty, but rows of one group are held out together; fill the cell or drop the row"))
		}
		r.groups = append(r.groups, strings.Clone(word))
	}
	if r.cut.at < 0 {
		return nil
	}
	word := r.cut.word(fields)
	if r.missing[word] {
		return r.cut.fault(word, errors.New("is empty, but decides whether the row is held out; fill the cell or drop the row"))
	}
	cell, err := r.comparable(word)
	if err != nil {
		return r.cut.fault(word, err)
	}
	r.cuts = append(r.cuts, cell)
	return nil
}

// comparable returns a cell in the form that all parties compare: a date as 2006-01-02, read by
// the column's own format, and a number in the schema's unit with a decimal point.
func (r *reader) comparable(word string) (string, error) {
	if j := r.Schema.Index(r.Cut); j >= 0 && r.Schema[j].Type == Date {
		t, err := parseDate(word, r.Schema[j].Format)
		return t.iso(), err
	}
	v, err := dataset.ParseNumber(word, r.decimal)
	if err != nil { // a date, or a fault that the comparison finds
		return strings.Clone(word), nil //nolint:nilerr // the comparison says what it needs
	}
	if r.cut.theirs.Times != 0 {
		v *= r.cut.theirs.Times
	}
	return strconv.FormatFloat(v, 'g', -1, 64), nil
}
