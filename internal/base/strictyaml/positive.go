package strictyaml

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Positive is a limit above 0 in a YAML document. Its zero value means that the document has none.
type Positive int

// positive stands for [Positive] in errors of the decoder, which name Go types. [Decode] rewrites them.
const positive = "positive"

// UnmarshalYAML reads a whole number above 0.
func (p *Positive) UnmarshalYAML(n *yaml.Node) error {
	var value int
	if err := n.Decode(&value); err != nil || value <= 0 {
		text := n.Value
		if err == nil {
			text = strconv.Itoa(value)
		}
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: cannot unmarshal %s `%s` into %s", n.Line, n.ShortTag(), text, positive)}}
	}
	*p = Positive(value)
	return nil
}
