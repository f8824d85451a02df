package profile

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/catalogue/origin"
)

// Suggestion holds the profile from which drafts of a data dictionary and of a catalogue entry are
// made. A person who knows the data has to correct them.
type Suggestion struct {
	*Table
	Own       prepare.Mapping
	Path      string
	Origin    origin.Origin // a program or a query, which gives the table instead of the file at Path
	Label, ID string
	Guessed   bool // whether Label is the last column, since nobody named the labels
	Values    bool // whether to suggest ranges from the data
	Public    bool // whether no row is allowed to decide what a cell becomes, for differential privacy
}

// Dictionary returns the text of a dictionary file, for all members.
func (s Suggestion) Dictionary() string {
	var b strings.Builder
	b.WriteString("# A data dictionary, the same for all members. Correct it: it is guessed from one table.\n")
	if n := len(s.Problems) + s.More; n > 0 {
		fmt.Fprintf(&b, "# The table has %s; run the command without --schema for the list.\n", humanize.Count(n, "problem"))
	}
	fmt.Fprintf(&b, "apiVersion: mercer/v1\nkind: Dictionary\nmetadata: {name: %s}\nspec:\n", NameOf(s.Path))
	b.WriteString(indented(s.columnLines(), "  "))
	if s.Label != "" {
		fmt.Fprintf(&b, "  labels: {%s: {}} # %s\n", scalar(s.Label), s.labelAdvice())
	}
	return b.String()
}

// labelAdvice returns a YAML comment for the person who corrects the entry of the labels.
func (s Suggestion) labelAdvice() string {
	if s.Guessed {
		return "the last column counts as the label; --label NAME names another one, --label none says that there is none"
	}
	return "classes: [well, ill] lists them, the positive one last"
}

// columnLines returns the key "columns" of a dictionary with its value and, if rows with gaps are left out, the
// key "complete" with its value.
func (s Suggestion) columnLines() string {
	var b strings.Builder
	b.WriteString("columns:\n")
	var complete []string
	for _, c := range s.describedColumns() {
		keys, fills := s.columnKeys(c)
		if !fills {
			complete = append(complete, c.Name)
		}
		fmt.Fprintf(&b, "  %s: {%s}%s\n", scalar(c.Name), keys, s.advice(c))
	}
	if complete != nil {
		fmt.Fprintf(&b, "complete: %s # a row with a gap in one of these columns is used in no job\n", words(complete))
	}
	if s.lacksLabels() {
		fmt.Fprintf(&b, "# Some rows have no label. In simulate, the job leaves them out by label: %s.\n", s.labelOfEntry())
	}
	return b.String()
}

// notLabel matches the characters that a name in a dictionary cannot contain.
var notLabel = regexp.MustCompile(`[^a-z0-9]+`)

// NameOf derives a name from a path: the part of the file's name before the first dot, in lower-case
// letters, digits and inner dashes. It returns "table" if nothing is left, or too much.
func NameOf(path string) string {
	base, _, _ := strings.Cut(filepath.Base(path), ".")
	name := strings.Trim(notLabel.ReplaceAllString(strings.ToLower(base), "-"), "-")
	if name == "" || len(name) > longestName {
		return "table"
	}
	return name
}

// longestName is the largest length of a name in a job or a dictionary.
const longestName = 63

// describedColumns returns the columns that a schema should describe: neither label nor id nor dropped.
func (s Suggestion) describedColumns() (list []Column) {
	for _, c := range s.Columns {
		if c.Name != s.Label && c.Name != s.ID && !c.isDropped() {
			list = append(list, c)
		}
	}
	return list
}

// isDropped reports whether learners cannot use a column, the table does not name it, or its name
// says that it tells who a person is.
func (c Column) isDropped() bool {
	return c.Type == Text || c.Type == Empty || c.Type == Unreadable || dataset.IsUnnamed(c.Name) || identifying.MatchString(plainName(c.Name))
}

// identifying matches the plain names of columns that tell who a person is.
var identifying = regexp.MustCompile(`^(patient|patienten|subject|participant|person|customer|kunde|kunden|client|case|fall|record|study|hospital|medical)?(id|pid|uid|key|nr|no|num|number|nummer)$|^(patient|subject|participant|mrn|ssn|name|surname|lastname|firstname|fullname|vorname|nachname|nom|prenom|email)$`)

// columnKeys returns the text of a column's keys in the dictionary. fills reports whether the
// column has no gaps, or the keys fill them.
func (s Suggestion) columnKeys(c Column) (text string, fills bool) {
	if s.Public {
		return c.publicKeys(), true
	}
	keys := []string{"type: " + string(c.Type)}
	fill := ""
	if c.unit != "" {
		keys = append(keys, "unit: "+scalar(c.unit))
	}
	switch c.Type {
	case prepare.Number:
		if s.Values && !c.Unread {
			low, high := roundedRange(c.low, c.Greatest)
			keys, fill = append(keys, fmt.Sprintf("range: [%s, %s]", number(low), number(high))), "median"
		}
	case prepare.Date:
		keys = append(keys, "format: "+strconv.Quote(c.Format), "as: "+c.dateNumber())
		if c.oneYear() {
			fill = "median" // months have a range without the key
		} else if s.Values {
			low, high := c.years.decades()
			keys, fill = append(keys, fmt.Sprintf("range: [%d, %d]", low, high)), "median"
		}
	case prepare.Boolean:
		keys, fill = append(keys, "true: "+words(c.yes), "false: "+words(c.no)), "most-frequent"
	case prepare.Category:
		if !slices.Contains(c.Words, "missing") {
			fill = "category"
		}
		list := "agree"
		if c.Words != nil {
			list = words(c.Words)
		}
		keys = append(keys, "categories: "+list)
	}
	if c.gaps > 0 && fill != "" {
		keys = append(keys, "missing: "+fill)
	}
	return strings.Join(keys, ", "), c.gaps == 0 || fill != ""
}

// oneYear reports whether a column has dates of one year only.
func (c Column) oneYear() bool {
	return c.Type == prepare.Date && c.years.some && c.years.least == c.years.greatest
}

// dateNumber returns the number to take from the dates of a column: the year if the years differ, or
// else the month.
func (c Column) dateNumber() string {
	if c.oneYear() {
		return "month"
	}
	return "year"
}

// advice returns a YAML comment for the person who corrects the entry of a column.
func (s Suggestion) advice(c Column) string {
	switch {
	case s.Public && c.alone == nil:
		return c.publicAdvice()
	case c.Unread && c.gaps > 0:
		return " # with range: [least, greatest possible], missing: median fills the gaps, and complete need not list it"
	case c.Unread:
		return " # add range: [least, greatest possible]"
	case c.oneYear():
		return " # all dates are of one year, so as: year would be constant"
	case (c.Type == prepare.Number || c.Type == prepare.Date) && s.Values:
		return " # write the possible range: this one is the data's, rounded outwards"
	case c.Type == prepare.Number && c.gaps > 0:
		return " # with range: [least, greatest possible], missing: median fills the gaps, and complete need not list it"
	case c.Type == prepare.Number:
		return " # add range: [least, greatest possible]"
	case c.Type == prepare.Date:
		return " # add range: [first, last possible year]"
	case c.alone != nil:
		return " # only one site writes " + strings.Join(c.alone, ", ") + ": write under values, at each site, which words mean the same"
	case c.Type == prepare.Category && c.Words != nil && !c.joint:
		return " # the words of this table; other tables may have more"
	}
	return ""
}

// Entry returns the text of a catalogue entry.
func (s Suggestion) Entry() string {
	var b strings.Builder
	name, _, _ := strings.Cut(filepath.Base(s.Path), ".")
	fmt.Fprintf(&b, "# For the catalogue of the table's owner, under data.\n%s:\n  %s\n", scalar(name), s.sourceLine())
	b.WriteString(indented(s.csvLine(), "  "))
	for _, key := range [][2]string{{"id", orNone(s.ID)}, {"label", s.labelOfEntry()}} {
		if key[1] != "" {
			fmt.Fprintf(&b, "  %s: %s\n", key[0], key[1])
		}
	}
	b.WriteString(s.columnsOfEntry())
	var drop []string
	for _, c := range s.Columns {
		if c.isDropped() && c.Name != s.Label && c.Name != s.ID {
			drop = append(drop, c.Name)
		}
	}
	if drop != nil {
		fmt.Fprintf(&b, "  drop: %s # free text, empty, unreadable, without a name, or naming a person: never parsed\n", words(drop))
	}
	return b.String()
}

// Form returns the form in which the text can be read: the given one, the signs of its numbers, and
// the words that look like gaps.
func (s Suggestion) Form() prepare.CSV {
	form := s.Own.CSV
	form.Decimal, form.Thousands = s.numberKeys()
	form.Missing = s.missing()
	return form
}

// csvLine returns the key "csv" of a catalogue entry with its value, or "" if the text has the default form.
func (s Suggestion) csvLine() string {
	var form []string
	own := s.Form()
	for _, key := range [][2]string{{"delimiter", own.Delimiter}, {"decimal", own.Decimal}, {"thousands", own.Thousands}, {"comment", own.Comment}, {"quote", own.Quote}, {"encoding", own.Encoding}} {
		if key[1] != "" {
			form = append(form, key[0]+": "+scalar(key[1]))
		}
	}
	for _, list := range []struct {
		key   string
		words []string
	}{{"missing", own.Missing}, {"headers", own.Headers}, {"names", own.Names}} {
		if list.words != nil {
			form = append(form, list.key+": "+words(list.words))
		}
	}
	if form == nil {
		return ""
	}
	return fmt.Sprintf("csv: {%s}%s\n", strings.Join(form, ", "), s.gapAdvice())
}

// lacksLabels reports whether rows have no label.
func (s Suggestion) lacksLabels() bool {
	return slices.ContainsFunc(s.Columns, func(c Column) bool { return c.Name == s.Label && c.gaps > 0 })
}

// labelOfEntry returns the value of the key "label", or "" for no label. If rows lack a label, the value leaves
// these rows out.
func (s Suggestion) labelOfEntry() string {
	if s.lacksLabels() {
		return fmt.Sprintf("{column: %s, missing: drop-row}", scalar(s.Label))
	}
	return orNone(s.Label)
}

// orNone returns a name as a YAML scalar, or "" for no name.
func orNone(name string) string {
	if name == "" {
		return ""
	}
	return scalar(name)
}

// missing lists the words that mean a gap: the given ones, and those that look like gaps.
func (s Suggestion) missing() []string {
	list := slices.Clone(s.Own.CSV.Missing)
	for _, word := range s.gapWords {
		if !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	return list
}

// gapAdvice returns a YAML comment if words look like gaps.
func (s Suggestion) gapAdvice() string {
	if len(s.gapWords) == 0 {
		return ""
	}
	return " # missing: remove words that are values"
}

// numberKeys returns the decimal sign and the thousands separator of the form that reads the
// numbers. A sign is "" if the catalogue entry needs no key for it.
func (s Suggestion) numberKeys() (decimal, thousands string) {
	if s.Numbers == s.Own.CSV.Numbers() {
		return s.Own.CSV.Decimal, s.Own.CSV.Thousands
	}
	return string(rune(s.Numbers.Decimal)), s.Numbers.Thousands
}

// columnsOfEntry returns the text of the key "columns" in a catalogue entry, or "" if the entry
// needs no such key.
func (s Suggestion) columnsOfEntry() string {
	var lines []string
	for _, c := range s.describedColumns() {
		if keys, advice := c.ownKeys(); keys != nil {
			lines = append(lines, fmt.Sprintf("    %s: {%s}%s\n", scalar(c.Name), strings.Join(keys, ", "), advice))
		}
	}
	if lines == nil {
		return ""
	}
	return "  columns:\n" + strings.Join(lines, "")
}

// ownKeys returns the keys that describe a column of the owner's file, and a YAML comment for the
// person who corrects them.
func (c Column) ownKeys() (keys []string, advice string) {
	if c.unit != "" {
		keys = append(keys, "unit: "+scalar(c.unit))
	}
	if c.formats != nil {
		keys = append(keys, "format: "+words(c.formats))
	}
	if c.values == nil {
		return keys, ""
	}
	var pairs []string
	for _, word := range slices.Sorted(maps.Keys(c.values)) {
		pairs = append(pairs, scalar(word)+": "+scalar(c.values[word]))
	}
	if c.Type == prepare.Number {
		advice = " # half of each limit such as <5, the limit itself of >5, a gap for a code such as -99; correct them"
	}
	return append(keys, "values: {"+strings.Join(pairs, ", ")+"}"), advice
}

// sourceLine returns the line of the catalogue entry that says where the table comes from.
func (s Suggestion) sourceLine() string {
	q := s.Origin.SQL
	switch {
	case s.Origin.Command != nil:
		line := "command: " + words(s.Origin.Command)
		if s.Origin.Env != nil {
			line += "\n  env: " + words(s.Origin.Env)
		}
		return line
	case q != nil && q.SQLite != "":
		return fmt.Sprintf("sql: {sqlite: %s, query_file: %s}", scalar(q.SQLite), scalar(q.QueryFile))
	case q != nil:
		return fmt.Sprintf("sql: {dsn_env: %s, query_file: %s}", scalar(q.DSNEnv), scalar(q.QueryFile))
	}
	return "path: " + scalar(s.Path)
}

// roundedRange returns a range that contains two numbers. Both ends of the range have one significant digit, and
// one end is 0 if both numbers have the same sign. But if both numbers are above 0 and far from 0 in comparison
// with their distance, such as years, the ends are multiples of a power of ten that is at least the distance.
func roundedRange(least, greatest float64) (low, high float64) {
	if distance := greatest - least; distance > 0 && 4*distance < least {
		power := int(math.Ceil(math.Log10(distance)))
		ten := scaled(1, power)
		return scaled(math.Floor(least/ten), power), scaled(math.Ceil(greatest/ten), power)
	}
	low, high = -oneDigit(-least), oneDigit(greatest)
	if low >= high {
		high = low + 1
	}
	return low, high
}

// decades returns a range of whole decades that contains all years.
func (s span) decades() (low, high int) {
	return s.least - s.least%10, s.greatest + 10 - s.greatest%10
}

// oneDigit rounds v up to a number with one significant digit. For v <= 0 it returns 0.
func oneDigit(v float64) float64 {
	if v <= 0 {
		return 0
	}
	power := int(math.Floor(math.Log10(v)))
	return scaled(math.Ceil(v/scaled(1, power)), power)
}

// scaled returns digits times a power of ten, rounded once: .3 and not .1 + .1 + .1.
func scaled(digits float64, power int) float64 {
	v, _ := strconv.ParseFloat(fmt.Sprintf("%.0fe%d", digits, power), 64) // a result out of range is infinite or 0, like the product
	return v
}

// number writes a number, without an exponent where a person would write none.
func number(v float64) string {
	if size := math.Abs(v); size >= 1e-4 && size < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v+0, 'g', -1, 64)
}

func words(list []string) string {
	quoted := make([]string, len(list))
	for i, word := range list {
		quoted[i] = scalar(word)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// plainWord matches words that YAML reads as text without quotes.
var plainWord = regexp.MustCompile(`^[\pL/][\pL\pN_./-]*$`)

// scalar returns a text as a YAML scalar, in quotes if necessary. It adds quotes if YAML could read
// the text as another type.
func scalar(word string) string {
	switch strings.ToLower(word) {
	case "yes", "no", "true", "false", "on", "off", "y", "n", "null", "agree":
		return strconv.Quote(word)
	}
	if plainWord.MatchString(word) {
		return word
	}
	return strconv.Quote(word)
}
