// Package sectiontest tests that a declaration of keys agrees with what the reader does.
package sectiontest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// Declared fails the test if a key has no description, or has no stated default. It reads text, a
// map with only the required keys. It fails if another key then lacks its default, or if the
// canonical form gives other values.
func Declared(t *testing.T, fresh func() section.Values, text string) {
	t.Helper()
	given, read := parse(t, text), fresh()
	s := read.Section()
	if err := s.Decode(s.Name, given); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for i, f := range s.Fields {
		switch {
		case !strings.HasSuffix(f.Doc, ".") || strings.Contains(f.Doc, "\n"):
			t.Errorf("%s: key %s has the description %q, which is not one sentence in one line", s.Name, f.Key, f.Doc)
		case f.Need == "" && f.Default == "" && f.Else == "":
			t.Errorf("%s: key %s may be missing, but has no default and no text on what happens then", s.Name, f.Key)
		case f.Value.Form() == "":
			t.Errorf("%s: key %s does not state its form", s.Name, f.Key)
		}
		if f.Default == "" || has(given, f.Key) {
			continue
		}
		other := fresh().Section().Fields[i]
		if err := other.Value.Decode(f.Key, parse(t, f.Default)); err != nil {
			t.Fatalf("%s: default of %s: %v", s.Name, f.Key, err)
		}
		if want, got := write(t, other.Value), write(t, f.Value); want != got {
			t.Errorf("%s: without the key %s is %q, and its default is %q", s.Name, f.Key, got, want)
		}
	}
	again := fresh()
	if err := again.Section().Decode(s.Name, parse(t, write(t, s))); err != nil {
		t.Errorf("%s: the canonical form is refused: %v", s.Name, err)
	} else if d := cmp.Diff(read, again); d != "" {
		t.Errorf("%s: the canonical form gives other values:\n%s", s.Name, d)
	}
}

func parse(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}

func has(n *yaml.Node, key string) bool {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return true
		}
	}
	return false
}

// write returns the canonical text of a value; "{}" for a value that the file omits.
func write(t *testing.T, v section.Value) string {
	t.Helper()
	n := v.Encode()
	if n == nil {
		return "{}"
	}
	text, err := yaml.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
