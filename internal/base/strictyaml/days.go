package strictyaml

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Days is a duration, written in days, such as 30d, or in Go's units, such as 12h.
type Days struct{ time.Duration }

// days stands for [Days] in errors of the decoder, which name Go types. [Decode] rewrites them.
const days = "days"

// UnmarshalYAML reads a duration such as 30d or 12h.
func (d *Days) UnmarshalYAML(n *yaml.Node) error {
	text := n.Value
	var err error
	if days, whole := strings.CutSuffix(text, "d"); whole {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		d.Duration = time.Duration(n) * 24 * time.Hour
	} else {
		d.Duration, err = time.ParseDuration(text)
	}
	if err != nil || d.Duration <= 0 {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: cannot unmarshal %s `%s` into %s", n.Line, n.ShortTag(), text, days)}}
	}
	return nil
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
