package prepare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/unicode/norm"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
)

// Mapping describes the differences between a party's own file and the schema. In a federation, only the
// party writes it: no job changes it, and it never leaves the party. A job for simulate contains the mappings.
type Mapping struct {
	CSV     CSV               `yaml:"csv,omitempty"`
	Columns map[string]Theirs `yaml:"columns,omitempty"` // keys are the file's own column names
	Drop    []string          `yaml:"drop,omitempty"`
	Keep    []string          `yaml:"keep,omitempty"`
}

// CSV describes the form of a CSV text.
type CSV struct {
	Delimiter string   `yaml:"delimiter,omitempty"`
	Decimal   string   `yaml:"decimal,omitempty"`
	Missing   []string `yaml:"missing,omitempty"` // words that mark a gap, in addition to the empty cell
	Encoding  string   `yaml:"encoding,omitempty"`
	Names     []string `yaml:"names,omitempty"` // names of the columns, for a text without a header line

	// A digest covers a field below only if the field is set.

	Thousands string   `yaml:"thousands,omitempty" json:",omitempty"` // separator of thousands
	Comment   string   `yaml:"comment,omitempty" json:",omitempty"`   // first character of the lines to skip
	Headers   []string `yaml:"headers,omitempty" json:",omitempty"`   // names that replace the names of the header line
	Quote     string   `yaml:"quote,omitempty" json:",omitempty"`     // sign around fields
}

// Theirs converts one of the party's columns to the federation's name, unit and words.
type Theirs struct {
	As     string            `yaml:"as,omitempty"`     // name of the column in the federation
	Unit   string            `yaml:"unit,omitempty"`   // unit of the file's numbers
	Times  Factor            `yaml:"times,omitempty"`  // factor that converts to the schema's unit; 0 means none
	Values map[string]string `yaml:"values,omitempty"` // the federation's word for each of the file's words

	// A digest covers a field below only if the field is set.

	Thousands string  `yaml:"thousands,omitempty" json:",omitempty"` // separator of thousands in this column
	Format    Formats `yaml:"format,omitempty" json:",omitempty"`    // the file's formats of dates
}

// Factor multiplies a column's numbers. The zero value means that there is no factor; a text cannot give 0.
type Factor float64

// UnmarshalYAML reads a factor. It refuses 0, which would make all numbers of a column equal.
func (f *Factor) UnmarshalYAML(n *yaml.Node) error {
	if err := n.Decode((*float64)(f)); err != nil {
		return err
	}
	if *f == 0 {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: \"times\" is 0, which makes all numbers of the column equal; write a number above 0, or remove the key", n.Line)}}
	}
	return nil
}

// Empty reports whether the mapping has no entries.
func (m *Mapping) Empty() bool {
	return m.CSV.Empty() && m.Columns == nil && m.Drop == nil && m.Keep == nil
}

// RenamedTo returns the federation's name of the file's column name. It returns false if the column
// keeps its name, or if another column gets that name.
func (m *Mapping) RenamedTo(name string) (as string, renamed bool) {
	for _, t := range m.Columns {
		if t.As == name {
			return "", false
		}
	}
	as = m.Columns[name].As
	return as, as != ""
}

// Empty reports whether no field is set.
func (c CSV) Empty() bool {
	return c.Delimiter+c.Decimal+c.Encoding+c.Thousands+c.Comment+c.Quote == "" && c.Missing == nil && c.Names == nil && c.Headers == nil
}

// Form returns the format of a CSV text.
func (m *Mapping) Form() dataset.CSVForm {
	form := dataset.CSVForm{Encoding: m.CSV.Encoding, Names: m.CSV.Names, Headers: m.CSV.Headers}
	if m.CSV.Delimiter != "" {
		form.Delimiter, _ = utf8.DecodeRuneInString(m.CSV.Delimiter)
	}
	if m.CSV.Comment != "" {
		form.Comment, _ = utf8.DecodeRuneInString(m.CSV.Comment)
	}
	if m.CSV.Quote != "" {
		form.Quote, _ = utf8.DecodeRuneInString(m.CSV.Quote)
	}
	return form
}

// Numbers returns the form of the text's numbers.
func (c CSV) Numbers() dataset.NumberForm {
	form := dataset.NumberForm{Decimal: decimalPoint, Thousands: c.Thousands}
	if c.Decimal != "" {
		form.Decimal = c.Decimal[0]
	}
	return form
}

// numbers returns the form of the column's numbers, given the form of the text's numbers.
func (t Theirs) numbers(form dataset.NumberForm) dataset.NumberForm {
	if t.Thousands != "" {
		form.Thousands = t.Thousands
	}
	return form
}

// checkThousands refuses a sign between thousands that is unknown, or that is the decimal sign.
func checkThousands(form dataset.NumberForm) error {
	switch {
	case form.Thousands == "":
		return nil
	case !slices.Contains(dataset.ThousandsSigns(), form.Thousands):
		return fmt.Errorf(`thousands: %q is not a sign between thousands; write ",", ".", " " or "'"`, form.Thousands)
	case form.Thousands == string(rune(form.Decimal)):
		return fmt.Errorf("thousands: %q is also the decimal sign; correct \"decimal\" or \"thousands\"", form.Thousands)
	}
	return nil
}

// checkText refuses keys of csv with unknown values, and keys that contradict each other.
func (c CSV) checkText() error {
	if err := checkThousands(c.Numbers()); err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	switch {
	case c.Comment != "" && (utf8.RuneCountInString(c.Comment) != 1 || c.Comment == c.Delimiter || c.Comment == c.Quote || strings.Contains("\"\r\n\ufffd", c.Comment)):
		return fmt.Errorf(`csv: {comment: %q} cannot begin a comment; write one character such as "#"`, c.Comment)
	case !slices.Contains([]string{"", `"`, "'"}, c.Quote):
		return fmt.Errorf(`csv: {quote: %q} cannot stand around fields; write "'" or "\""`, c.Quote)
	case c.Names != nil && c.Headers != nil:
		return errors.New("csv: the keys \"names\" and \"headers\" exclude each other; write \"names\" for a text without a header line, or \"headers\" to replace the header line")
	}
	return nil
}

// Check refuses a mapping that has unknown values or contradicts itself.
func (m *Mapping) Check() error {
	switch {
	case !slices.Contains([]string{"", ",", ";", "\t", "|", " ", ":"}, m.CSV.Delimiter):
		return fmt.Errorf("csv: {delimiter: %q} cannot separate fields; choose a comma, semicolon, tab, space, bar or colon", m.CSV.Delimiter)
	case !slices.Contains([]string{"", ".", ","}, m.CSV.Decimal):
		return fmt.Errorf(`csv: {decimal: %q} is not a decimal sign; write "." or ","`, m.CSV.Decimal)
	case m.CSV.Decimal == "," && m.CSV.Delimiter == ",":
		return errors.New("csv uses a comma between fields and as the decimal sign; correct \"delimiter\" or \"decimal\"")
	case m.CSV.Encoding != "" && !slices.Contains(dataset.Encodings(), m.CSV.Encoding):
		return fmt.Errorf("csv: {encoding: %s} is not known; write one of %s", m.CSV.Encoding, strings.Join(dataset.Encodings(), ", "))
	case m.Drop != nil && m.Keep != nil:
		return errors.New("the keys \"drop\" and \"keep\" exclude each other; write \"drop\" with the columns to leave out, or \"keep\" with the columns to read")
	}
	if err := m.CSV.checkText(); err != nil {
		return err
	}
	return m.checkColumns()
}

func (m *Mapping) checkColumns() error {
	owner := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(m.Columns)) {
		c := m.Columns[name]
		switch {
		case c.Times < 0 || !isFinite(float64(c.Times)):
			return fmt.Errorf("column %s has \"times: %g\"; write a number above 0", dataset.Quote(name), c.Times)
		case slices.Contains(m.Drop, name):
			return fmt.Errorf("column %s is listed under \"drop\" and under \"columns\"; remove it from one of the two", dataset.Quote(name))
		}
		if err := cmp.Or(checkThousands(c.numbers(m.CSV.Numbers())), c.Format.check()); err != nil {
			return fmt.Errorf("column %s: %w", dataset.Quote(name), err)
		}
		if other, taken := owner[c.federationName(name)]; taken {
			one, two := min(name, other), max(name, other)
			return fmt.Errorf("columns %s and %s are both called %s; rename one", dataset.Quote(one), dataset.Quote(two), dataset.Quote(c.federationName(name)))
		}
		owner[c.federationName(name)] = name
	}
	return nil
}

// federationName returns the federation's name of a column.
func (t Theirs) federationName(name string) string {
	if t.As != "" {
		return t.As
	}
	return name
}

// IDRule makes a row's id from one or more columns. All parties need the same rule.
type IDRule struct {
	Columns   []string `yaml:"columns"`
	Normalize []string `yaml:"normalize,omitempty"`
}

// Canonical returns the text of a rule, which must be equal at all parties. It is "" for a plain
// rule, whose ids are the unchanged cells of one column. For several columns the text contains the
// federation's names of the columns, because parties that join the columns in different orders make
// different ids.
func (r IDRule) Canonical(theirs map[string]Theirs) string {
	if len(r.Columns) <= 1 && len(r.Normalize) == 0 {
		return ""
	}
	names := make([]string, len(r.Columns))
	for i, name := range r.Columns {
		if names[i] = theirs[name].federationName(name); len(names) == 1 {
			names[i] = "one column"
		}
	}
	return fmt.Sprintf("%q normalized by %q", names, r.Normalize)
}

// Of makes a row's id from its cells in the columns of the rule.
func (r IDRule) Of(cells []string) (string, error) {
	if len(cells) != len(r.Columns) {
		return "", fmt.Errorf("there are %d cells for an id that is made from %d columns", len(cells), len(r.Columns))
	}
	id, _, err := r.id(cells)
	return id, err
}

// normalizers are the steps that bring ids into a common form.
var normalizers = map[string]func(string) string{
	"trim": strings.TrimSpace, "nfc": norm.NFC.String, "upper": strings.ToUpper, "lower": strings.ToLower,
	"digits": func(s string) string {
		return strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, s)
	},
}

// Check refuses a rule without columns or with unknown steps.
func (r *IDRule) Check() error {
	if len(r.Columns) == 0 {
		return errors.New("the key \"id\" lists no columns; name at least one")
	}
	for _, step := range r.Normalize {
		if normalizers[step] == nil {
			return fmt.Errorf("id: {normalize: [%s]} is not known; choose from trim, nfc, upper, lower, digits", step)
		}
	}
	return nil
}

// idSeparator joins the columns of an id. The reader refuses ids that contain it.
const idSeparator = "\x1f"

// id makes an id from a row's fields. If a field is refused, id also returns the index of the
// field. The caller puts the name of the column before the error text.
func (r *IDRule) id(fields []string) (string, int, error) {
	parts := make([]string, len(fields))
	for i, f := range fields {
		for _, step := range r.Normalize {
			f = normalizers[step](f)
		}
		switch parts[i] = f; {
		case f == "":
			return "", i, errors.New("has nothing left after \"normalize\"; correct the cell or drop the row")
		case strings.Contains(f, idSeparator):
			return "", i, fmt.Errorf("contains the character %+q, which separates the columns of an id; remove it", idSeparator)
		}
	}
	return strings.Join(parts, idSeparator), 0, nil
}

// feature finds the column of the file that belongs to a column of the schema. An error about a
// column of a job's schema is an [UnlikeError].
func (r *reader) feature(columns, names []string, c Column) (field, error) {
	f, err := r.find(columns, names, c.Name, "")
	if err != nil && r.Absent && c.filled() {
		r.absent = append(r.absent, c.Name)
		return field{at: -1, own: c.Name}, nil
	}
	if err == nil {
		err = f.theirs.checkUnit(c, f.own)
	}
	if err != nil && !r.plain {
		err = &UnlikeError{Column: c.Name, Like: alike(columns, names, c.Name), Err: err}
	}
	return f, err
}

// alike returns the file's name of the column whose federation's name differs from the given one only by
// case, blanks or Unicode form. It returns "" if there is none.
func alike(columns, names []string, name string) string {
	if i := slices.IndexFunc(names, func(n string) bool { return fuzzymatch.Differs(n, name) }); i >= 0 {
		return columns[i]
	}
	return ""
}

// find returns a column by the federation's name.
func (t Table) find(columns, names []string, name, what string) (field, error) {
	at := slices.Index(names, name)
	if at < 0 {
		return field{}, dataset.NoColumn(name, "there is no column %s%s; %s", dataset.Quote(name), what, adviceOnMissing(name, columns, names))
	}
	return field{at, columns[at], t.Mapping.Columns[columns[at]]}, nil
}

// UnlikeError reports a table that lacks a column of the schema, or whose catalogue entry does not fit the
// column, such as by its unit. Its text uses the file's column names and is for the table's owner.
type UnlikeError struct {
	Column string // name of the column in the schema
	Like   string // the table's name that differs from Column only by case, blanks or Unicode form, or ""
	Err    error
}

func (e *UnlikeError) Error() string { return e.Err.Error() }

func (e *UnlikeError) Unwrap() error { return e.Err }

// Missing reports whether the table lacks the column.
func (e *UnlikeError) Missing() bool {
	var missing *dataset.ColumnError
	return errors.As(e.Err, &missing)
}

// Public returns an error text for peers, which names only columns of the schema.
func (e *UnlikeError) Public() string {
	if e.Missing() {
		return fmt.Sprintf("its table has no column %s, which the job's schema describes; its own log says more", dataset.Quote(e.Column))
	}
	return fmt.Sprintf("its catalogue gives column %s a unit or a factor that does not fit the job's schema; its own log says more", dataset.Quote(e.Column))
}

// adviceOnMissing returns advice about a missing column.
func adviceOnMissing(name string, columns, names []string) string {
	switch i := slices.Index(columns, name); {
	case i >= 0 && names[i] == "":
		return "the catalogue leaves the column out; remove it from \"drop\", or list it in \"keep\""
	case i >= 0:
		return fmt.Sprintf("the catalogue renames it to %s; write %s", dataset.Quote(names[i]), dataset.Quote(names[i]))
	}
	for i, n := range names {
		if strings.EqualFold(strings.TrimSpace(n), strings.TrimSpace(name)) {
			return fmt.Sprintf("the table has %s: rename it in the catalogue by columns: {%s: {as: %s}}", dataset.Quote(columns[i]), columns[i], name)
		}
	}
	if dataset.InSingleQuotes(name, columns) {
		return `the names are in single quotes: write csv: {quote: "'"} in the catalogue`
	}
	if len(columns) > 0 && strings.HasPrefix(columns[0], "#") {
		return `if lines that begin with # are comments, write csv: {comment: "#"} in the catalogue`
	}
	return "correct the job, or rename the table's column in the catalogue"
}

// checkUnit returns an error if the catalogue entry does not fit the column's unit or type.
func (t Theirs) checkUnit(c Column, own string) error {
	switch {
	case t.Unit != "" && c.Unit != "" && t.Unit != c.Unit && t.Times == 0:
		return fmt.Errorf("column %s is in %s, but the schema has %s; write the conversion factor as \"times\" in the catalogue", dataset.Quote(own), t.Unit, c.Unit)
	case t.Times != 0 && c.Type != Number:
		return fmt.Errorf("column %s is a %s, but the catalogue multiplies it by %g, which needs a number; remove the key \"times\"", dataset.Quote(own), c.Type, t.Times)
	case t.Thousands != "" && c.Type != Number:
		return fmt.Errorf("column %s is a %s, but the key \"thousands\" in the catalogue requires a number; remove the key", dataset.Quote(own), c.Type)
	case t.Format != nil && c.Type != Date:
		return fmt.Errorf("column %s is a %s, but the key \"format\" in the catalogue requires a date; remove the key", dataset.Quote(own), c.Type)
	case t.Unit != "" && c.Unit == "":
		return fmt.Errorf("column %s is in %s by the catalogue, but the schema gives the column no unit; add the key \"unit\" in the schema, or remove it in the catalogue", dataset.Quote(own), t.Unit)
	}
	return nil
}

// convert returns v in the schema's unit, rounded to 15 significant digits. Without the rounding,
// 1.1 x 88.42 would differ from the 97.262 that another party writes.
func (t Theirs) convert(v float64) float64 {
	const digits = 15 // a float64 preserves 15 decimal digits
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v*float64(t.Times), 'e', digits-1, 64), 64)
	if err != nil {
		return v * float64(t.Times) // callers refuse this infinite number
	}
	return rounded
}
