package bhttp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// MaxFields is the largest number of fields in a header or trailer.
const MaxFields = 256

var errFields = fmt.Errorf("bhttp: a header or trailer of the message has more than %d fields", MaxFields)

// Field is one field of a header or trailer. Names are in lower case.
type Field struct{ Name, Value string }

// Fields holds the fields of a header or trailer in order.
type Fields []Field

// Get returns the first value of the field called name, or "".
func (f Fields) Get(name string) string {
	for _, line := range f {
		if line.Name == name {
			return line.Value
		}
	}
	return ""
}

// validate returns an error if an HTTP message must not contain the field. See RFC 9292, section 4,
// and RFC 9110, section 5. A line break in a value, for example, would become another field.
func (f Field) validate() error {
	if f.Name == "" || strings.ContainsFunc(f.Name, notInName) {
		return fmt.Errorf("bhttp: the field name %q is not valid; use lower-case letters, digits and !#$%%&'*+-.^_`|~", f.Name)
	}
	if strings.ContainsAny(f.Value, "\x00\r\n") {
		return fmt.Errorf("bhttp: the value of field %s contains a line break or a zero byte", f.Name)
	}
	if f.Value != strings.Trim(f.Value, " \t") {
		return fmt.Errorf("bhttp: the value of field %s begins or ends with a space", f.Name)
	}
	return nil
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// appendFields appends a field section of known length to b.
func appendFields(b []byte, fields Fields) ([]byte, error) {
	if len(fields) > MaxFields {
		return nil, errFields
	}
	var section []byte
	for _, f := range fields {
		if err := f.validate(); err != nil {
			return nil, err
		}
		section = appendBytes(appendBytes(section, f.Name), f.Value)
	}
	return appendBytes(b, section), nil
}

// readValue reads a field's value and returns the field with the given name.
func (r *reader) readValue(name string) (Field, error) {
	value, err := r.text()
	if err != nil {
		return Field{}, err
	}
	f := Field{name, value}
	return f, f.validate()
}

// readKnownFields reads a field section of known length. The section is empty if the message ends
// before it.
func (r *reader) readKnownFields() (Fields, error) {
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

// readEndedFields reads fields up to a name of length zero. The section is empty if the message
// ends before it.
func (r *reader) readEndedFields() (Fields, error) {
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
		return nil, errFields
	}
	f, err := r.readValue(name)
	if err != nil {
		return nil, err
	}
	return append(fields, f), nil
}

// errShort reports that a message ends too early.
var errShort = errors.New("bhttp: the message ends before a part of it is complete")

// appendVarint appends v in QUIC's variable-length encoding (RFC 9000, section 16). The two
// highest bits of the first byte give the length, which is 1, 2, 4 or 8 bytes.
func appendVarint(b []byte, v uint64) []byte {
	switch {
	case v < 1<<6:
		return append(b, byte(v))
	case v < 1<<14:
		return binary.BigEndian.AppendUint16(b, uint16(v)|1<<14)
	case v < 1<<30:
		return binary.BigEndian.AppendUint32(b, uint32(v)|2<<30)
	default:
		return binary.BigEndian.AppendUint64(b, v|3<<62)
	}
}

// appendBytes appends the length of s and then s to b.
func appendBytes[S []byte | string](b []byte, s S) []byte {
	return append(appendVarint(b, uint64(len(s))), s...)
}

// reader decodes a message from its start. It does not copy content of known length.
type reader struct{ rest []byte }

func (r *reader) varint() (uint64, error) {
	if len(r.rest) == 0 {
		return 0, errShort
	}
	size := 1 << (r.rest[0] >> 6)
	if len(r.rest) < size {
		return 0, errShort
	}
	v := uint64(r.rest[0] & 63)
	for _, c := range r.rest[1:size] {
		v = v<<8 | uint64(c)
	}
	r.rest = r.rest[size:]
	return v, nil
}

// bytes reads a length and then that many bytes.
func (r *reader) bytes() ([]byte, error) {
	n, err := r.varint()
	if err != nil {
		return nil, err
	}
	if n > uint64(len(r.rest)) {
		return nil, errShort
	}
	taken := r.rest[:n:n]
	r.rest = r.rest[n:]
	return taken, nil
}

func (r *reader) text() (string, error) {
	b, err := r.bytes()
	return string(b), err
}

// maxInformational is the largest number of interim responses in a message that is decoded.
const maxInformational = 16

// Response is an HTTP response.
type Response struct {
	Informational []Informational // interim responses before the final response
	Status        int             // status of the final response, 200 to 599
	Header        Fields
	Content       []byte
	Trailer       Fields
}

// Informational is an interim response, which precedes the final response.
type Informational struct {
	Status int // status from 100 to 199
	Header Fields
}

// Encode returns the response in the known-length form of RFC 9292. It leaves out empty parts at
// the end.
func (p *Response) Encode() ([]byte, error) {
	b := []byte{knownResponse}
	for _, i := range p.Informational {
		if i.Status < 100 || i.Status > 199 {
			return nil, fmt.Errorf("bhttp: the status of an interim response is %d; it must be 100 to 199", i.Status)
		}
		var err error
		if b, err = appendFields(appendVarint(b, uint64(i.Status)), i.Header); err != nil {
			return nil, err
		}
	}
	if p.Status < 200 || p.Status > 599 {
		return nil, fmt.Errorf("bhttp: the status of the response is %d; it must be 200 to 599", p.Status)
	}
	return appendBody(appendVarint(b, uint64(p.Status)), p.Header, p.Content, p.Trailer)
}

// EncodeTo encodes the response in size bytes, padded with zeros. It returns an error if the
// response is longer.
func (p *Response) EncodeTo(size int) ([]byte, error) {
	b, err := p.Encode()
	if err != nil {
		return nil, err
	}
	return pad(b, size)
}

// ParseResponse decodes a response of known or indeterminate length. Content of known length
// shares memory with b.
func ParseResponse(b []byte) (*Response, error) {
	r := &reader{b}
	framing, err := r.varint()
	if err != nil {
		return nil, err
	}
	if framing != knownResponse && framing != endedResponse {
		return nil, fmt.Errorf("bhttp: the framing indicator is %d; a response must have %d or %d", framing, knownResponse, endedResponse)
	}
	p := &Response{}
	if err := r.readStatus(p, framing == knownResponse); err != nil {
		return nil, err
	}
	p.Header, p.Content, p.Trailer, err = r.readBody(framing == knownResponse)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// readStatus reads the interim responses and the final status into p.
func (r *reader) readStatus(p *Response, known bool) error {
	fields := r.readEndedFields
	if known {
		fields = r.readKnownFields
	}
	for {
		status, err := r.varint()
		switch {
		case err != nil:
			return err
		case status >= 200 && status <= 599:
			p.Status = int(status)
			return nil
		case status < 100 || status > 599:
			return fmt.Errorf("bhttp: the status is %d; it must be 100 to 599", status)
		case len(p.Informational) == maxInformational:
			return fmt.Errorf("bhttp: the message has more than the %d allowed interim responses", maxInformational)
		}
		header, err := fields()
		if err != nil {
			return err
		}
		p.Informational = append(p.Informational, Informational{int(status), header})
	}
}
