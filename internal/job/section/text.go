package section

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// String returns the values of a section that begins with a name, in the order of its keys.
// Values that the file would leave out are left out.
func (s *Section) String() string {
	var parts []string
	for _, f := range s.Fields {
		switch v := f.Value.Encode(); {
		case v == nil:
		case f.Key == "name":
			parts = append(parts, v.Value)
		default:
			parts = append(parts, f.Key+" = "+nodeText(v))
		}
	}
	return strings.Join(parts, ", ")
}

// maxListed limits the entries of a list that a text for people writes out.
const maxListed = 12

// nodeText writes a value in one line, a long list as the number of its entries.
func nodeText(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.ScalarNode:
		return n.Value
	case n.Kind == yaml.SequenceNode && len(n.Content) > maxListed:
		return fmt.Sprintf("%d entries", len(n.Content))
	}
	var parts []string
	if n.Kind == yaml.SequenceNode {
		for _, c := range n.Content {
			parts = append(parts, nodeText(c))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		parts = append(parts, n.Content[i].Value+": "+nodeText(n.Content[i+1]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
