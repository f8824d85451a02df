package job

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/spell"
)

// A value is something that a key can hold: it knows its place in the Job and
// its form in the file.
type value interface {
	// decode stores what n holds; key is what the file calls it.
	decode(key string, n *yaml.Node) error
	// encode returns what decode reads, or nil for what is left out.
	encode() *yaml.Node
}

// A field is a key of a section. With need set the key must be there, and need
// says what to write.
type field struct {
	key   string
	value value
	need  string
}

// A section is a map of the file, declared once for reading and writing. Its
// fields stand in canonical order.
type section struct {
	name   string // what messages call it
	fields []field
	// finish, when set, checks the fields against each other once all are
	// stored, and fills defaults that depend on them.
	finish func(in *place) error
}

// place is where a section stood in the file, for the errors of finish.
type place struct {
	line int
	keys map[string]int // line of each key that was given
}

// given reports whether the file has the key.
func (p *place) given(key string) bool { return p.keys[key] > 0 }

// refuse is an error at the line of key, or of the section if it lacks the key.
func (p *place) refuse(key, format string, args ...any) error {
	if p.given(key) {
		return atLine(p.keys[key], format, args...)
	}
	return atLine(p.line, format, args...)
}

// positive refuses a number that is not above 0.
func (p *place) positive(key string, v float64) error {
	if v > 0 {
		return nil
	}
	return p.refuse(key, "%s is %g; write a number above 0", key, v)
}

// fallback sets the default of a key that the file lacks.
func (p *place) fallback(key string, dst *float64, v float64) {
	if !p.given(key) {
		*dst = v
	}
}

// count refuses a number below 1 and sets the default of a key that the file
// lacks.
func (p *place) count(key string, dst *int, v int) error {
	if !p.given(key) {
		*dst = v
	}
	if *dst < 1 {
		return p.refuse(key, "%s is %d; write a whole number from 1", key, *dst)
	}
	return nil
}

// some refuses a number below 1, if there is one.
func (p *place) some(key string, v int) error {
	if p.given(key) && v < 1 {
		return p.refuse(key, "%s is %d; write a whole number from 1", key, v)
	}
	return nil
}

func (s *section) decode(_ string, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
	case yaml.SequenceNode:
		return at(n, "%s is a list; this version takes one map with %s", s.name, s.list())
	default:
		return at(n, "%s is %s; it must be a map with %s", s.name, describe(n), s.list())
	}
	in := &place{line: n.Line, keys: make(map[string]int)}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := s.decodeKey(in, n.Content[i], n.Content[i+1]); err != nil {
			return err
		}
	}
	for _, f := range s.fields {
		if f.need != "" && !in.given(f.key) {
			return atLine(in.line, "%s has no %s; %s", s.name, f.key, f.need)
		}
	}
	if s.finish == nil {
		return nil
	}
	return s.finish(in)
}

func (s *section) decodeKey(in *place, key, val *yaml.Node) error {
	f := s.find(key.Value)
	switch {
	case key.Kind != yaml.ScalarNode || f == nil:
		return s.unknown(key)
	case in.given(f.key):
		return at(key, "%s is given twice, first in line %d; keep one", f.key, in.keys[f.key])
	}
	in.keys[f.key] = key.Line
	if val.Kind == yaml.MappingNode {
		val.Line = key.Line // a section stands where its name stands, not where its first key does
	}
	return f.value.decode(f.key, val)
}

func (s *section) find(key string) *field {
	for i := range s.fields {
		if s.fields[i].key == key {
			return &s.fields[i]
		}
	}
	return nil
}

func (s *section) unknown(key *yaml.Node) error {
	if key.Kind != yaml.ScalarNode {
		return at(key, "a key of %s is %s; it must be one of %s", s.name, describe(key), s.list())
	}
	if near, ok := nearest(key.Value, s.keys()); ok {
		return at(key, "unknown key %s in %s; did you mean %q?", quote(key.Value), s.name, near)
	}
	return at(key, "unknown key %s in %s; it may have %s", quote(key.Value), s.name, s.list())
}

func (s *section) keys() []string {
	keys := make([]string, len(s.fields))
	for i, f := range s.fields {
		keys[i] = f.key
	}
	return keys
}

// list names the keys.
func (s *section) list() string { return strings.Join(s.keys(), ", ") }

func (s *section) encode() *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, f := range s.fields {
		if v := f.value.encode(); v != nil {
			m.Content = append(m.Content, textNode(f.key), v)
		}
	}
	if len(m.Content) == 0 {
		return nil
	}
	return m
}

// nearest is spell.Nearest for words of a sane length.
func nearest(word string, known []string) (string, bool) {
	if len(word) > maxQuoted {
		return "", false
	}
	return spell.Nearest(word, known...)
}

const maxQuoted = 60

// quote shows foreign text in a message, shortened.
func quote(s string) string {
	if len(s) > maxQuoted {
		return strconv.Quote(s[:maxQuoted]) + "..."
	}
	return strconv.Quote(s)
}

// describe says what a node is to someone who expected something else.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a map"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "empty"
	}
	return quote(n.Value)
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// textNode is s as text, quoted where YAML would read something else. YAML
// holds valid UTF-8 only; what is not becomes a character that scalar refuses.
func textNode(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.ToValidUTF8(s, string(utf8.RuneError))}
}
