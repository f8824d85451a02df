package section

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Values are the values of a section's keys: a pointer to a struct. They never
// change after reading, since copies of a job share them.
type Values interface {
	// Section declares the keys in canonical order, over the receiver's own
	// fields. Reading calls it on a fresh struct, writing on a filled one.
	Section() *Section
}

// Section is a map of the file.
type Section struct {
	Name   string // in messages
	Doc    string // one sentence about what the section chooses or describes; "" where its key has one
	Fields []Field
	// Foreign refuses a key that only other sections of this name have, and accepts
	// every other. Nil: there are no others.
	Foreign func(key, val *yaml.Node) error
	// Instead is a word that the file may have in place of the map. Nil: there is none.
	Instead *Instead
	// Finish checks the fields against each other once all are stored, and fills
	// the defaults that depend on them. Nil: nothing to do.
	Finish func(in *Place) error
}

// Instead is a word in place of a map.
type Instead struct {
	Word  string
	Given *bool // whether the file has the word
}

// Field is a key of a section.
type Field struct {
	Key   string
	Value Value
	// Doc describes the key in one sentence.
	Doc string
	// Default is decoded where the file lacks the key; "": the value stays as it is.
	Default string
	// Else describes a default that depends on other keys, in words.
	Else string
	// Need tells the user what to write where a file lacks the key; "" for a key that a file
	// may lack.
	Need string
	// List marks a number of which a job may list several to choose from.
	List bool
}

// Value is the value of a key: it knows its place in memory and its form in the file.
type Value interface {
	// Decode stores n; errors call it key.
	Decode(key string, n *yaml.Node) error
	// Encode returns a node that Decode reads, or nil for a value that is left out.
	Encode() *yaml.Node
	// Form describes what the file may hold: "a whole number".
	Form() string
}

// Decode reads a map; messages call the map by the section's name.
func (s *Section) Decode(_ string, n *yaml.Node) error {
	switch {
	case n.Kind == yaml.MappingNode:
	case n.Kind == yaml.SequenceNode:
		return At(n, "%s is a list; this version takes one map with %s", s.Name, s.list())
	case s.Instead != nil && n.Kind == yaml.ScalarNode && n.Value == s.Instead.Word:
		*s.Instead.Given = true
		return nil
	default:
		return At(n, "%s is %s; it must be %s", s.Name, Describe(n), s.Form())
	}
	in := &Place{Line: n.Line, Lines: make(map[string]int)}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := s.decodeKey(in, n.Content[i], n.Content[i+1]); err != nil {
			return err
		}
	}
	if err := s.complete(in); err != nil {
		return err
	}
	if s.Finish == nil {
		return nil
	}
	return s.Finish(in)
}

func (s *Section) decodeKey(in *Place, key, val *yaml.Node) error {
	f := s.find(key.Value)
	switch {
	case key.Kind != yaml.ScalarNode || f == nil:
		return s.unknown(key, val)
	case in.Given(f.Key):
		return At(key, "%s is given twice, first in line %d; keep one", f.Key, in.Lines[f.Key])
	}
	in.Lines[f.Key] = key.Line
	if val.Kind == yaml.MappingNode {
		val.Line = key.Line // a section stands where its name stands, not where its first key does
	}
	return f.Value.Decode(f.Key, val)
}

// complete refuses a file without a key that it needs, and stores the defaults
// of the other keys that it lacks.
func (s *Section) complete(in *Place) error {
	for _, f := range s.Fields {
		if f.Need != "" && !in.Given(f.Key) {
			return AtLine(in.Line, "%s has no %s; %s", s.Name, f.Key, f.Need)
		}
	}
	for _, f := range s.Fields {
		if f.Default == "" || in.Given(f.Key) {
			continue
		}
		if err := f.fallback(); err != nil {
			panic(fmt.Sprintf("section: default of %s: %v", f.Key, err)) // the declaration is wrong, not the file
		}
	}
	return nil
}

func (f *Field) fallback() error {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(f.Default), &doc); err != nil {
		return err
	}
	return f.Value.Decode(f.Key, doc.Content[0])
}

func (s *Section) find(key string) *Field {
	for i := range s.Fields {
		if s.Fields[i].Key == key {
			return &s.Fields[i]
		}
	}
	return nil
}

func (s *Section) unknown(key, val *yaml.Node) error {
	if key.Kind != yaml.ScalarNode {
		return At(key, "a key of %s is %s; it must be one of %s", s.Name, Describe(key), s.list())
	}
	if s.Foreign != nil {
		if err := s.Foreign(key, val); err != nil {
			return err
		}
	}
	if near, ok := nearest(key.Value, s.Keys()); ok {
		return At(key, "unknown key %s in %s; did you mean %q?", Quote(key.Value), s.Name, near)
	}
	return At(key, "unknown key %s in %s; it may have %s", Quote(key.Value), s.Name, s.list())
}

// Keys lists the keys in canonical order.
func (s *Section) Keys() []string {
	keys := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		keys[i] = f.Key
	}
	return keys
}

// Lists lists the keys that may hold a list of numbers, in canonical order.
func (s *Section) Lists() []string {
	var keys []string
	for _, f := range s.Fields {
		if f.List {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

func (s *Section) list() string { return strings.Join(s.Keys(), ", ") }

// Encode writes the canonical map, or nil for one without keys.
func (s *Section) Encode() *yaml.Node {
	if s.Instead != nil && *s.Instead.Given {
		return Word(s.Instead.Word)
	}
	m := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, f := range s.Fields {
		if v := f.Value.Encode(); v != nil {
			m.Content = append(m.Content, Word(f.Key), v)
		}
	}
	if len(m.Content) == 0 {
		return nil
	}
	return m
}

// Form names the keys, and the word that may stand instead.
func (s *Section) Form() string {
	if s.Instead != nil {
		return "a map with " + s.list() + ", or " + s.Instead.Word
	}
	return "a map with " + s.list()
}

// Error describes a mistake in a job file, in one sentence that tells the user what to do.
type Error struct {
	File    string
	Line    int // 1-based
	Problem string
	cause   error // what the problem's sentence wraps, or nil
}

// Unwrap returns what the problem wraps.
func (e *Error) Unwrap() error { return e.cause }

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem) }

// At makes an error at the line of a node.
func At(n *yaml.Node, format string, args ...any) error { return AtLine(n.Line, format, args...) }

// AtLine makes an error at a line.
func AtLine(line int, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &Error{Line: max(line, 1), Problem: err.Error(), cause: errors.Unwrap(err)}
}

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
