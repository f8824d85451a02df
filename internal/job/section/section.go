package section

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/strictyaml"
)

// Values holds the values of a section's keys; its implementations are pointers to structs. Values
// never change after reading, because copies of a job share them.
type Values interface {
	// Section declares the keys in canonical order, with pointers to the receiver's fields. A
	// reader calls Section on an empty struct, and a writer on a filled one.
	Section() *Section
}

// Section declares a map in the file with its keys and checks.
type Section struct {
	Name   string // name of the section in messages
	Doc    string // one sentence about the section; "" if its key has one
	Fields []Field
	// Foreign returns an error for a key that belongs to another section with the same name, and perhaps
	// for one that is similar to such a key. It returns nil for every other key. Foreign itself is nil if
	// no other section has the name.
	Foreign func(key, val *yaml.Node) error
	// Instead is a word that the file can have in place of the whole section. It is nil if there is
	// no such word.
	Instead *Instead
	// Finish checks the stored fields against each other, and sets the defaults that depend on
	// other fields. It can be nil.
	Finish func(in *Place) error
}

// Instead is a word that the file can have in place of a map.
type Instead struct {
	Word  string
	Given *bool // whether the file has the word
}

// Field declares a key of a section.
type Field struct {
	Key   string
	Value Value
	// Doc describes the key in one sentence.
	Doc string
	// Default is decoded if the file lacks the key. If it is "", the value stays unchanged.
	Default string
	// Else says in words what applies if the file lacks the key: in place of Default, or if other keys
	// change it.
	Else string
	// Need tells the user what to write if a file lacks the key. It is "" for an optional key.
	Need string
	// List reports whether a job can list several numbers under the key. Cross-validation, or the
	// protocol's own rule, then chooses one of them.
	List bool
}

// Value reads and writes the value of a key between memory and the file.
type Value interface {
	// Decode stores the value of node n. Errors call the value key.
	Decode(key string, n *yaml.Node) error
	// Encode returns a node that Decode reads, or nil for a value that the file omits.
	Encode() *yaml.Node
	// Form describes the allowed values in the file, such as "a whole number".
	Form() string
}

// Decode reads a map into the declared fields, or the section's word in its place (Instead). Errors use the
// section's name.
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
	in := &Place{Line: n.Line, Lines: make(map[string]int), node: n}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := s.decodeKey(in, n.Content[i], n.Content[i+1]); err != nil {
			return err
		}
	}
	if err := s.storeDefaults(in); err != nil {
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
		val.Line = key.Line // a section's line is that of its name, not of its first key
	}
	return f.Value.Decode(f.Key, val)
}

// storeDefaults refuses a file that lacks a required key, and stores the defaults of other missing
// keys.
func (s *Section) storeDefaults(in *Place) error {
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
	if near, ok := nearestWord(key.Value, s.Keys()); ok {
		return At(key, "unknown key %s in %s; did you mean %q?", Quote(key.Value), s.Name, near)
	}
	return At(key, "unknown key %s in %s; it may have %s%s", Quote(key.Value), s.Name, s.list(), strictyaml.KeyAdvice(key.Value))
}

// Keys lists the keys in canonical order.
func (s *Section) Keys() []string {
	keys := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		keys[i] = f.Key
	}
	return keys
}

// Lists lists the keys that can hold a list of numbers, in canonical order.
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

// Encode returns the canonical map, or nil if it has no keys. If the section's word is given in its place
// (Instead), it returns the word.
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

// Form lists the keys of the map, and the word that can replace the map.
func (s *Section) Form() string {
	if s.Instead != nil {
		return "a map with " + s.list() + ", or " + s.Instead.Word
	}
	return "a map with " + s.list()
}

// Error describes a mistake in a job file, or in the file of a dictionary or a study, and tells the user what
// to do.
type Error struct {
	File    string
	Line    int // line of the mistake, from 1
	Problem string
	cause   error // an error that caused this one, or nil
}

// Unwrap returns the error that caused this one, or nil.
func (e *Error) Unwrap() error { return e.cause }

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem) }

// At returns an error at the line of a node.
func At(n *yaml.Node, format string, args ...any) error { return AtLine(n.Line, format, args...) }

// AtLine returns an error at a line.
func AtLine(line int, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &Error{Line: max(line, 1), Problem: err.Error(), cause: errors.Unwrap(err)}
}

// String returns the values of a section as text, in the order of its keys, beginning with the
// name. It omits values that the file would omit.
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

// maxListed is the greatest number of list entries that String writes in full.
const maxListed = 12

// nodeText returns a value as one line of text. For a long list it gives only the number of
// entries.
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
