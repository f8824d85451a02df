package strictyaml

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Days is a duration, written in days, such as 30d, in years of 365 days, such as 2y, or in Go's units, such as 12h.
type Days struct{ time.Duration }

// Positive is a limit above 0 in a YAML document. Its zero value means that the document has none.
type Positive int

// These words stand for [Days] and [Positive] in errors of the decoder, which name Go types. [Decode]
// rewrites them.
const (
	days     = "days"
	positive = "positive"
)

// UnmarshalYAML reads a duration such as 30d or 12h.
func (d *Days) UnmarshalYAML(n *yaml.Node) error {
	text := n.Value
	var err error
	if number, inDays := strings.CutSuffix(text, "d"); inDays {
		d.Duration, err = wholeDays(number, 1)
	} else if number, inYears := strings.CutSuffix(text, "y"); inYears {
		d.Duration, err = wholeDays(number, 365)
	} else {
		d.Duration, err = time.ParseDuration(text)
	}
	if err != nil || d.Duration <= 0 {
		return unfit(n, text, days)
	}
	return nil
}

// wholeDays returns the duration of a number of units, each of the given days. More than 65,535 days give an error.
func wholeDays(number string, days uint64) (time.Duration, error) {
	n, err := strconv.ParseUint(number, 10, 16)
	if err == nil && n*days > 1<<16-1 {
		err = strconv.ErrRange
	}
	return time.Duration(n*days) * 24 * time.Hour, err
}

// IsZero reports whether no duration is given.
func (d Days) IsZero() bool { return d.Duration == 0 }

// MarshalYAML writes a duration in the form that UnmarshalYAML reads.
func (d Days) MarshalYAML() (any, error) {
	const day = 24 * time.Hour
	if d.Duration%day == 0 {
		return fmt.Sprintf("%dd", d.Duration/day), nil
	}
	return d.String(), nil
}

// UnmarshalYAML reads a whole number above 0.
func (p *Positive) UnmarshalYAML(n *yaml.Node) error {
	var value int
	if err := n.Decode(&value); err != nil {
		return unfit(n, n.Value, positive)
	}
	if value <= 0 {
		return unfit(n, strconv.Itoa(value), positive)
	}
	*p = Positive(value)
	return nil
}

// unfit returns the decoder's error about a value that does not fit its type.
func unfit(n *yaml.Node, value, kind string) error {
	return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: cannot unmarshal %s `%s` into %s", n.Line, n.ShortTag(), value, kind)}}
}
