package prepare

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
)

// addBeside stores a row's cells of the group column, of the weight column and of the cut column.
func (r *reader) addBeside(fields []string) error {
	if r.group.at >= 0 {
		word := r.group.word(fields)
		if r.missing[word] {
			return r.group.fault(word, errors.New("is empty, but rows of one group are held out together; fill the cell or drop the row"))
		}
		r.groups = append(r.groups, strings.Clone(word))
	}
	if err := r.addWeight(fields); err != nil {
		return err
	}
	if r.cut.at < 0 {
		return nil
	}
	word := r.cut.word(fields)
	if r.missing[word] {
		return r.cut.fault(word, errors.New("is empty, but decides whether the row is held out; fill the cell or drop the row"))
	}
	cell, err := r.comparableForm(word)
	if err != nil {
		return r.cut.fault(word, err)
	}
	r.cuts = append(r.cuts, cell)
	return nil
}

// addWeight stores a row's weight, if the table has weights.
func (r *reader) addWeight(fields []string) error {
	if r.weight.at < 0 {
		return nil
	}
	word := r.weight.word(fields)
	if r.missing[word] {
		return r.weight.fault(word, errNoWeight)
	}
	v, err := r.parseWeight(word)
	if err != nil {
		return r.weight.fault(word, err)
	}
	r.weights = append(r.weights, v)
	return nil
}

// errNoWeight refuses a row without a weight.
var errNoWeight = errors.New("is empty, but each row needs a weight; fill the cell, or write 0 for a row that must not train")

// parseWeight reads a weight in the agreed unit. It refuses a weight outside the range.
func (r *reader) parseWeight(word string) (float64, error) {
	of := r.weight.theirs
	v, err := of.numbers(r.numbers).Parse(word)
	if err != nil {
		return 0, fmt.Errorf("%w; write a finite number as the weight, such as 1", err)
	}
	if of.Times != 0 {
		v = of.convert(v)
	}
	switch {
	case !(math.Abs(v) <= dataset.MaxMagnitude):
		return 0, fmt.Errorf("is above %g in magnitude, the largest number for training; correct the weight", dataset.MaxMagnitude)
	case r.Weights != [2]float64{} && (v < r.Weights[0] || v > r.Weights[1]):
		return 0, fmt.Errorf("is outside the dictionary's range of %g to %g; correct the weight, or the range", r.Weights[0], r.Weights[1])
	}
	return v, nil
}

// comparableForm converts a cell to the form in which all parties compare cells. A date is read by
// the column's own format and written as 2006-01-02T15:04:05. A number has the schema's unit and a
// decimal point. Any other word is returned unchanged.
func (r *reader) comparableForm(word string) (string, error) {
	formats := r.cut.theirs.Format
	if j := r.Schema.Index(r.Cut); j >= 0 && r.Schema[j].Type == Date {
		formats = formats.orDefault(r.Schema[j].Format)
	}
	if formats != nil {
		t, err := formats.read(word)
		return t.iso(), err
	}
	v, err := r.cut.theirs.numbers(r.numbers).Parse(word)
	if err != nil { // the later comparison refuses a cell that is neither a number nor a date
		return strings.Clone(word), nil //nolint:nilerr // the comparison says what it needs
	}
	if r.cut.theirs.Times != 0 {
		v = r.cut.theirs.convert(v)
	}
	return strconv.FormatFloat(v, 'g', -1, 64), nil
}
