package section

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Place holds the lines of a section and its keys in the file, for the errors of Finish.
type Place struct {
	Line  int            // line of the section, from 1
	Lines map[string]int // line of each key in the file
	node  *yaml.Node     // the section itself; nil in an empty Place
}

// Given reports whether the file has the key. A key with dots, such as learner.alpha, is a key in an inner section.
func (p *Place) Given(key string) bool {
	if !strings.Contains(key, ".") {
		return p.Lines[key] > 0
	}
	in := p.node
	for name := range strings.SplitSeq(key, ".") {
		at := entry(in, name)
		if at < 0 {
			return false
		}
		in = in.Content[at+1]
	}
	return true
}

// Refuse returns an error at the line of key, or at the line of the section if the file lacks the
// key. A key with dots, such as data.test.fraction, is a key in an inner section; if the file lacks
// it, the line is that of the innermost section on the way that the file has.
func (p *Place) Refuse(key, format string, args ...any) error {
	return AtLine(p.lineOf(key), format, args...)
}

func (p *Place) lineOf(key string) int {
	line, in := p.Line, p.node
	for name := range strings.SplitSeq(key, ".") {
		at := entry(in, name)
		if at < 0 {
			return line
		}
		line, in = in.Content[at].Line, in.Content[at+1]
	}
	return line
}

// entry returns the index of a key in a map's content, or -1.
func entry(n *yaml.Node, key string) int {
	if n == nil || n.Kind != yaml.MappingNode {
		return -1
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// Positive refuses a number that is not above 0.
func (p *Place) Positive(key string, v float64) error {
	if v > 0 {
		return nil
	}
	return p.Refuse(key, "%s is %g; write a number above 0", key, v)
}

// NotNegative refuses a number below 0.
func (p *Place) NotNegative(key string, v float64) error {
	if v >= 0 {
		return nil
	}
	return p.Refuse(key, "%s is %g; write 0 or a number above 0", key, v)
}

// Share refuses a number that is not a share from 0 to below 1. The argument whole says in words
// what the number is a share of.
func (p *Place) Share(key, whole string, v float64) error {
	if v < 0 || v >= 1 {
		return p.Refuse(key, "%s is %g; write a share of %s from 0 to below 1, such as 0.1", key, v, whole)
	}
	return nil
}

// Fallback sets a number to its default v if the file lacks the key.
func (p *Place) Fallback(key string, dst *float64, v float64) {
	if !p.Given(key) {
		*dst = v
	}
}

// Count refuses a number below 1, and sets the default v if the file lacks the key.
func (p *Place) Count(key string, dst *int, v int) error {
	if !p.Given(key) {
		*dst = v
	}
	return p.atLeastOne(key, *dst)
}

// Some refuses a number below 1 if the file has the key.
func (p *Place) Some(key string, v int) error {
	if !p.Given(key) {
		return nil
	}
	return p.atLeastOne(key, v)
}

func (p *Place) atLeastOne(key string, v int) error {
	if v < 1 {
		return p.Refuse(key, "%s is %d; write a whole number from 1", key, v)
	}
	return nil
}
