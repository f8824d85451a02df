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
	commas  bool               // whether commas separate the fields of the table
	read    int                // number of cells that are numbers in this form
	whole   int                // number of these cells that all forms read alike
	grouped int                // number of these cells such as 1.118, whose decimal sign might separate thousands
	forms   []int              // for each common form, the number of other cells that are numbers in it
	limits  int                // number of other cells such as <5
	units   map[string]int     // for each unit, the number of other cells with this unit beside a number
}

// maxUnits bounds the different units that are counted for a column.
const maxUnits = 16

func newWriting(form dataset.NumberForm, commas bool) writing {
	return writing{form: form, commas: commas, forms: make([]int, len(dataset.CommonForms())), units: make(map[string]int)}
}

// add counts a word. The argument isNumber says whether the word is a number in the command's
// number form.
func (w *writing) add(word string, isNumber bool) {
	if isNumber {
		w.addRead(word)
		return
	}
	for k, form := range dataset.CommonForms() {
		if form != w.form && isNumberIn(form, word) {
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

// isNumberIn reports whether a word is a number in a form, alone or with a currency whose number only
// a sign between thousands makes readable, such as $1,250,000.
func isNumberIn(form dataset.NumberForm, word string) bool {
	if _, err := form.Parse(word); err == nil {
		return true
	}
	unit, number := form.UnitOf(word)
	return unit != "" && form.Thousands != "" && strings.Contains(number, form.Thousands)
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

// limitValue suggests a number, in the column's form, for a limit such as <5. It returns "" for
// other words.
func (w *writing) limitValue(word string) string {
	if !w.form.IsLimit(word) {
		return ""
	}
	below := strings.HasPrefix(word, "<") || strings.HasPrefix(word, "≤")
	v, err := w.form.Parse(strings.TrimSpace(strings.TrimLeft(word, "<>≤≥=")))
	if err != nil {
		return ""
	}
	if below {
		v /= 2
	}
	return strings.Replace(number(v), ".", string(rune(w.form.Decimal)), 1)
}

// otherSign returns the decimal sign that is not the given one.
func otherSign(decimal byte) byte {
	if decimal == ',' {
		return '.'
	}
	return ','
}

// better returns the common number form that reads most cells, and the number of these cells. A
// cell that the command's form reads also counts for each common form that reads the cell.
func (w *writing) better() (best dataset.NumberForm, cells int) {
	for k, form := range dataset.CommonForms() {
		n := w.reads(k, form)
		// Of two forms that read as many cells, the one with the comma that the user named is right.
		// Where commas separate the fields, a comma before three digits separates thousands.
		named := w.form.Decimal == ',' && form.Decimal == ',' && best.Decimal == '.'
		english := w.commas && w.form.Decimal != ',' && form == dataset.NumberForm{Decimal: '.', Thousands: ","} && best == dataset.NumberForm{Decimal: ','}
		if n > cells || n == cells && (named || english) {
			best, cells = form, n
		}
	}
	return best, cells
}

// reads returns the number of cells that the common form with index k reads.
func (w *writing) reads(k int, form dataset.NumberForm) int {
	switch {
	case form.Decimal == w.form.Decimal && w.form.Thousands == "":
		return w.forms[k] + w.read
	case form.Thousands == string(rune(w.form.Decimal)):
		return w.forms[k] + w.whole + w.grouped
	}
	return w.forms[k] + w.whole
}

// otherForm describes numbers that the command does not read, if most cells are written so.
type otherForm struct {
	text string              // text of the problem; "" if the command reads most cells, or if most cells are no numbers
	form *dataset.NumberForm // form that reads most cells, or nil
	unit string              // unit that stands beside most numbers, or ""
}

// otherNumbers describes how most cells write numbers, if the command does not read them so: in another form,
// with a unit, or as limits.
func (c *columnCells) otherNumbers() otherForm {
	w := &c.written
	form, n := w.better()
	if k := slices.Index(dataset.CommonForms(), c.form); k >= 0 {
		form, n = c.form, w.reads(k, c.form)
	}
	if n > c.numbers.fits && c.fitsMostCells(n) {
		return otherForm{text: fmt.Sprintf("column %s: %d of %d cells are numbers with %s: %s", dataset.Quote(c.name), n, c.seen, form, form.Flags()), form: &form}
	}
	if c.fitsMostCells(c.numbers.fits) {
		return otherForm{}
	}
	if unit, n := w.commonUnit(); n > 0 && c.fitsMostCells(c.numbers.fits+n) {
		return otherForm{text: fmt.Sprintf("column %s: %d of %d cells have %s beside the number; give the column unit: %[4]s in the catalogue", dataset.Quote(c.name), n, c.seen, dataset.Quote(unit)), unit: unit}
	}
	if w.limits > 0 && c.fitsMostCells(c.numbers.fits+w.limits) {
		return otherForm{text: fmt.Sprintf("column %s: %d of %d cells are limits such as <5; map each to a number by \"values\" in the catalogue, or give it by --missing", dataset.Quote(c.name), w.limits, c.seen)}
	}
	return otherForm{}
}

// suggestedForm returns the form that reads the numbers of all columns. It returns the command's
// form if there is none.
func (t *tableReader) suggestedForm() dataset.NumberForm {
	current := t.Own.CSV.Numbers()
	best := current
	for _, c := range t.cells {
		form := c.otherNumbers().form
		switch {
		case form == nil:
		case best != current && best.Decimal != form.Decimal, best.Thousands != "" && form.Thousands != "" && best.Thousands != form.Thousands:
			return t.groupedForm(current)
		default:
			best.Decimal = form.Decimal
			if form.Thousands != "" {
				best.Thousands = form.Thousands
			}
		}
	}
	for _, c := range t.cells {
		// A column that the command reads must mean the same in the other form, or its decimal signs
		// separate thousands there.
		w := &c.written
		switch sign := string(rune(current.Decimal)); {
		case c.otherNumbers().form != nil || w.read == w.whole || best.Decimal == current.Decimal:
		case c.suspects() && (best.Thousands == "" || best.Thousands == sign):
			best.Thousands = sign
		default:
			return t.groupedForm(current)
		}
	}
	return best
}

// groupedForm returns the common form with the given decimal sign whose sign between thousands reads
// most cells of all columns that the given form does not read. It returns the given form if there is
// none.
func (t *tableReader) groupedForm(current dataset.NumberForm) dataset.NumberForm {
	for k, form := range dataset.CommonForms() {
		reads := func(c *columnCells) bool {
			return c.otherNumbers().form == nil || c.fitsMostCells(c.written.reads(k, form))
		}
		if form.Decimal == current.Decimal && form.Thousands != "" && !slices.ContainsFunc(t.cells, func(c *columnCells) bool { return !reads(c) }) {
			return form
		}
	}
	return current
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
// might separate thousands.
func (c *columnCells) suspects() bool {
	return c.written.grouped > 0 && c.written.grouped+c.written.whole == c.numbers.fits
}

// otherDates returns the two formats that read most dates of a column, and a text about the
// problem, if one format does not read enough of the cells. Otherwise it returns nil and "".
func (c *columnCells) otherDates() (two []string, text string) {
	best := c.date()
	if best < 0 || c.fitsMostCells(c.dates[best].fits) && c.anyDate < c.seen || c.dates[best].fits == c.seen {
		return nil, ""
	}
	order := make([]int, len(formats))
	for k := range formats {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.dates[b].fits, c.dates[a].fits) })
	one, other := order[0], order[1]
	two = []string{formats[one], formats[other]}
	return two, fmt.Sprintf("column %s: %d of %d cells are dates by %s and %d by %s; give the column format: [%q, %q] in the catalogue",
		dataset.Quote(c.name), c.dates[one].fits, c.seen, two[0], c.dates[other].fits, two[1], two[0], two[1])
}

// listSuspects lists the columns of numbers whose decimal signs might separate thousands, if the form
// of another column makes this likely.
func (t *tableReader) listSuspects(columns []Column) (list []Problem) {
	likely := slices.ContainsFunc(t.cells, func(c *columnCells) bool {
		form, n := c.written.better()
		return n > c.numbers.fits && c.fitsMostCells(n) && form.Decimal == otherSign(c.written.form.Decimal)
	})
	for j, c := range t.cells {
		if likely && columns[j].Type == "number" && !columns[j].Unread && c.suspects() {
			form := dataset.NumberForm{Decimal: otherSign(c.written.form.Decimal), Thousands: string(rune(c.written.form.Decimal))}
			list = append(list, Problem{Column: c.name, Text: fmt.Sprintf("column %s: %d cells might have %s between thousands, since other columns have %s: %s",
				dataset.Quote(c.name), c.written.grouped, signs[form.Thousands], dataset.NumberForm{Decimal: form.Decimal}, form.Flags())})
		}
	}
	return list
}

// signs names the signs that can be a decimal sign or separate thousands.
var signs = map[string]string{".": "points", ",": "commas"}
