package prepare

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// isoDate is the format of days in job files.
const isoDate = "%Y-%m-%d"

// directives translates strptime's words into Go's.
var directives = map[byte]string{
	'Y': "2006", 'm': "1", 'd': "2", 'y': "06", 'H': "15", 'M': "4", 'S': "5", 'b': "Jan", 'B': "January", 'p': "PM", 'I': "3", 'f': "000000", '%': "%",
}

// layout translates a format of strptime.
func layout(format string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		i++
		if i == len(format) {
			return "", errors.New("the format ends with %; write a letter behind it")
		}
		word, known := directives[format[i]]
		if !known {
			return "", fmt.Errorf("the format has %%%c, which is not read; use %%Y %%m %%d %%y %%b %%B %%H %%I %%M %%S %%f %%p", format[i])
		}
		b.WriteString(word)
	}
	return b.String(), nil
}

// parseDate reads a day by a format of strptime.
func parseDate(word, format string) (time.Time, error) {
	l, err := layout(format)
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(l, word)
	if err != nil {
		return time.Time{}, fmt.Errorf("is no date as %s; correct the cell or the format", format)
	}
	return t, nil
}

// parseDate takes the column's part of a date.
func (c *Column) parseDate(word string) (float64, error) {
	t, err := parseDate(word, c.Format)
	if err != nil {
		return 0, err
	}
	switch c.As {
	case Month:
		return float64(t.Month()), nil
	case Weekday:
		return float64((t.Weekday() + 6) % 7), nil
	case Days:
		since, err := parseDate(c.Since, isoDate)
		return t.Sub(since).Hours() / 24, err
	}
	return float64(t.Year()), nil
}
