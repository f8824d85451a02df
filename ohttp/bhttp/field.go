package bhttp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// MaxFields is the greatest number of lines in a header or trailer.
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

// valid refuses fields that no HTTP message may carry (RFC 9292, section 4; RFC 9110,
// section 5): a line break in a value would become another field.
func (f Field) valid() error {
	if f.Name == "" || strings.ContainsFunc(f.Name, notInName) {
		return fmt.Errorf("bhttp: the field name is %q; use lower-case letters, digits and !#$%%&'*+-.^_`|~", f.Name)
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

// field reads the rest of one line, after its name's length.
func (r *reader) field(name string) (Field, error) {
	value, err := r.text()
	if err != nil {
		return Field{}, err
	}
	f := Field{name, value}
	return f, f.valid()
}

// knownFields reads a field section of known length; a message may end before it.
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

// endedFields reads lines up to a name of length zero; a message may end before the first.
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
		return nil, fmt.Errorf("bhttp: the message has more than the %d allowed fields", MaxFields)
	}
	f, err := r.field(name)
	if err != nil {
		return nil, err
	}
	return append(fields, f), nil
}

// errShort reports a message that ends within a part.
var errShort = errors.New("bhttp: the message ends in the middle of a field")

// appendVarint appends v in QUIC's variable-length encoding: the two highest bits of the
// first byte give the length, 1, 2, 4 or 8 bytes (RFC 9000, section 16).
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

// appendBytes appends the length of s and s.
func appendBytes[S []byte | string](b []byte, s S) []byte {
	return append(appendVarint(b, uint64(len(s))), s...)
}

// reader decodes a message from the front. It copies nothing.
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

// bytes reads a length and that many bytes.
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

// maxInformational bounds the interim responses before the final one.
const maxInformational = 16

// Response is an HTTP response.
type Response struct {
	Informational []Informational // before the final one
	Status        int             // 200 to 599
	Header        Fields
	Content       []byte
	Trailer       Fields
}

// Informational is an interim response.
type Informational struct {
	Status int // 100 to 199
	Header Fields
}

// Encode returns the response in the form of known length. Empty parts at its
// end are left out.
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

// EncodeTo is Encode padded with zeros to size bytes. It refuses a response
// that needs more.
func (p *Response) EncodeTo(size int) ([]byte, error) {
	b, err := p.Encode()
	if err != nil {
		return nil, err
	}
	return pad(b, size)
}

// ParseResponse reads a response of either form. Contents of known length share b.
func ParseResponse(b []byte) (*Response, error) {
	r := &reader{b}
	framing, err := r.varint()
	if err != nil {
		return nil, err
	}
	if framing != knownResponse && framing != endedResponse {
		return nil, fmt.Errorf("bhttp: the framing indicator is %d; that of a response must be %d or %d", framing, knownResponse, endedResponse)
	}
	p := &Response{}
	if err := r.status(p, framing == knownResponse); err != nil {
		return nil, err
	}
	p.Header, p.Content, p.Trailer, err = r.body(framing == knownResponse)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// status takes interim responses and the final status.
func (r *reader) status(p *Response, known bool) error {
	fields := r.endedFields
	if known {
		fields = r.knownFields
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
