package section

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Choice reads and writes one of a few known names.
type Choice[T ~string] struct {
	Noun  string // kind of thing that the names denote, for messages, such as "kernel"
	Dst   *T
	Known []T
}

func (v Choice[T]) Decode(key string, n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		return At(n, "%s is a list; this version takes one %s", key, v.Noun)
	}
	s, err := scalar(key, n)
	if err != nil {
		return err
	}
	if !slices.Contains(v.Known, T(s)) {
		return unknownName(n, v.Noun, s, v.Known)
	}
	*v.Dst = T(s)
	return nil
}

func (v Choice[T]) Encode() *yaml.Node {
	if *v.Dst == "" {
		return nil
	}
	return Word(string(*v.Dst))
}

func (v Choice[T]) Form() string { return "one of " + Join(v.Known) }

// Choices reads and writes a set of known names, in canonical order. It writes an empty set too,
// because an empty set is a choice.
type Choices[T ~string] struct {
	Noun  string
	Dst   *[]T
	Known []T
}

func (v Choices[T]) Decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return At(n, "%s is %s; write a list such as [%s]", key, Describe(n), Join(v.Known))
	}
	var given []T
	for _, c := range n.Content {
		var one T
		if err := (Choice[T]{v.Noun, &one, v.Known}).Decode(key, c); err != nil {
			return err
		}
		if slices.Contains(given, one) {
			return At(c, "%s names %s twice; keep one", key, one)
		}
		given = append(given, one)
	}
	*v.Dst = inKnownOrder(v.Known, given)
	return nil
}

// inKnownOrder returns the given names in the order of the known names.
func inKnownOrder[T ~string](known, given []T) []T {
	out := make([]T, 0, len(given))
	for _, k := range known {
		if slices.Contains(given, k) {
			out = append(out, k)
		}
	}
	return out
}

func (v Choices[T]) Encode() *yaml.Node {
	list := Flow()
	for _, s := range *v.Dst {
		list.Content = append(list.Content, Word(string(s)))
	}
	return list
}

func (v Choices[T]) Form() string { return "a list of " + Join(v.Known) }

// unknownName returns the error for an unknown name. It lists the known names, and suggests a
// similar one.
func unknownName[T ~string](n *yaml.Node, noun, got string, known []T) error {
	if near, ok := nearestWord(got, Texts(known)); ok {
		return At(n, "unknown %s %s; did you mean %q? This version has %s", noun, Quote(got), near, Join(known))
	}
	return At(n, "unknown %s %s; this version has %s", noun, Quote(got), Join(known))
}

// Texts converts names to strings.
func Texts[T ~string](names []T) []string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = string(n)
	}
	return list
}

// Join joins names with commas, for messages.
func Join[T ~string](names []T) string { return strings.Join(Texts(names), ", ") }
