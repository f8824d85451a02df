package dataset

import (
	"fmt"
	"time"
)

// instants are the ways of writing a time at which rows can be cut: days, and times of a day.
var instants = []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.RFC3339}

// Bound is a place to cut rows at: a number, or a time.
type Bound struct {
	text   string
	number float64
	time   time.Time // zero: the bound is a number
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

// instant reads a time without a zone, or in any zone.
func instant(text string) (time.Time, bool) {
	for _, layout := range instants {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
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
	if b.time.IsZero() {
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
	return !t.Before(b.time), nil
}
