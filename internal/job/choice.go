package job

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// choice is one of a few names.
type choice[T ~string] struct {
	noun  string // what one of them is called: "kernel"
	dst   *T
	known []T
	later []T // names that the project plans and this version does not run
}

func (v choice[T]) decode(key string, n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		return at(n, "%s is a list; this version takes one %s", key, v.noun)
	}
	s, err := scalar(key, n)
	if err != nil {
		return err
	}
	if slices.Contains(v.later, T(s)) {
		return at(n, "%s %q is not in this version; it runs %s", v.noun, s, join(v.known))
	}
	if !slices.Contains(v.known, T(s)) {
		return unknownName(n, v.noun, s, v.known, v.later)
	}
	*v.dst = T(s)
	return nil
}

func (v choice[T]) encode() *yaml.Node {
	if *v.dst == "" {
		return nil
	}
	return textNode(string(*v.dst))
}

// choices is a set of names, stored in canonical order and always written: no
// names is a choice too.
type choices[T ~string] struct {
	noun  string
	dst   *[]T
	known []T
}

func (v choices[T]) decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return at(n, "%s is %s; write a list such as [%s]", key, describe(n), join(v.known))
	}
	var given []T
	for _, c := range n.Content {
		var one T
		if err := (choice[T]{v.noun, &one, v.known, nil}).decode(key, c); err != nil {
			return err
		}
		if slices.Contains(given, one) {
			return at(c, "%s names %s twice; keep one", key, one)
		}
		given = append(given, one)
	}
	*v.dst = ordered(v.known, given)
	return nil
}

// ordered returns the given names in the order of the known ones.
func ordered[T ~string](known, given []T) []T {
	out := make([]T, 0, len(given))
	for _, k := range known {
		if slices.Contains(given, k) {
			out = append(out, k)
		}
	}
	return out
}

func (v choices[T]) encode() *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, s := range *v.dst {
		list.Content = append(list.Content, textNode(string(s)))
	}
	return list
}

// unknownName lists what there is, and the nearest when one is near.
func unknownName[T ~string](n *yaml.Node, noun, got string, known, later []T) error {
	all := make([]string, 0, len(known)+len(later))
	for _, k := range slices.Concat(known, later) {
		all = append(all, string(k))
	}
	if near, ok := nearest(got, all); ok {
		return at(n, "unknown %s %s; did you mean %q? This version has %s", noun, quote(got), near, join(known))
	}
	return at(n, "unknown %s %s; this version has %s", noun, quote(got), join(known))
}

func join[T ~string](names []T) string {
	return strings.Join(texts(names), ", ")
}
