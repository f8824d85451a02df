package dataset

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/civil"
)

// Bound is a place to cut rows at: a number, or a time.
type Bound struct {
	text   string
	number float64
	time   string // as instant writes it; "" for a number
}

// ParseBound reads a number, a day such as 2024-01-01, or a time of a day such as 2024-01-01T12:30.
func ParseBound(text string) (Bound, error) {
	if v, err := ParseNumber(text, '.'); err == nil {
		return Bound{text: text, number: v}, nil
	}
	if t, ok := instant(text); ok {
		return Bound{text: text, time: t}, nil
	}
	return Bound{}, fmt.Errorf("dataset: %s is neither a number nor a day such as 2024-01-01", quote(text))
}

// instant writes a time as 2006-01-02T15:04:05, so that times compare as texts do. It reads
// days, and times of a day without a zone or in UTC.
func instant(text string) (string, bool) {
	const midnight = "0000-00-00T00:00:00"
	full := strings.TrimSuffix(strings.Replace(text, " ", "T", 1), "Z")
	if n := len(full); n != len("2006-01-02") && n != len("2006-01-02T15:04") && n != len(midnight) {
		return "", false
	}
	full += midnight[len(full):]
	for i := range midnight {
		if digit := full[i] >= '0' && full[i] <= '9'; midnight[i] == '0' && !digit || midnight[i] != '0' && full[i] != midnight[i] {
			return "", false
		}
	}
	part := func(at int) int { return int(full[at]-'0')*10 + int(full[at+1]-'0') }
	if _, is := civil.Days(100*part(0)+part(2), part(5), part(8)); !is {
		return "", false
	}
	return full, part(11) < 24 && part(14) < 60 && part(17) < 60
}

// From returns the rows, ascending, whose cell is the bound or comes after it. Its error names
// the row, from 1, whose cell cannot be compared with the bound.
func (b Bound) From(cells []string) ([]int, error) {
	var rows []int
	for i, cell := range cells {
		after, err := b.reached(cell)
		if err != nil {
			return nil, fmt.Errorf("row %d holds %s, which %w", i+1, quote(cell), err)
		}
		if after {
			rows = append(rows, i)
		}
	}
	return rows, nil
}

func (b Bound) reached(cell string) (bool, error) {
	if b.time == "" {
		v, err := ParseNumber(cell, '.')
		if err != nil {
			return false, fmt.Errorf("cannot be compared with the number %s", b.text)
		}
		return v >= b.number, nil
	}
	t, ok := instant(cell)
	if !ok {
		return false, fmt.Errorf("is no day as %s is; write days such as 2024-01-01, or describe the column in a schema with its format", b.text)
	}
	return t >= b.time, nil
}
