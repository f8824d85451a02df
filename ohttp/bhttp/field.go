package bhttp

import (
	"fmt"
	"strings"
)

// MaxFields is the greatest number of lines in a header or trailer that is read.
const MaxFields = 256

// Field is one line of a header or trailer. Names are in lower case.
type Field struct{ Name, Value string }

// Fields are the lines of a header or trailer, in order.
type Fields []Field

// Get returns the first value of a name, or "".
func (f Fields) Get(name string) string {
	for _, line := range f {
		if line.Name == name {
			return line.Value
		}
	}
	return ""
}

// valid refuses what no HTTP message may carry (RFC 9292, section 4; RFC 9110,
// section 5): a line break in a value would become another field.
func (f Field) valid() error {
	if f.Name == "" || strings.ContainsFunc(f.Name, notInName) {
		return fmt.Errorf("bhttp: field name %q; names are of lower-case letters, digits and !#$%%&'*+-.^_`|~", f.Name)
	}
	if strings.ContainsAny(f.Value, "\x00\r\n") {
		return fmt.Errorf("bhttp: the value of field %s has a line break or a zero byte", f.Name)
	}
	if f.Value != strings.Trim(f.Value, " \t") {
		return fmt.Errorf("bhttp: the value of field %s begins or ends with a space", f.Name)
	}
	return nil
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// appendFields appends a field section of known length.
func appendFields(b []byte, fields Fields) ([]byte, error) {
	var section []byte
	for _, f := range fields {
		if err := f.valid(); err != nil {
			return nil, err
		}
		section = appendBytes(appendBytes(section, f.Name), f.Value)
	}
	return appendBytes(b, section), nil
}

// field takes one line whose name has been taken.
func (r *reader) field(name string) (Field, error) {
	value, err := r.text()
	if err != nil {
		return Field{}, err
	}
	f := Field{name, value}
	return f, f.valid()
}

// knownFields takes a field section of known length; a message may end before.
func (r *reader) knownFields() (Fields, error) {
	if len(r.rest) == 0 {
		return nil, nil
	}
	section, err := r.bytes()
	if err != nil {
		return nil, err
	}
	inner := &reader{section}
	var fields Fields
	for len(inner.rest) > 0 {
		name, err := inner.text()
		if err != nil {
			return nil, err
		}
		if fields, err = inner.add(fields, name); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

// endedFields takes lines up to a name of length zero; a message may end
// before the first.
func (r *reader) endedFields() (Fields, error) {
	if len(r.rest) == 0 {
		return nil, nil
	}
	var fields Fields
	for {
		name, err := r.text()
		if err != nil {
			return nil, err
		}
		if name == "" {
			return fields, nil
		}
		if fields, err = r.add(fields, name); err != nil {
			return nil, err
		}
	}
}

func (r *reader) add(fields Fields, name string) (Fields, error) {
	if len(fields) == MaxFields {
		return nil, fmt.Errorf("bhttp: more than %d fields", MaxFields)
	}
	f, err := r.field(name)
	if err != nil {
		return nil, err
	}
	return append(fields, f), nil
}
