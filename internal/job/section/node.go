package section

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/spell"
)

const maxQuoted = 60

// nearest is spell.Nearest for words of a sane length.
func nearest(word string, known []string) (string, bool) {
	if len(word) > maxQuoted {
		return "", false
	}
	return spell.Nearest(word, known...)
}

// Quote shows foreign text in a message, shortened.
func Quote(s string) string {
	if len(s) > maxQuoted {
		return strconv.Quote(s[:maxQuoted]) + "..."
	}
	return strconv.Quote(s)
}

// Describe describes a node to someone who expected something else.
func Describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a map"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "empty"
	}
	return Quote(n.Value)
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// Word writes s as text, quoted where YAML would read something else. YAML holds
// valid UTF-8 only; other bytes become a character that reading refuses.
func Word(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.ToValidUTF8(s, string(utf8.RuneError))}
}

// Bare writes s as it is: a number, or true.
func Bare(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

// Flow writes a list in one line.
func Flow(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: items}
}

// Map writes a map of keys and values in turn.
func Map(content ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: content}
}
