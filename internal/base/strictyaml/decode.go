// Package strictyaml decodes YAML into Go structures. It refuses unknown keys, and its errors
// are single sentences without the names of Go types.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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

// Decode decodes a text that holds one document. For a text without a document, such as an empty one, it
// returns io.EOF; every other error is an *Error.
func Decode(text []byte, into any) error {
	if err := NotUTF8(text); err != nil && !isUTF16(text) {
		return err
	}
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
		return inWords(list.Errors[0], reflect.TypeOf(into), parsed(text))
	}
	return SyntaxError(text, err)
}

// NotUTF8 returns an error about the first line that is not UTF-8, or nil. The YAML parser reports
// such a fault without its line.
func NotUTF8(text []byte) *Error {
	for i, line := range bytes.Split(text, []byte("\n")) {
		if !utf8.Valid(line) {
			return &Error{i + 1, "this line is not UTF-8 text; save the file as UTF-8"}
		}
	}
	return nil
}

// isUTF16 reports whether a text begins with the byte order mark of UTF-16, an encoding that the YAML
// parser accepts.
func isUTF16(text []byte) bool {
	return bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff})
}

// SyntaxError returns the YAML parser's error about a text, with its line. If version control or a word processor
// has left a line that is not YAML, such as the mark of a merge conflict, the error is about that line.
func SyntaxError(text []byte, err error) *Error {
	if known := strayLine(text); known != nil {
		return known
	}
	problem, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
	if m := atLine.FindStringSubmatch(problem); m != nil {
		line, _ = strconv.Atoi(m[1]) // digits
		problem = m[2]
	}
	switch {
	case ofGrammar.MatchString(problem):
		line++ // the parser's grammar counts lines from 0, its scanner from 1
	case strings.HasPrefix(problem, "control characters"):
		line = lineAt(text, bytes.IndexFunc(text, forbidden))
	case noAnchor.MatchString(problem):
		line = lineAt(text, bytes.Index(text, []byte("*"+noAnchor.FindStringSubmatch(problem)[1])))
		problem += "; write text that begins with * in quotes"
	case strings.HasSuffix(problem, "alphabetic or numeric character"):
		problem = "write text that begins with * or & in quotes"
	case strings.Contains(problem, "tab character"), strings.Contains(problem, "cannot start any token") && tabbed(text, line):
		problem = "a tab indents this line; indent by blanks"
	}
	return &Error{max(line, 1), "this is not YAML: " + problem}
}

// strayLine returns an error about the first line that version control or a word processor has left in a text,
// or nil.
func strayLine(text []byte) *Error {
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSuffix(line, "\r")
		indent := line[:len(line)-len(strings.TrimLeftFunc(line, unicode.IsSpace))]
		switch {
		case strings.HasPrefix(line, "<<<<<<< "), strings.HasPrefix(line, ">>>>>>> "), line == "=======":
			return &Error{i + 1, "this line marks a merge conflict; keep one version of what is between the marks"}
		case strings.Trim(indent, " \t\v\f\r\u0085") != "":
			return &Error{i + 1, "a no-break or other wide blank indents this line; indent by plain blanks"}
		}
	}
	return nil
}

// lineAt returns the line of the byte with the given index, or 1 for the index -1.
func lineAt(text []byte, index int) int {
	return 1 + bytes.Count(text[:max(0, index)], []byte("\n"))
}

// forbidden reports whether YAML does not allow the character.
func forbidden(r rune) bool {
	return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\u0085", r) || r == 0xfffe || r == 0xffff
}

// tabbed reports whether a tab is in the indentation of the line.
func tabbed(text []byte, line int) bool {
	lines := bytes.Split(text, []byte("\n"))
	if line < 1 || line > len(lines) {
		return false
	}
	words := bytes.TrimLeft(lines[line-1], " \t")
	return bytes.ContainsRune(lines[line-1][:len(lines[line-1])-len(words)], '\t')
}

// parsed returns the first document of a text, or nil if there is none.
func parsed(text []byte) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil || len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
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
		return &Error{lineIn(n, parsed(text), problem.Line), problem.Problem}
	}
	return err
}

// Nested decodes a node inside of another type's UnmarshalYAML. Its errors name the line as yaml's own
// errors do.
func Nested(n *yaml.Node, into any) error {
	err := DecodeNode(n, into)
	var problem *Error
	if errors.As(err, &problem) {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %s", problem.Line, problem.Problem)}}
	}
	return err
}

// lineIn returns the line of the value in n whose copy in rewritten begins on the given line. The
// two nodes n and rewritten hold the same document, written in two ways. If no value begins there,
// lineIn returns n's line.
func lineIn(n, rewritten *yaml.Node, line int) int {
	found := n.Line
	var walk func(n, rewritten *yaml.Node) bool
	walk = func(n, rewritten *yaml.Node) bool {
		if rewritten.Line == line && rewritten.Kind == yaml.ScalarNode {
			found = n.Line
			return true
		}
		for i := range min(len(n.Content), len(rewritten.Content)) {
			if walk(n.Content[i], rewritten.Content[i]) {
				return true
			}
		}
		return false
	}
	if rewritten != nil {
		walk(n, rewritten)
	}
	return found
}

var (
	atLine    = regexp.MustCompile(`(?s)^line (\d+): (.*)$`)
	ofGrammar = regexp.MustCompile(`^did not find expected (<|node|'-'|key|',')|^found (undefined|duplicate|incompatible)`)
	noAnchor  = regexp.MustCompile(`^unknown anchor '(.+)' referenced$`)
	unknown   = regexp.MustCompile(`^field (.+) not found in type (.+)$`)
	repeated  = regexp.MustCompile(`^mapping key (".*") already defined at line (\d+)$`)
	kinds     = regexp.MustCompile("(?s)^cannot unmarshal !!(\\w+)(?: `(.*)`)? into (.+)$")
)

// inWords rewrites an error of the decoder without names of Go types. The document doc tells which
// key has the value that the error is about.
func inWords(problem string, into reflect.Type, doc *yaml.Node) error {
	e := &Error{Problem: problem}
	if m := atLine.FindStringSubmatch(problem); m != nil {
		e.Line, _ = strconv.Atoi(m[1]) // digits
		e.Problem = m[2]
	}
	if m := kinds.FindStringSubmatch(e.Problem); m != nil {
		e.Problem = fmt.Sprintf("%s %s; write %s", subject(doc, e.Line, m[1], m[2]), given(m[1], m[2]), wanted(m[3]))
	} else if m := unknown.FindStringSubmatch(e.Problem); m != nil {
		e.Problem = unknownKey(m[1], m[2], into)
	} else if m := repeated.FindStringSubmatch(e.Problem); m != nil {
		e.Problem = fmt.Sprintf("%s is given twice; keep one", m[1])
	}
	return e
}

// unknownKey returns the sentence about a key that the structure of the given type lacks.
func unknownKey(key, typ string, into reflect.Type) string {
	t := find(into, typ)
	known := keysOf(t)
	if near, ok := fuzzymatch.Nearest(key, known...); ok {
		return fmt.Sprintf("unknown key %q; did you mean %q?", key, near)
	}
	for field, name := range fields(t) {
		if slices.Contains(keysOf(field.Type), key) {
			return fmt.Sprintf("unknown key %q here; it belongs in %s", key, name)
		}
	}
	return fmt.Sprintf("unknown key %q; known keys: %s%s", key, strings.Join(known, ", "), KeyAdvice(key))
}

// KeyAdvice returns advice to append to the error about an unknown key, or "". A key of digits is what a decimal
// comma leaves in a map on one line: in {gamma: 0,5} it is 5. A no-break blank that indents a line belongs to its key.
func KeyAdvice(key string) string {
	switch {
	case key == "":
	case strings.Trim(key, "0123456789") == "":
		return "; write numbers with a decimal point, such as 0." + key
	case strings.TrimFunc(key, unicode.IsSpace) != key:
		return "; a no-break or other wide blank stands beside the key, so write plain blanks"
	}
	return ""
}

// subject returns the words "KEY is" for the key whose value on the given line has the kind and the
// text. It returns "found" unless exactly one value of the document has them, under a key.
func subject(doc *yaml.Node, line int, kind, text string) string {
	var keys []string
	var walk func(key string, n *yaml.Node)
	walk = func(key string, n *yaml.Node) {
		if n != doc && n.Line == line && n.ShortTag() == "!!"+kind && (n.Kind != yaml.ScalarNode || sameText(n.Value, text)) {
			keys = append(keys, key)
		}
		for i, part := range n.Content {
			switch {
			case n.Kind == yaml.SequenceNode:
				walk("", part)
			case i%2 == 1:
				walk(n.Content[i-1].Value, part)
			}
		}
	}
	if doc != nil {
		walk("", doc)
	}
	if len(keys) != 1 || keys[0] == "" {
		return "found"
	}
	return keys[0] + " is"
}

// sameText reports whether the decoder quotes value as text. It shortens long values.
func sameText(value, text string) bool {
	start, cut := strings.CutSuffix(text, "...")
	return value == text || cut && strings.HasPrefix(value, start)
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
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "a whole number"
	case kind == "bool":
		return "true or false"
	case kind == "float64":
		return "a number"
	case kind == "string":
		return "one word"
	case kind == positive:
		return "a whole number above 0"
	case kind == days:
		return "a time above zero, such as 30d, 12h or 90s"
	}
	return "a map"
}

// find returns the structure with the given name that is t or is inside t, or nil.
func find(t reflect.Type, name string) reflect.Type {
	t = structure(t)
	if t == nil || t.String() == name {
		return t
	}
	for field := range fields(t) {
		if found := find(field.Type, name); found != nil {
			return found
		}
	}
	return nil
}

// structure returns the structure that t is, points to, or holds in a list or map. It returns nil if
// there is none.
func structure(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() != reflect.Struct {
		switch t.Kind() {
		case reflect.Map, reflect.Pointer, reflect.Slice:
			t = t.Elem()
		default:
			t = nil
		}
	}
	return t
}

// keysOf lists the keys of t's structure, without those of structures in it.
func keysOf(t reflect.Type) []string {
	var keys []string
	for _, name := range fields(t) {
		keys = append(keys, name)
	}
	return keys
}

// fields yields the fields of t's structure that have a key in a file, each with its key. Fields of
// an inlined structure count as the structure's own. It yields nothing if t holds no structure.
func fields(t reflect.Type) iter.Seq2[reflect.StructField, string] {
	return func(yield func(reflect.StructField, string) bool) {
		if t = structure(t); t == nil {
			return
		}
		for i := range t.NumField() {
			f := t.Field(i)
			name, rest, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			switch {
			case rest == "inline":
				for inner, name := range fields(f.Type) {
					if !yield(inner, name) {
						return
					}
				}
			case name != "" && name != "-":
				if !yield(f, name) {
					return
				}
			}
		}
	}
}
