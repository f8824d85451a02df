package bhttp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// These are the framing indicators of RFC 9292, section 3.3.
const (
	knownRequest = iota
	knownResponse
	endedRequest
	endedResponse
)

// Request is an HTTP request.
type Request struct {
	Method, Scheme, Authority, Path string
	Header                          Fields
	Content                         []byte
	Trailer                         Fields
}

// Encode returns the request in the known-length form of RFC 9292. It leaves out empty parts at the
// end. It returns an error if the method, the target or a field is not valid.
func (q *Request) Encode() ([]byte, error) {
	if err := q.validTarget(); err != nil {
		return nil, err
	}
	b := []byte{knownRequest}
	for _, s := range []string{q.Method, q.Scheme, q.Authority, q.Path} {
		b = appendBytes(b, s)
	}
	return appendBody(b, q.Header, q.Content, q.Trailer)
}

// validTarget returns an error if the method or the target could inject a field or a second
// request. The injection would happen in the text form of HTTP.
func (q *Request) validTarget() error {
	if q.Method == "" {
		return errors.New("bhttp: the request has no method")
	}
	for _, s := range []string{q.Method, q.Scheme, q.Authority, q.Path} {
		if strings.ContainsAny(s, "\x00\r\n\t ") {
			return fmt.Errorf("bhttp: the request has the method or target %q; write it without spaces, line breaks and zero bytes", s)
		}
	}
	return nil
}

// EncodeTo encodes the request in size bytes, padded with zeros. It returns an error if the request
// is longer.
func (q *Request) EncodeTo(size int) ([]byte, error) {
	b, err := q.Encode()
	if err != nil {
		return nil, err
	}
	return pad(b, size)
}

// ParseRequest decodes a request of known or indeterminate length. Content of known length
// shares memory with b.
func ParseRequest(b []byte) (*Request, error) {
	r := &reader{b}
	framing, err := r.varint()
	if err != nil {
		return nil, err
	}
	if framing != knownRequest && framing != endedRequest {
		return nil, fmt.Errorf("bhttp: the framing indicator is %d; a request must have %d or %d", framing, knownRequest, endedRequest)
	}
	q := &Request{}
	for _, dst := range []*string{&q.Method, &q.Scheme, &q.Authority, &q.Path} {
		if *dst, err = r.text(); err != nil {
			return nil, err
		}
	}
	if err := q.validTarget(); err != nil {
		return nil, err
	}
	q.Header, q.Content, q.Trailer, err = r.readBody(framing == knownRequest)
	if err != nil {
		return nil, err
	}
	return q, nil
}

// appendBody appends the header, the content and the trailer of a message to b.
func appendBody(b []byte, header Fields, content []byte, trailer Fields) ([]byte, error) {
	b, err := appendFields(b, header)
	if err != nil {
		return nil, err
	}
	b = appendBytes(b, content)
	if b, err = appendFields(b, trailer); err != nil {
		return nil, err
	}
	switch {
	case len(trailer) > 0:
		return b, nil
	case len(content) > 0:
		return b[:len(b)-1], nil
	case len(header) > 0:
		return b[:len(b)-2], nil
	}
	return b[:len(b)-3], nil
}

func pad(b []byte, size int) ([]byte, error) {
	if len(b) > size {
		return nil, fmt.Errorf("bhttp: the message has %d bytes; the padded size allows at most %d", len(b), size)
	}
	return slices.Concat(b, make([]byte, size-len(b))), nil
}

// readBody reads the header, the content and the trailer of a message. It returns an error if other
// bytes than padding follow.
func (r *reader) readBody(known bool) (header Fields, content []byte, trailer Fields, err error) {
	fields, contents := r.readEndedFields, r.readEndedContent
	if known {
		fields, contents = r.readKnownFields, r.knownContent
	}
	if header, err = fields(); err != nil {
		return nil, nil, nil, err
	}
	if content, err = contents(); err != nil {
		return nil, nil, nil, err
	}
	if trailer, err = fields(); err != nil {
		return nil, nil, nil, err
	}
	for _, c := range r.rest {
		if c != 0 {
			return nil, nil, nil, fmt.Errorf("bhttp: bytes other than padding follow the message")
		}
	}
	return header, content, trailer, nil
}

func (r *reader) knownContent() ([]byte, error) {
	if len(r.rest) == 0 {
		return nil, nil
	}
	return r.bytes()
}

// readEndedContent reads chunks of content up to a chunk of length zero.
func (r *reader) readEndedContent() ([]byte, error) {
	if len(r.rest) == 0 {
		return nil, nil
	}
	var content []byte
	for {
		chunk, err := r.bytes()
		if err != nil {
			return nil, err
		}
		if len(chunk) == 0 {
			return content, nil
		}
		content = append(content, chunk...)
	}
}
