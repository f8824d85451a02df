package privacypass

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Issuer signs tokens that it cannot see.
type Issuer interface {
	// PublicKey returns the key as clients and verifiers need it.
	PublicKey() []byte
	// Issue answers one request: RFC 9578, sections 5.2 and 6.2. Its caller
	// has decided that the client may have a token.
	Issue(request []byte) (response []byte, err error)
}

// Client asks for tokens of one issuer's key.
type Client struct {
	kind  Type
	id    [sha256.Size]byte
	blind blinder
}

// blinder hides an input from an issuer, and turns the answer into an
// authenticator that it has checked.
type blinder func(input []byte) (blinded []byte, finish func(response []byte) ([]byte, error), err error)

// NewClient asks the issuer that has this public key.
func NewClient(kind Type, publicKey []byte) (*Client, error) {
	var blind blinder
	var err error
	switch kind {
	case BlindRSA:
		blind, err = rsaBlinder(publicKey)
	case VOPRF:
		blind, err = voprfBlinder(publicKey)
	default:
		err = fmt.Errorf("privacypass: %v is not known here", kind)
	}
	if err != nil {
		return nil, err
	}
	return &Client{kind, sha256.Sum256(publicKey), blind}, nil
}

// Pending is a token that its issuer has yet to answer.
type Pending struct {
	token  *Token
	finish func(response []byte) ([]byte, error)
}

// Request draws a nonce and returns a request for a token.
func (c *Client) Request(challenge Challenge) (request []byte, pending *Pending, err error) {
	var nonce [32]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		return nil, nil, fmt.Errorf("privacypass: %w", err)
	}
	return c.requestWith(nonce, challenge)
}

func (c *Client) requestWith(nonce [32]byte, challenge Challenge) ([]byte, *Pending, error) {
	if challenge.Type != c.kind {
		return nil, nil, fmt.Errorf("privacypass: a challenge of %v at an issuer of %v", challenge.Type, c.kind)
	}
	t := &Token{Type: c.kind, Nonce: nonce, Challenge: challenge.Digest(), Key: c.id}
	blinded, finish, err := c.blind(t.Input())
	if err != nil {
		return nil, nil, err
	}
	return append(requestHead(c.kind, c.id), blinded...), &Pending{t, finish}, nil
}

// Finish makes the token from the issuer's answer, which it checks.
func (p *Pending) Finish(response []byte) (*Token, error) {
	authenticator, err := p.finish(response)
	if err != nil {
		return nil, err
	}
	t := *p.token
	t.Authenticator = authenticator
	return &t, nil
}

// requestHead is the kind, and the last byte of the key's id: an issuer with
// several keys tells them apart by it, and cannot give many clients a key each.
func requestHead(kind Type, id [sha256.Size]byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(kind)), id[sha256.Size-1])
}

// blindedPart checks a request's head and length and returns the blinded input.
func blindedPart(request []byte, kind Type, publicKey []byte, size int) ([]byte, error) {
	const head = 3
	id := sha256.Sum256(publicKey)
	switch {
	case len(request) != head+size:
		return nil, fmt.Errorf("privacypass: a request of %d bytes; a request of %v has %d", len(request), kind, head+size)
	case Type(binary.BigEndian.Uint16(request)) != kind:
		return nil, fmt.Errorf("privacypass: a request for %v at an issuer of %v", Type(binary.BigEndian.Uint16(request)), kind)
	case request[2] != id[sha256.Size-1]:
		return nil, fmt.Errorf("privacypass: a request for another key; fetch the issuer's key anew")
	}
	return request[head:], nil
}
