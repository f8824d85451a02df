package prepare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
)

const decimalPoint = '.'

// pointed is the form of numbers in schemas.
var pointed = dataset.NumberForm{Decimal: decimalPoint}

// gap is the code of a cell without a value. unseen is the code of a word that is not a category.
var gap = math.NaN()

const unseen = -1

// isGap reports whether a cell has no value.
func isGap(v float64) bool { return v != v }

// parse returns the code of a word that is not a gap. The table's formats of dates replace the
// schema's. The error continues a sentence that names the cell.
func (c *Column) parse(word string, form dataset.NumberForm, formats Formats) (float64, error) {
	switch c.Type {
	case Boolean:
		return c.parseBoolean(word)
	case Category:
		return c.parseCategory(word)
	case Date:
		return c.parseDate(word, formats)
	}
	v, err := form.Parse(word)
	if err != nil {
		return 0, noNumber(word, form, err)
	}
	return v, nil
}

// noNumber adds advice to the error about a cell that is not a number.
func noNumber(word string, form dataset.NumberForm, err error) error {
	if form.Decimal != decimalPoint || form.Thousands != "" {
		err = fmt.Errorf("%w with %s", err, form)
	}
	if advice := form.Advice(word); advice != "" {
		return fmt.Errorf("%w; correct the cell, or %s", err, advice)
	}
	return fmt.Errorf("%w; correct the cell, list the word under \"csv: {missing: [...]}\" in the catalogue, or give the column another type", err)
}

func (c *Column) parseBoolean(word string) (float64, error) {
	for code, words := range [][]string{c.False, c.True} {
		if slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) }) {
			return float64(code), nil
		}
	}
	return 0, fmt.Errorf("is neither one of %s nor one of %s; correct the cell, or map the word by \"values\" in the catalogue", strings.Join(c.True, ", "), strings.Join(c.False, ", "))
}

// parseCategory returns the index of a listed category. The frame codes the words of a column
// with agreed categories.
func (c *Column) parseCategory(word string) (float64, error) {
	if i := slices.Index(c.Categories, word); i >= 0 {
		return float64(i), nil
	}
	if c.Unknown != UnknownError {
		return unseen, nil
	}
	return 0, fmt.Errorf("is none of the categories %s; correct the cell, map the word by \"values\" in the catalogue, or write \"unknown: other\" in the schema", list(c.Categories))
}

// list joins the first few words for a message.
func list(words []string) string {
	const most = 8
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return strings.Join(words[:most], ", ") + ", ..."
}

// errOutside returns the error for a number outside the range, as a predicate after the number.
func (c *Column) errOutside() error {
	return fmt.Errorf("is outside the range of %g to %g; correct the cell, widen the range, or write \"outside: missing\" or \"outside: clip\" in the schema", c.Range[0], c.Range[1])
}

// treatOutside applies the column's treatment of numbers outside its range.
func (c *Column) treatOutside(v float64) (float64, error) {
	if !c.Ranged() || v >= c.Range[0] && v <= c.Range[1] {
		return v, c.hasTransform(v)
	}
	switch c.Outside {
	case OutsideMissing:
		if !c.filled() && c.Missing != FillDropRow {
			return 0, errors.New("is outside the range and counts as a gap, but the schema does not fill the column's gaps; add a fill such as \"missing: median\" to the schema")
		}
		return gap, nil
	case OutsideClip:
		return min(max(v, c.Range[0]), c.Range[1]), nil
	}
	return 0, c.errOutside()
}

// checkNumber returns an error if a number is outside the range or the transform is not defined for
// it.
func (c *Column) checkNumber(v float64) (float64, error) {
	if c.Ranged() && (v < c.Range[0] || v > c.Range[1]) {
		return 0, c.errOutside()
	}
	return v, c.hasTransform(v)
}

// hasTransform returns an error if the column's transform is not defined for a number.
func (c *Column) hasTransform(v float64) error {
	if c.Transform == Log && v <= 0 || c.Transform == Log1p && v <= -1 || c.Transform == Sqrt && v < 0 {
		return fmt.Errorf("has no %s; give the column a range, or another transform", c.Transform)
	}
	return nil
}
