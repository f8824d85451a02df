package prepare

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/date"
)

// isoDate is the format of dates in job files.
const isoDate = "%Y-%m-%d"

// errFormat returns the error for an unsupported letter of a format. It lists the supported
// letters.
func errFormat(letter byte) error {
	if letter == 'z' || letter == 'Z' {
		return fmt.Errorf("the format has %%%c, but time zones are not read; write the zone of all cells in place of it, such as +01:00, or remove the zone from the file", letter)
	}
	return fmt.Errorf("the format has %%%c, which is not supported; use %%Y %%m %%d %%y %%b %%B %%H %%I %%M %%S %%f %%p", letter)
}

// checkFormat refuses a strptime format with unsupported letters or without a year.
func checkFormat(format string) error {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		if i++; i == len(format) {
			return errors.New("the format ends with %; write a letter after it")
		}
		if !strings.ContainsRune("YmdybBHIMSfp%", rune(format[i])) {
			return errFormat(format[i])
		}
	}
	if !strings.Contains(format, "%Y") && !strings.Contains(format, "%y") {
		return errors.New("the format has no year; add %Y")
	}
	return nil
}

// clock holds the parts of a date that have been read from a text.
type clock struct {
	rest                                 string // text not yet read
	year, month, day                     int
	hour, minute, second, micro, halfDay int
}

// moment is a day and the elapsed fraction of the day.
type moment struct {
	year, month int
	days        int64   // days since 1970-01-01
	passed      float64 // elapsed fraction of the day, from 0 to below 1
}

// iso writes the moment to the second, as 2006-01-02T15:04:05.
func (m moment) iso() string {
	year, month, day := date.Of(m.days)
	seconds := int(m.passed*86400 + 1e-6) // 1e-6 makes up for rounding just below a whole second
	return fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02d", year, month, day, seconds/3600, seconds/60%60, seconds%60)
}

// parseDate reads a moment by a strptime format.
func parseDate(word, format string) (moment, error) {
	t, ok := readDate(word, format)
	if !ok {
		return t, fmt.Errorf("is not a date of the form %s; correct the cell or the format", format)
	}
	return t, nil
}

// Formats lists strptime formats of dates. In YAML it is one format or a list.
type Formats []string

// UnmarshalYAML reads one format or a list.
func (f *Formats) UnmarshalYAML(n *yaml.Node) error {
	switch n.Kind {
	case yaml.ScalarNode:
		*f = Formats{n.Value}
		return nil
	case yaml.SequenceNode:
		return n.Decode((*[]string)(f))
	}
	return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: \"format\" is neither a format of dates, such as \"%%d.%%m.%%Y\", nor a list of formats", n.Line)}}
}

// MarshalYAML writes a single format as a word.
func (f Formats) MarshalYAML() (any, error) {
	if len(f) == 1 {
		return f[0], nil
	}
	return []string(f), nil
}

// check returns an error if a format is not supported.
func (f Formats) check() error {
	if f != nil && len(f) == 0 {
		return errors.New("the key \"format\" is an empty list; write a format such as \"%d.%m.%Y\"")
	}
	for _, format := range f {
		if err := checkFormat(format); err != nil {
			return err
		}
	}
	return nil
}

// orDefault returns the formats, or the given format if there are none.
func (f Formats) orDefault(format string) Formats {
	if len(f) == 0 && format != "" {
		return Formats{format}
	}
	return f
}

// read reads a moment by the formats. It refuses a word that two formats read as different moments.
func (f Formats) read(word string) (moment, error) {
	if len(f) == 0 {
		return moment{}, errors.New(`is a date of unknown form; write the file's "format" for the column in the catalogue, or one for all tables in the schema, such as format: "%Y-%m-%d"`)
	}
	if len(f) == 1 {
		t, ok := readDate(word, f[0])
		if !ok {
			return t, fmt.Errorf("is not a date of the form %s; correct the cell, or write the file's \"format\" for the column in the catalogue", f[0])
		}
		return t, nil
	}
	var found moment
	by := ""
	for _, format := range f {
		t, ok := readDate(word, format)
		switch {
		case !ok:
		case by == "":
			found, by = t, format
		case t != found:
			return moment{}, fmt.Errorf("is one date by %s and another by %s; keep only one format, or write the month by its name in the file", by, format)
		}
	}
	if by == "" {
		return moment{}, fmt.Errorf("is not a date of one of the forms %s; correct the cell or the formats", strings.Join(f, ", "))
	}
	return found, nil
}

// YearOf returns the year of a date by a strptime format. ok is false if the text is no such date.
func YearOf(word, format string) (year int, ok bool) {
	t, ok := readDate(word, format)
	return t.year, ok
}

func readDate(word, format string) (moment, bool) {
	c := clock{rest: word, year: 1900, month: 1, day: 1, halfDay: -1}
	for i := 0; i < len(format); i++ {
		fits := false
		if format[i] == '%' && i+1 < len(format) {
			i++
			fits = c.take(format[i])
			if format[i] == 'b' && !strings.HasPrefix(format[i+1:], ".") {
				c.rest = strings.TrimPrefix(c.rest, ".") // the period of an abbreviation
			}
		} else {
			c.rest, fits = strings.CutPrefix(c.rest, format[i:i+1])
		}
		if !fits {
			return moment{}, false
		}
	}
	t, ok := c.time()
	return t, ok && c.rest == ""
}

// take reads the part of a date that a letter of the format names.
func (c *clock) take(letter byte) bool {
	switch letter {
	case 'Y':
		return c.digits(&c.year, 4, 4)
	case 'y':
		ok := c.digits(&c.year, 2, 2)
		if c.year += 1900; c.year < 1969 { // POSIX: 69 to 99 are years from 1969 on, 00 to 68 from 2000 on
			c.year += 100
		}
		return ok
	case 'm':
		return c.digits(&c.month, 1, 2)
	case 'd':
		return c.digits(&c.day, 1, 2)
	case 'H', 'I':
		return c.digits(&c.hour, 1, 2)
	case 'M':
		return c.digits(&c.minute, 1, 2)
	case 'S':
		return c.digits(&c.second, 1, 2)
	case 'f':
		before := len(c.rest)
		ok := c.digits(&c.micro, 1, 6)
		for n := before - len(c.rest); n < 6; n++ {
			c.micro *= 10
		}
		return ok
	case 'b':
		return c.named(shortMonths)
	case 'B':
		return c.named(fullMonths)
	case 'p':
		return c.readAMPM()
	}
	var ok bool
	c.rest, ok = strings.CutPrefix(c.rest, "%")
	return ok
}

// digits reads a whole number, and reports whether it has at least the required number of digits.
func (c *clock) digits(into *int, least, most int) bool {
	n := 0
	for *into = 0; n < min(most, len(c.rest)) && '0' <= c.rest[n] && c.rest[n] <= '9'; n++ {
		*into = 10**into + int(c.rest[n]-'0')
	}
	c.rest = c.rest[n:]
	return n >= least
}

// named reads the name of a month.
func (c *clock) named(names monthNames) (ok bool) {
	c.month, c.rest, ok = names.cut(c.rest)
	return ok
}

// readAMPM reads AM or PM.
func (c *clock) readAMPM() bool {
	if len(c.rest) < 2 {
		return false
	}
	c.halfDay = strings.Index("AMPM", strings.ToUpper(c.rest[:2])) / 2
	ok := strings.EqualFold(c.rest[:2], "AM") || strings.EqualFold(c.rest[:2], "PM")
	c.rest = c.rest[2:]
	return ok
}

// time returns the moment, or false for a day or a time of day that does not exist, such as the 30th of February.
func (c *clock) time() (moment, bool) {
	if c.halfDay >= 0 {
		if c.hour < 1 || c.hour > 12 {
			return moment{}, false
		}
		c.hour = c.hour%12 + 12*c.halfDay
	}
	days, ok := date.Days(c.year, c.month, c.day)
	seconds := float64(3600*c.hour+60*c.minute+c.second) + float64(c.micro)/1e6
	return moment{c.year, c.month, days, seconds / secondsOfDay}, ok && c.hour < 24 && c.minute < 60 && c.second < 60
}

const secondsOfDay = 24 * 60 * 60

// parseDate reads a date and returns its year, month, weekday or days, as the column's key "as"
// says.
func (c *Column) parseDate(word string, formats Formats) (float64, error) {
	t, err := formats.orDefault(c.Format).read(word)
	if err != nil {
		return 0, err
	}
	switch c.As {
	case Month:
		return float64(t.month), nil
	case Weekday:
		return float64(date.Weekday(t.days)), nil
	case Days:
		since, err := parseDate(c.Since, isoDate)
		return float64(t.days-since.days) + t.passed, err
	}
	return float64(t.year), nil
}
