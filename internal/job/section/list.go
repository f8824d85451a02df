package section

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
)

// Interval reads and writes two numbers. It does not write two zeros.
type Interval struct{ Dst *[2]float64 }

func (v Interval) Decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode || len(n.Content) != 2 {
		return At(n, "%s is %s; write two numbers such as [0, 100]", key, describeCount(n))
	}
	for i, c := range n.Content {
		if err := (Number{&v.Dst[i]}).Decode("one of "+key, c); err != nil {
			return err
		}
	}
	return nil
}

// describeCount describes a value of which the number of parts matters.
func describeCount(n *yaml.Node) string {
	switch {
	case n.Kind != yaml.SequenceNode || len(n.Content) == 0:
		return Describe(n)
	case len(n.Content) == 1:
		return "a list of one"
	}
	return fmt.Sprintf("a list of %d", len(n.Content))
}

func (v Interval) Encode() *yaml.Node {
	if *v.Dst == [2]float64{} {
		return nil
	}
	return flowList(v.Dst[:])
}

func (v Interval) Form() string { return "two numbers such as [0, 100]" }

// Numbers reads and writes a list of finite real numbers.
type Numbers struct {
	Dst  *[]float64
	Most int
}

func (v Numbers) Decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return At(n, "%s is %s; write a list of numbers such as [0, 1, 0.5]", key, Describe(n))
	}
	if len(n.Content) > v.Most {
		return At(n, "%s has more than %d entries; list fewer", key, v.Most)
	}
	list := make([]float64, len(n.Content))
	for i, c := range n.Content {
		if err := (Number{&list[i]}).Decode("one of "+key, c); err != nil {
			return err
		}
	}
	*v.Dst = list
	return nil
}

func (v Numbers) Encode() *yaml.Node {
	if len(*v.Dst) == 0 {
		return nil
	}
	return flowList(*v.Dst)
}

// flowList returns numbers as a YAML list in one line.
func flowList(numbers []float64) *yaml.Node {
	list := Flow()
	for _, x := range numbers {
		list.Content = append(list.Content, Bare(strconv.FormatFloat(x, 'g', -1, 64)))
	}
	return list
}

func (v Numbers) Form() string { return "a list of numbers such as [0, 1, 0.5]" }

// Words reads and writes a list of distinct words.
type Words struct {
	Dst     *[]string
	Most    int // greatest number of words
	Example string
}

func (v Words) Decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return At(n, "%s is %s; write a list such as %s", key, Describe(n), v.Example)
	}
	var list []string
	known := make(map[string]bool, len(n.Content))
	for _, c := range n.Content {
		s, err := scalar("one of "+key, c)
		switch {
		case err != nil:
			return err
		case known[s]:
			return At(c, "%s names %s twice; keep one", key, Quote(s))
		case len(list) == v.Most:
			return At(n, "%s has more than %d entries; list fewer", key, v.Most)
		}
		list, known[s] = append(list, s), true
	}
	*v.Dst = list
	return nil
}

func (v Words) Encode() *yaml.Node {
	if *v.Dst == nil {
		return nil
	}
	list := Flow()
	for _, s := range *v.Dst {
		list.Content = append(list.Content, Word(s))
	}
	return list
}

func (v Words) Form() string { return "a list such as " + v.Example }

// Weights reads and writes a map from class to a positive number.
type Weights struct{ Dst *map[string]float64 }

func (v Weights) Decode(key string, n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Value == "balanced" {
		return At(n, "%s: \"balanced\" goes with learner svc only; write a map such as {malignant: 2}", key)
	}
	if n.Kind != yaml.MappingNode {
		return At(n, "%s is %s; write a map such as {malignant: 2}", key, Describe(n))
	}
	m := make(map[string]float64)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := v.add(m, n.Content[i], n.Content[i+1]); err != nil {
			return err
		}
	}
	if len(m) > 0 {
		*v.Dst = m
	}
	return nil
}

func (v Weights) add(m map[string]float64, k, val *yaml.Node) error {
	class, err := scalar("a class", k)
	if err != nil {
		return err
	}
	if _, twice := m[class]; twice {
		return At(k, "class %s has two weights; keep one", Quote(class))
	}
	var w float64
	if err := (Number{&w}).Decode("the weight of class "+Quote(class), val); err != nil {
		return err
	}
	if w <= 0 {
		return At(val, "the weight of class %s is %g; write a number above 0", Quote(class), w)
	}
	m[class] = w
	return nil
}

func (v Weights) Encode() *yaml.Node {
	if len(*v.Dst) == 0 {
		return nil
	}
	m := Map()
	for _, class := range slices.Sorted(maps.Keys(*v.Dst)) {
		w := (*v.Dst)[class]
		m.Content = append(m.Content, Word(class), Number{&w}.Encode())
	}
	return m
}

func (v Weights) Form() string { return "a map such as {malignant: 2}" }

const maxQuoted = 60

// nearestWord returns the known word that is similar to word. It ignores words that are too long to
// compare.
func nearestWord(word string, known []string) (string, bool) {
	if len(word) > maxQuoted {
		return "", false
	}
	return fuzzymatch.Nearest(word, known...)
}

// Quote returns text from a file for a message, quoted and shortened.
func Quote(s string) string {
	if len(s) > maxQuoted {
		return strconv.Quote(s[:maxQuoted]) + "..."
	}
	return strconv.Quote(s)
}

// Describe returns a short description of a node's value for an error.
func Describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode && len(n.Content) == 0:
		return "an empty map"
	case n.Kind == yaml.MappingNode:
		return "a map"
	case n.Kind == yaml.SequenceNode && len(n.Content) == 0:
		return "an empty list"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "empty"
	}
	return Quote(n.Value)
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// Word returns a YAML node with s as text. It quotes s if YAML would read another value. Bytes that
// are not valid UTF-8 become a character that reading refuses.
func Word(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.ToValidUTF8(s, string(utf8.RuneError))}
}

// Bare returns a YAML node that writes a text without quotes, such as a number or true.
func Bare(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

// Flow returns a YAML list that is written in one line.
func Flow(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: items}
}

// Map returns a YAML map; content alternates between keys and values.
func Map(content ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: content}
}
