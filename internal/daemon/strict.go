package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/spell"
)

// strict decodes a configuration. Its errors are one sentence that begins with
// the line, for which the caller gives the file.
func strict(b []byte, c *Config) error {
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	err := d.Decode(c)
	var list *yaml.TypeError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("1: the file is empty; write name: and the member's name")
	case errors.As(err, &list) && len(list.Errors) > 0:
		return inWords(list.Errors[0])
	case err != nil:
		return fmt.Errorf(" this is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return nil
}

var (
	atLine  = regexp.MustCompile(`^line (\d+): (.*)$`)
	unknown = regexp.MustCompile(`^field (.+) not found in type `)
	noInt   = regexp.MustCompile("^cannot unmarshal !!\\w+ `(.*)` into int$")
	noBool  = regexp.MustCompile("^cannot unmarshal !!\\w+ `(.*)` into bool$")
)

// inWords takes the names of Go types out of what the decoder says.
func inWords(problem string) error {
	m := atLine.FindStringSubmatch(problem)
	if m == nil {
		return fmt.Errorf(" %s", problem)
	}
	line, problem := m[1], m[2]
	if m := noInt.FindStringSubmatch(problem); m != nil {
		return fmt.Errorf("%s: %q stands where a whole number belongs", line, m[1])
	}
	if m := noBool.FindStringSubmatch(problem); m != nil {
		return fmt.Errorf("%s: %q stands where true or false belongs", line, m[1])
	}
	m = unknown.FindStringSubmatch(problem)
	if m == nil {
		return fmt.Errorf("%s: %s", line, problem)
	}
	known := keysOf(reflect.TypeFor[Config]())
	if near, ok := spell.Nearest(m[1], known...); ok {
		return fmt.Errorf("%s: unknown key %q; did you mean %q?", line, m[1], near)
	}
	return fmt.Errorf("%s: unknown key %q; a configuration has %s", line, m[1], strings.Join(known, ", "))
}

// keysOf lists the keys of a structure and of those in it, each once.
func keysOf(t reflect.Type) []string {
	var keys []string
	add := func(list ...string) {
		for _, key := range list {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" {
			continue // a type that reads itself
		}
		add(name)
		inner := f.Type
		if inner.Kind() == reflect.Map || inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			add(keysOf(inner)...)
		}
	}
	return keys
}
