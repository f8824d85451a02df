package section

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Choice reads and writes one of a few known names.
type Choice[T ~string] struct {
	Noun  string // kind of thing that the names denote, for messages, such as "kernel"
	Dst   *T
	Known []T
	Other map[string]T // names in lower case that other programs give to known ones; nil for none
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
		return v.unknown(n, s)
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
		if err := (Choice[T]{Noun: v.Noun, Dst: &one, Known: v.Known}).Decode(key, c); err != nil {
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

// unknown returns the error for an unknown name. It lists the known names, and suggests a similar one, or the one
// that another program calls so.
func (v Choice[T]) unknown(n *yaml.Node, got string) error {
	near := string(v.Other[strings.ToLower(got)])
	if !slices.Contains(v.Known, T(near)) {
		near = ""
	}
	if near == "" {
		if word, ok := nearestWord(got, Texts(v.Known)); ok {
			near = word
		}
	}
	return At(n, "%w", &UnknownName{Noun: v.Noun, Got: got, Near: near, Known: Texts(v.Known), Of: "this version has"})
}

// UnknownName is the error about a name that a file cannot use.
type UnknownName struct {
	Noun, Got string
	Near      string   // known name that might be meant; "" for none
	Known     []string // names that the file can use
	Of        string   // the words before the known names, such as "this version has"
}

func (e *UnknownName) Error() string {
	of, meant := e.Of, ""
	if e.Near != "" {
		meant = fmt.Sprintf(" did you mean %q?", e.Near)
		of = strings.ToUpper(of[:1]) + of[1:]
	}
	return fmt.Sprintf("unknown %s %s;%s %s %s", e.Noun, Quote(e.Got), meant, of, Join(e.Known))
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
