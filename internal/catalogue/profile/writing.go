package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
)

// writing counts the ways in which the cells of a column write numbers.
type writing struct {
	form    dataset.NumberForm // form in which the command reads numbers
	read    int                // numbers in this form
	whole   int                // numbers that all forms read alike
	grouped int                // numbers such as 1.118, whose decimal sign may separate thousands
	forms   []int              // other cells that are numbers by each common form
	limits  int                // other cells such as <5
	units   map[string]int     // other cells that have a unit beside the number
}

// maxUnits bounds the different units that are counted for a column.
const maxUnits = 16

func newWriting(form dataset.NumberForm) writing {
	return writing{form: form, forms: make([]int, len(dataset.CommonForms())), units: make(map[string]int)}
}

// add counts a word. read says whether it is a number in the form of the command.
func (w *writing) add(word string, read bool) {
	if read {
		w.addRead(word)
		return
	}
	for k, form := range dataset.CommonForms() {
		if _, err := form.Parse(word); err == nil {
			w.forms[k]++
		}
	}
	if w.form.IsLimit(word) {
		w.limits++
	}
	if unit, _ := w.form.UnitOf(word); unit != "" && (len(w.units) < maxUnits || w.units[unit] > 0) {
		w.units[strings.Clone(unit)]++
	}
}

func (w *writing) addRead(word string) {
	w.read++
	if !strings.ContainsAny(word, ".,' \u00a0\u202f") {
		w.whole++
		return
	}
	sign := string(rune(w.form.Decimal))
	if _, err := (dataset.NumberForm{Decimal: otherSign(w.form.Decimal), Thousands: sign}).Parse(word); err == nil && strings.Contains(word, sign) {
		w.grouped++
	}
}

// otherSign returns the decimal sign that is not the given one.
func otherSign(decimal byte) byte {
	if decimal == ',' {
		return '.'
	}
	return ','
}

// better returns the common form that reads most cells, and their number. Cells that the command
// reads count for a form that reads them, too.
func (w *writing) better() (best dataset.NumberForm, cells int) {
	for k, form := range dataset.CommonForms() {
		n := w.forms[k] + w.whole
		switch {
		case form.Decimal == w.form.Decimal && w.form.Thousands == "":
			n = w.forms[k] + w.read
		case form.Thousands == string(rune(w.form.Decimal)):
			n += w.grouped
		}
		if n > cells {
			best, cells = form, n
		}
	}
	return best, cells
}

// otherNumbers says how most cells are numbers in another form than the command reads. It returns ""
// if they are not.
func (c *columnCells) otherNumbers() string {
	w := &c.written
	if form, n := w.better(); n > c.numbers.fits && c.fitsMostCells(n) {
		return fmt.Sprintf("column %s: %d of %d cells are numbers with %s: %s", dataset.Quote(c.name), n, c.seen, form, form.Flags())
	}
	if c.fitsMostCells(c.numbers.fits) {
		return ""
	}
	if unit, n := w.commonUnit(); n > 0 && c.fitsMostCells(c.numbers.fits+n) {
		return fmt.Sprintf("column %s: %d of %d cells have %s beside the number; give the column unit: %[4]s in the catalogue", dataset.Quote(c.name), n, c.seen, dataset.Quote(unit))
	}
	if w.limits > 0 && c.fitsMostCells(c.numbers.fits+w.limits) {
		return fmt.Sprintf("column %s: %d of %d cells are limits such as <5; map each to a number by values in the catalogue, or give it by --missing", dataset.Quote(c.name), w.limits, c.seen)
	}
	return ""
}

// commonUnit returns the most frequent unit and its number of cells.
func (w *writing) commonUnit() (unit string, cells int) {
	for _, u := range slices.Sorted(maps.Keys(w.units)) {
		if w.units[u] > cells {
			unit, cells = u, w.units[u]
		}
	}
	return unit, cells
}

// suspects reports whether each decimal sign of the column stands before three digits, so that it
// may separate thousands.
func (c *columnCells) suspects() bool {
	return c.written.grouped > 0 && c.written.grouped+c.written.whole == c.numbers.fits
}

// otherDates says that only several formats together read most cells as dates. It returns "" if one
// format does.
func (c *columnCells) otherDates() string {
	best := c.date()
	if best < 0 || c.fitsMostCells(c.dates[best].fits) {
		return ""
	}
	order := make([]int, len(formats))
	for k := range formats {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.dates[b].fits, c.dates[a].fits) })
	one, other := order[0], order[1]
	return fmt.Sprintf("column %s: %d of %d cells are dates by %s and %d by %s; give the column format: [%q, %q] in the catalogue",
		dataset.Quote(c.name), c.dates[one].fits, c.seen, formats[one], c.dates[other].fits, formats[other], formats[one], formats[other])
}

// listSuspects lists the columns of numbers whose decimal signs may separate thousands, if another
// column is written so that this is likely.
func (t *tableReader) listSuspects(columns []Column) (list []Problem) {
	likely := slices.ContainsFunc(t.cells, func(c *columnCells) bool {
		form, n := c.written.better()
		return n > c.numbers.fits && c.fitsMostCells(n) && form.Decimal == otherSign(c.written.form.Decimal)
	})
	for j, c := range t.cells {
		if likely && columns[j].Type == "number" && !columns[j].unread && c.suspects() {
			form := dataset.NumberForm{Decimal: otherSign(c.written.form.Decimal), Thousands: string(rune(c.written.form.Decimal))}
			list = append(list, Problem{Column: c.name, Text: fmt.Sprintf("column %s: %d cells may have %s between thousands, since other columns have %s: %s",
				dataset.Quote(c.name), c.written.grouped, signs[form.Thousands], dataset.NumberForm{Decimal: form.Decimal}, form.Flags())})
		}
	}
	return list
}

// signs names the signs that may be a decimal sign or separate thousands.
var signs = map[string]string{".": "points", ",": "commas"}
