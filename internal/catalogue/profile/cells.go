package profile

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/base/humanize"
)

// formats lists the recognised date formats. Of two similar formats the more common one comes
// first.
var formats = []string{
	"%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%d %b %Y", "%d%b%Y", "%d-%b-%Y", "%d %B %Y", "%b %d %Y", "%d. %B %Y", "%d. %b %Y", "%d de %B de %Y", "%d-%b-%y", "%Y-%m-%d %H:%M:%S.%f",
}

// booleans lists pairs of words for no and yes.
var booleans = [][2]string{{"no", "yes"}, {"false", "true"}, {"nein", "ja"}, {"n", "y"}, {"f", "t"}, {"non", "oui"}, {"n", "j"}, {"falsch", "wahr"}}

// misfit is a cell that does not fit a type.
type misfit struct {
	line int
	word string
}

// tally counts the cells that fit one type, and keeps the first cells that do not fit it.
type tally struct {
	fits  int
	other []misfit
}

func (t *tally) add(line int, word string, fits bool) {
	if fits {
		t.fits++
	} else if len(t.other) < perColumn {
		t.other = append(t.other, misfit{line, string([]byte(word))})
	}
}

// columnCells collects facts about the cells of one column.
type columnCells struct {
	name            string
	fault           error // why the column cannot be read; nil if it can
	missing, seen   int
	likely          int // number of cells that look like gaps
	padded          int // number of cells such as 007, whose zeros a number loses
	gaps            tally
	gapWords        map[string]int // number of cells of each word that looks like a gap
	filled          int            // number of cells that look like gaps and that the suggestion counts as gaps
	words           map[string]int
	longest         int
	numbers         tally
	dates           []tally
	years           []span // years that each date format reads
	anyDate         int    // number of cells that one of the formats reads
	written         writing
	form            dataset.NumberForm // form with a sign between thousands that reads the numbers of all columns; zero for none
	least, greatest float64
	sum             float64
}

func newCells(name string, form dataset.NumberForm, commas bool) *columnCells {
	return &columnCells{name: name, words: make(map[string]int), gapWords: make(map[string]int), dates: make([]tally, len(formats)), years: make([]span, len(formats)), written: newWriting(form, commas), least: math.Inf(1), greatest: math.Inf(-1)}
}

// gapWords are words that mark a missing value in many tables.
var gapWords = []string{"nan", "na", "n/a", "#n/a", "#null!", "null", "none", "nil", "-", "--", "?", ".", "missing", "unknown", "k.a.", "inf", "-inf", "+inf", "infinity", "-infinity"}

func (c *columnCells) add(line int, word string) {
	if slices.Contains(gapWords, strings.ToLower(word)) {
		c.gaps.add(line, word, false)
		c.likely++
		count(c.gapWords, word, 1)
		return
	}
	c.addWord(word, 1)
	if len(word) > 1 && word[0] == '0' && strings.Trim(word, "0123456789") == "" {
		c.padded++
	}
	v, err := c.written.form.Parse(word)
	if c.numbers.add(line, word, err == nil); err == nil {
		c.least, c.greatest, c.sum = min(c.least, v), max(c.greatest, v), c.sum+v
	}
	c.written.add(word, err == nil)
	some := false
	for k, format := range formats {
		year, fits := prepare.YearOf(word, format)
		c.dates[k].add(line, word, fits)
		if fits {
			c.years[k].add(year)
		}
		some = some || fits
	}
	if some {
		c.anyDate++
	}
}

// addWord counts n cells with a word that is no gap.
func (c *columnCells) addWord(word string, n int) {
	c.seen += n
	c.longest = max(c.longest, len(word))
	count(c.words, word, n)
}

// count adds n to the count of a word. It leaves out a new word if it counts MaxDistinct words already.
func count(words map[string]int, word string, n int) {
	if had, known := words[word]; known {
		words[word] = had + n
	} else if len(words) < MaxDistinct {
		words[string([]byte(word))] = n // copy the word: a field would keep its whole line in memory
	}
}

// span holds the least and the greatest of several years.
type span struct {
	least, greatest int
	some            bool
}

func (s *span) add(year int) {
	if !s.some {
		*s = span{year, year, true}
	}
	s.least, s.greatest = min(s.least, year), max(s.greatest, year)
}

// sureGaps are words that pandas reads as a missing value in every column. Other words of gapWords count as
// gaps only if they stand in a column of numbers or dates, or in a column without other words; they then
// count as gaps in all columns.
var sureGaps = []string{"NA", "N/A", "#N/A", "n/a", "NaN", "nan", "NULL", "null", "None"}

// suggestedGaps lists the words of the column that a suggestion reads as gaps.
func (c *columnCells) suggestedGaps() (list []string) {
	t := c.describe().Type
	for word := range c.gapWords {
		if t == prepare.Number || t == prepare.Date || t == Empty || slices.Contains(sureGaps, word) {
			list = append(list, word)
		}
	}
	return list
}

// settle counts the words that look like gaps. It counts a word in the list gaps as a gap, and any
// other word as a word.
func (c *columnCells) settle(gaps []string) {
	for word, n := range c.gapWords {
		if slices.Contains(gaps, word) {
			c.filled += n
		} else {
			c.addWord(word, n)
		}
	}
}

// isCode reports whether a column whose cells are mostly numbers has other words, too, and few different
// words in all, each of them in several cells on average. Such a column holds codes, such as "4", "6" and
// "rotary".
func (c *columnCells) isCode() bool {
	w := &c.written
	return c.numbers.fits < c.seen && len(c.words) <= fewWords && c.seen >= often*len(c.words) && w.limits == 0 && len(w.units) == 0 && c.otherNumbers().text == ""
}

// Limits that decide about the type of a column.
const (
	most        = 0.7
	enoughCells = 10
	fewWords    = 20
	often       = 5  // cells for each word of a column of codes
	shortWord   = 40 // largest length of a short word, in bytes
)

// fitsMostCells reports whether a number of cells is most cells, so that the other cells are
// probably mistakes.
func (c *columnCells) fitsMostCells(fits int) bool {
	return fits == c.seen || c.seen >= enoughCells && float64(fits) >= most*float64(c.seen)
}

// date returns the index of the date format that fits most cells, or -1. If only several formats
// together fit most cells, it returns the best of them.
func (c *columnCells) date() int {
	if c.anyDate == 0 || !c.fitsMostCells(c.anyDate) {
		return -1
	}
	best := 0
	for k, t := range c.dates {
		if t.fits > c.dates[best].fits {
			best = k
		}
	}
	return best
}

// yearsOf returns the range of years of a column's dates. It includes dates in the format with the
// given index and dates in the given formats.
func (c *columnCells) yearsOf(given []string, index int) span {
	all := c.years[index]
	for k, format := range formats {
		if s := c.years[k]; s.some && slices.Contains(given, format) {
			all.add(s.least)
			all.add(s.greatest)
		}
	}
	return all
}

// noYesWords returns the column's words for no and for yes, without those that differ from an
// earlier one only by case. It returns nil if the column has other words, or only one of the two.
func (c *columnCells) noYesWords() (no, yes []string) {
	if len(c.words) > fewWords {
		return nil, nil
	}
	for _, word := range slices.Sorted(maps.Keys(c.words)) {
		list := &no
		switch {
		case isOneOf(word, booleans, 1):
			list = &yes
		case !isOneOf(word, booleans, 0):
			return nil, nil
		}
		if !slices.ContainsFunc(*list, func(had string) bool { return strings.EqualFold(had, word) }) {
			*list = append(*list, word)
		}
	}
	if no == nil || yes == nil {
		return nil, nil
	}
	return no, yes
}

// isOneOf reports whether a word equals, but for case, the word with the index at in any of the pairs.
func isOneOf(word string, pairs [][2]string, at int) bool {
	return slices.ContainsFunc(pairs, func(pair [2]string) bool { return strings.EqualFold(pair[at], word) })
}

// describe determines the column's type and its other properties.
func (c *columnCells) describe() Column {
	d := Column{Name: c.name, Missing: c.missing, Distinct: len(c.words), gaps: c.missing + c.filled}
	date := c.date()
	no, yes := c.noYesWords()
	switch {
	case c.fault != nil:
		d.Type = Unreadable
	case c.seen == 0:
		d.Type = Empty
	case c.fitsMostCells(c.numbers.fits) && !c.isCode():
		d.Type, d.Least, d.Greatest, d.Mean = prepare.Number, c.least+0, c.greatest+0, c.sum/float64(c.numbers.fits) // adding 0 turns -0 into 0
		d.values, d.low = c.limitValues(), c.least
		if code, low, n := c.gapCode(); n > 0 {
			d.low, d.gaps = low, d.gaps+n
			d.values = with(d.values, code, "")
		}
	case c.otherNumbers().text != "":
		other := c.otherNumbers()
		d.Type, d.Unread, d.unit, d.values = prepare.Number, other.form != nil, other.unit, c.limitValues()
		if !d.Unread {
			d.Least, d.Greatest, d.Mean = c.besideUnits(other.unit)
			d.low = d.Least
		}
	case date >= 0:
		d.Type, d.Format = prepare.Date, formats[date]
		d.formats, _ = c.otherDates()
		d.years = c.yearsOf(d.formats, date)
	case no != nil:
		d.Type, d.no, d.yes = prepare.Boolean, no, yes
	case 2*len(c.words) > c.seen && c.seen > 2 || len(c.words) > prepare.MaxAgreed || c.longest > shortWord:
		d.Type = Text
	default:
		d.Type = prepare.Category
		if len(c.words) <= fewWords {
			d.Words, d.values = c.spellings()
		}
	}
	return d
}

// spellings returns the words to keep of the column's words, and the word to use for each of the others.
// Of words that differ only by case, blanks or Unicode form, it keeps the most frequent one, or of equally
// frequent ones the first.
func (c *columnCells) spellings() (list []string, values map[string]string) {
	common := make(map[string]string)
	all := slices.Sorted(maps.Keys(c.words))
	for _, word := range all {
		folded := fuzzymatch.Fold(word)
		if had, known := common[folded]; !known || c.words[word] > c.words[had] {
			common[folded] = word
		}
	}
	for _, word := range all {
		use := common[fuzzymatch.Fold(word)]
		if use == word {
			list = append(list, word)
		} else {
			values = with(values, word, use)
		}
	}
	return list, values
}

// with adds a word to a map, and returns the map. It makes a new map if values is nil.
func with(values map[string]string, word, use string) map[string]string {
	if values == nil {
		values = make(map[string]string)
	}
	values[word] = use
	return values
}

// gapCodes are numbers that stand for a gap in many tables whose other numbers are not negative.
var gapCodes = []string{"-9", "-99", "-999", "-9999"}

// gapCode returns the code that stands for a gap in a column of numbers, the least of the other
// numbers, and the number n of cells that hold the code. n is 0 if there is no such code.
func (c *columnCells) gapCode() (code string, low float64, n int) {
	if c.least >= 0 || len(c.words) == MaxDistinct {
		return "", 0, 0
	}
	low = math.Inf(1)
	for word, cells := range c.words {
		v, err := c.written.form.Parse(word)
		switch {
		case err != nil:
		case v == c.least && slices.Contains(gapCodes, word):
			code, n = word, n+cells
		default:
			low = min(low, v)
		}
	}
	if low < 0 || math.IsInf(low, 1) {
		return "", 0, 0
	}
	return code, low, n
}

// limitValues suggests a number for each limit in a column of numbers: half of a limit such as <5,
// and the limit itself for >5. It returns nil if there are none, or too many.
func (c *columnCells) limitValues() map[string]string {
	values := make(map[string]string)
	for word := range c.words {
		if value := c.written.limitValue(word); value != "" {
			values[word] = value
		}
	}
	if len(values) == 0 || len(values) > fewWords {
		return nil
	}
	return values
}

// besideUnits returns the least, the greatest and the mean number of a column in which a unit stands
// beside most numbers, or in which most cells are limits. A limit counts as the number suggested for it.
func (c *columnCells) besideUnits(unit string) (least, greatest, mean float64) {
	least, greatest = math.Inf(1), math.Inf(-1)
	cells, sum := 0, 0.0
	for word, n := range c.words {
		bare := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(word, unit), unit))
		if v, err := c.written.form.Parse(cmp.Or(c.written.limitValue(word), bare)); err == nil {
			least, greatest, cells, sum = min(least, v), max(greatest, v), cells+n, sum+v*float64(n)
		}
	}
	return least + 0, greatest + 0, sum / float64(cells)
}

// listProblems lists the words that look like gaps, and the cells that do not fit the column's type.
func (c *columnCells) listProblems(t prepare.Type) []Problem {
	var list []Problem
	for _, m := range c.gaps.other {
		list = append(list, Problem{Line: m.line, Column: c.name, Text: fmt.Sprintf("column %s holds %s, which looks like a gap; give the word by --missing, or correct the cell", dataset.Quote(c.name), dataset.Quote(m.word))})
	}
	if n := c.likely - len(c.gaps.other); n > 0 {
		list = append(list, Problem{Column: c.name, Text: fmt.Sprintf("column %s has %d more cells that look like a gap", dataset.Quote(c.name), n)})
	}
	if t == prepare.Number && c.padded > 0 {
		list = append(list, Problem{Column: c.name, Text: fmt.Sprintf("column %s has %s with zeros in front, as ids and codes have; name it by --id, or drop it", dataset.Quote(c.name), humanize.Count(c.padded, "number"))})
	}
	return append(list, c.listMisfits(t)...)
}

// listMisfits lists the cells that do not fit the column's type.
func (c *columnCells) listMisfits(t prepare.Type) (list []Problem) {
	if other := c.otherNumbers(); t == prepare.Number && other.text != "" {
		return []Problem{{Column: c.name, Text: other.text}}
	}
	if _, text := c.otherDates(); t == prepare.Date && text != "" {
		return []Problem{{Column: c.name, Text: text}}
	}
	var other tally
	advice := "correct the cell, or give the word by --missing if it means a gap"
	switch t {
	case prepare.Number:
		other = c.numbers
	case prepare.Date:
		other = c.dates[c.date()]
	case Unreadable:
		return []Problem{{Column: c.name, Text: fmt.Sprintf("column %s %v", dataset.Quote(c.name), c.fault)}}
	case Empty:
		if dataset.IsUnnamed(c.name) {
			return nil
		}
		return []Problem{{Column: c.name, Text: fmt.Sprintf("column %s has no value; drop it", dataset.Quote(c.name))}}
	case prepare.Category:
		return clashingWords(c.name, slices.Sorted(maps.Keys(c.words)))
	}
	if t != prepare.Number && t != prepare.Date {
		return nil
	}
	if code, _, n := c.gapCode(); t == prepare.Number && n > 0 {
		list = append(list, Problem{Column: c.name, Text: fmt.Sprintf("column %s: %d cells hold %s, and no other number is negative; if it means a gap, write values: {%q: \"\"} for the column in the catalogue", dataset.Quote(c.name), n, code, code)})
	}
	for _, m := range other.other {
		list = append(list, Problem{Line: m.line, Column: c.name, Text: fmt.Sprintf("column %s holds %s, but most cells are a %s; %s", dataset.Quote(c.name), dataset.Quote(m.word), t, advice)})
	}
	if n := c.seen - other.fits - len(other.other); n > 0 {
		list = append(list, Problem{Column: c.name, Text: fmt.Sprintf("column %s has %d more cells of another type", dataset.Quote(c.name), n)})
	}
	return list
}

// clashingWords returns a problem if two words differ only in case, blanks or Unicode form.
func clashingWords(column string, words []string) []Problem {
	one, other, found := fuzzymatch.Clash(words)
	if !found {
		return nil
	}
	one, other = fuzzymatch.Quote(one, other)
	return []Problem{{Column: column, Text: fmt.Sprintf("column %s holds %s and %s, which differ only by case, blanks or Unicode form; map one by \"values\" in the catalogue", dataset.Quote(column), one, other)}}
}
