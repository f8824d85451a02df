package job

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// String returns the protocol's name and all its settings, defaults included, as
// the job file writes them: "okra, mode = hardened, encoder = hadamard, ...".
func (p Protocol) String() string { return p.section().String() }

// String returns the kernel's name and all its settings.
func (k Kernel) String() string { return k.section().String() }

// String returns the learner's name and all its settings.
func (l Learner) String() string { return l.section().String() }

// String returns the values of a section that begins with a name, in the order
// of its keys. What the file would leave out is left out.
func (s *section) String() string {
	var parts []string
	for _, f := range s.fields {
		switch v := f.value.encode(); {
		case v == nil:
		case f.key == "name":
			parts = append(parts, v.Value)
		default:
			parts = append(parts, f.key+" = "+nodeText(v))
		}
	}
	return strings.Join(parts, ", ")
}

// maxListed is how many entries of a list are written out in a text for people.
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
