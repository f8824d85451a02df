package bhttp

import "fmt"

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
			return nil, fmt.Errorf("bhttp: status %d of an interim response; they have 100 to 199", i.Status)
		}
		var err error
		if b, err = appendFields(appendVarint(b, uint64(i.Status)), i.Header); err != nil {
			return nil, err
		}
	}
	if p.Status < 200 || p.Status > 599 {
		return nil, fmt.Errorf("bhttp: status %d; responses have 200 to 599", p.Status)
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
		return nil, fmt.Errorf("bhttp: framing indicator %d, where a response has %d or %d", framing, knownResponse, endedResponse)
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
			return fmt.Errorf("bhttp: status %d; write 100 to 599", status)
		case len(p.Informational) == maxInformational:
			return fmt.Errorf("bhttp: more than %d interim responses", maxInformational)
		}
		header, err := fields()
		if err != nil {
			return err
		}
		p.Informational = append(p.Informational, Informational{int(status), header})
	}
}
