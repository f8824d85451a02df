// Package strictyaml decodes YAML into Go structures. It refuses unknown keys, and its errors
// are single sentences without the names of Go types.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
)

// Error reports why a text was refused.
type Error struct {
	Line    int // line number from 1; 0 for the text as a whole
	Problem string
}

// Error returns the reason without the line number.
func (e *Error) Error() string { return e.Problem }

// Decode decodes a text that holds one document. For an empty text it returns io.EOF; every other
// error is an *Error.
func Decode(text []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	err := d.Decode(into)
	var list *yaml.TypeError
	switch {
	case err == nil:
		return ended(d)
	case errors.Is(err, io.EOF):
		return err
	case errors.As(err, &list) && len(list.Errors) > 0:
		return inWords(list.Errors[0], reflect.TypeOf(into))
	}
	return &Error{Problem: "this is not YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}
}

// ended returns an error if there is text after the first document, because nothing would read that
// text.
func ended(d *yaml.Decoder) error {
	var next yaml.Node
	if err := d.Decode(&next); errors.Is(err, io.EOF) {
		return nil
	}
	return &Error{next.Line, "something follows the first YAML document; write one document in a file"}
}

// DecodeNode decodes a part of a document. Its line numbers count from the first line of the
// document.
func DecodeNode(n *yaml.Node, into any) error {
	text, err := yaml.Marshal(n)
	if err != nil {
		return &Error{n.Line, err.Error()}
	}
	err = Decode(text, into)
	var problem *Error
	if errors.As(err, &problem) {
		return &Error{n.Line, problem.Problem}
	}
	return err
}

var (
	atLine  = regexp.MustCompile(`^line (\d+): (.*)$`)
	unknown = regexp.MustCompile(`^field (.+) not found in type `)
	kinds   = regexp.MustCompile("^cannot unmarshal !!(\\w+)(?: `(.*)`)? into (.+)$")
)

// inWords rewrites an error of the decoder without names of Go types. t is the type that was
// decoded.
func inWords(problem string, t reflect.Type) error {
	e := &Error{Problem: problem}
	if m := atLine.FindStringSubmatch(problem); m != nil {
		e.Line, _ = strconv.Atoi(m[1]) // digits
		e.Problem = m[2]
	}
	if m := kinds.FindStringSubmatch(e.Problem); m != nil {
		e.Problem = fmt.Sprintf("found %s; write %s", given(m[1], m[2]), wanted(m[3]))
	}
	if m := unknown.FindStringSubmatch(e.Problem); m != nil {
		e.Problem = unknownKey(m[1], t)
	}
	return e
}

// unknownKey returns the problem of a key that is unknown where it stands. The type may have the key
// elsewhere.
func unknownKey(key string, t reflect.Type) string {
	known := keysOf(t)
	near, found := fuzzymatch.Nearest(key, known...)
	switch parents := parentsOf(t, key); {
	case parents != nil:
		return fmt.Sprintf("unknown key %q here; it belongs under %s", key, strings.Join(parents, " or "))
	case slices.Contains(known, key):
		return fmt.Sprintf("unknown key %q here; it belongs to an outer level", key)
	case found:
		return fmt.Sprintf("unknown key %q; did you mean %q?", key, near)
	}
	return fmt.Sprintf("unknown key %q; there are %s", key, strings.Join(known, ", "))
}

// given describes the value that the file holds.
func given(kind, value string) string {
	switch kind {
	case "seq":
		return "a list"
	case "map":
		return "a map"
	}
	return strconv.Quote(value)
}

// wanted describes the expected Go type.
func wanted(kind string) string {
	switch {
	case strings.HasPrefix(kind, "[]"):
		return "a list"
	case kind == "int":
		return "a whole number"
	case kind == "bool":
		return "true or false"
	case kind == "float64":
		return "a number"
	case kind == "string":
		return "one word"
	}
	return "a map"
}

// structure returns the structure that a type's values are made of. It returns false for other types.
func structure(t reflect.Type) (reflect.Type, bool) {
	for t.Kind() == reflect.Map || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t, t.Kind() == reflect.Struct
}

// parentsOf lists the keys of a structure whose own structures have the key.
func parentsOf(t reflect.Type, key string) (parents []string) {
	t, ok := structure(t)
	if !ok {
		return nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case name == "" && rest == "inline":
			parents = append(parents, parentsOf(f.Type, key)...)
		case name != "" && name != "-" && slices.Contains(keysOf(f.Type), key):
			parents = append(parents, name)
		}
	}
	return parents
}

// keysOf lists the keys of a structure and of its nested structures, each key once.
func keysOf(t reflect.Type) []string {
	var keys []string
	add := func(list ...string) {
		for _, key := range list {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	t, ok := structure(t)
	if !ok {
		return nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case name == "-":
			continue // the field has no key in a file
		case name != "":
			add(name)
		case rest != "inline":
			continue // the type decodes itself
		}
		add(keysOf(f.Type)...)
	}
	return keys
}
