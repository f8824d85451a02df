package privacypass

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Token is the token of RFC 9577, section 2.2. The client draws the nonce. If a verifier sees a
// nonce twice, the token was spent twice.
type Token struct {
	Type          Type
	Nonce         [32]byte
	Challenge     [sha256.Size]byte // digest of the challenge
	Key           [sha256.Size]byte // id of the issuer's key
	Authenticator []byte
}

// headSize is the number of bytes of a token before its authenticator.
const headSize = 2 + 3*32

// Size returns the number of bytes of an encoded token of type t.
func (t Type) Size() int { return headSize + t.size() }

// Input returns the bytes that the authenticator authenticates.
func (t *Token) Input() []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(t.Type))
	return slices.Concat(b, t.Nonce[:], t.Challenge[:], t.Key[:])
}

// Encode returns the encoded token.
func (t *Token) Encode() []byte { return append(t.Input(), t.Authenticator...) }

// ParseToken decodes a token of either type. It checks only the type and the length.
func ParseToken(b []byte) (*Token, error) {
	if len(b) < 2 {
		return nil, errors.New("privacypass: the token is too short to hold a type")
	}
	t := &Token{Type: Type(binary.BigEndian.Uint16(b))}
	if t.Type.size() == 0 {
		return nil, fmt.Errorf("privacypass: %v is unknown; use VOPRF or Blind RSA", t.Type)
	}
	if len(b) != t.Type.Size() {
		return nil, fmt.Errorf("privacypass: the token has %d bytes; a token of type %v must have %d", len(b), t.Type, t.Type.Size())
	}
	copy(t.Nonce[:], b[2:])
	copy(t.Challenge[:], b[34:])
	copy(t.Key[:], b[66:])
	t.Authenticator = slices.Clone(b[headSize:])
	return t, nil
}

// Verify returns these errors.
var (
	ErrChallenge = errors.New("privacypass: the token is for another challenge")
	ErrKey       = errors.New("privacypass: the token is for another key or has another type")
	ErrForged    = errors.New("privacypass: the token's authenticator does not verify")
)

// Verifier verifies tokens that one issuer key has authenticated.
type Verifier struct {
	kind   Type
	key    [sha256.Size]byte
	verify func(input, authenticator []byte) bool
}

// Verify returns nil if the issuer has authorised the token for the challenge with the given
// digest. Otherwise it returns [ErrKey], [ErrChallenge] or [ErrForged]. It does not detect
// tokens that are spent twice.
func (v *Verifier) Verify(t *Token, challenge [sha256.Size]byte) error {
	switch {
	case t.Type != v.kind || subtle.ConstantTimeCompare(t.Key[:], v.key[:]) == 0:
		return ErrKey
	case subtle.ConstantTimeCompare(t.Challenge[:], challenge[:]) == 0:
		return ErrChallenge
	case len(t.Authenticator) != v.kind.size() || !v.verify(t.Input(), t.Authenticator):
		return ErrForged
	}
	return nil
}

// scheme is the name of the HTTP authentication scheme of RFC 9577.
const scheme = "PrivateToken"

// Authorization returns the value of an HTTP Authorization field that presents the token (RFC
// 9577, section 2.2).
func (t *Token) Authorization() string {
	return scheme + ` token="` + base64.URLEncoding.EncodeToString(t.Encode()) + `"`
}

// ParseAuthorization decodes the token in the value of an HTTP Authorization field.
func ParseAuthorization(value string) (*Token, error) {
	params, ok := cutScheme(value)
	if !ok {
		return nil, fmt.Errorf("privacypass: the authorization does not have the scheme %s", scheme)
	}
	name, encoded, ok := strings.Cut(params, "=")
	if !ok || strings.TrimSpace(name) != "token" {
		return nil, fmt.Errorf("privacypass: the authorization holds no token")
	}
	b, err := base64.URLEncoding.DecodeString(strings.Trim(strings.TrimSpace(encoded), `"`))
	if err != nil {
		return nil, fmt.Errorf("privacypass: the authorization's token is not base64url: %w", err)
	}
	return ParseToken(b)
}

// cutScheme removes the scheme, in upper or lower case, from a field value.
func cutScheme(value string) (params string, ok bool) {
	name, params, ok := strings.Cut(strings.TrimSpace(value), " ")
	return params, ok && strings.EqualFold(name, scheme)
}

// WWWAuthenticate returns the value of a WWW-Authenticate field. The field requests a token of
// the issuer with the given public key.
func (c Challenge) WWWAuthenticate(publicKey []byte) string {
	return fmt.Sprintf(`%s challenge="%s", token-key="%s"`, scheme,
		base64.URLEncoding.EncodeToString(c.Encode()), base64.URLEncoding.EncodeToString(publicKey))
}

// Type is the number of a token type (RFC 9578, section 8.2.1).
type Type uint16

// Tokens have one of these types.
const (
	VOPRF    Type = 0x0001
	BlindRSA Type = 0x0002
)

func (t Type) String() string {
	switch t {
	case VOPRF:
		return "VOPRF(P-384, SHA-384)"
	case BlindRSA:
		return "Blind RSA (2048 bits)"
	}
	return fmt.Sprintf("token type %#04x", uint16(t))
}

// size returns the number of bytes of a token's authenticator, or 0 for an unknown type.
func (t Type) size() int {
	switch t {
	case VOPRF:
		return 48
	case BlindRSA:
		return 256
	}
	return 0
}

// Challenge is the verifier's challenge to which a token is bound (RFC 9577, section 2.1).
type Challenge struct {
	Type    Type
	Issuer  string
	Context []byte // 32 bytes or empty
	Origin  string // names of origins, separated by commas; can be empty
}

var errChallenge = errors.New("privacypass: the challenge does not have the format of RFC 9577")

// Encode returns the encoded challenge. It panics if the issuer is empty, if the issuer or the
// origin is too long for its length field, or if the context has neither 0 nor 32 bytes.
func (c Challenge) Encode() []byte {
	if len(c.Issuer) == 0 || len(c.Issuer) > 1<<16-1 || len(c.Origin) > 1<<16-1 || (len(c.Context) != 0 && len(c.Context) != 32) {
		panic(errChallenge)
	}
	b := binary.BigEndian.AppendUint16(nil, uint16(c.Type))
	b = append(binary.BigEndian.AppendUint16(b, uint16(len(c.Issuer))), c.Issuer...)
	b = append(append(b, byte(len(c.Context))), c.Context...)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(c.Origin))), c.Origin...)
}

// Digest returns the hash of the challenge, which a token contains.
func (c Challenge) Digest() [sha256.Size]byte { return sha256.Sum256(c.Encode()) }

// ParseChallenge decodes a challenge.
func ParseChallenge(b []byte) (Challenge, error) {
	var c Challenge
	if len(b) < 2 {
		return c, errChallenge
	}
	c.Type = Type(binary.BigEndian.Uint16(b))
	issuer, b, ok := cutPrefixed(b[2:], 2)
	context, b, ok2 := cutPrefixed(b, 1)
	origin, b, ok3 := cutPrefixed(b, 2)
	if !ok || !ok2 || !ok3 || len(b) > 0 || len(issuer) == 0 || (len(context) != 0 && len(context) != 32) {
		return Challenge{}, errChallenge
	}
	c.Issuer, c.Context, c.Origin = string(issuer), context, string(origin)
	return c, nil
}

// cutPrefixed reads a length, encoded in width bytes, from the start of b and then that many bytes.
func cutPrefixed(b []byte, width int) (taken, rest []byte, ok bool) {
	if len(b) < width {
		return nil, nil, false
	}
	n := 0
	for _, c := range b[:width] {
		n = n<<8 | int(c)
	}
	if b = b[width:]; len(b) < n {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}

// Issuer authenticates blinded tokens, so it cannot read them.
type Issuer interface {
	// PublicKey returns the public key that clients and verifiers need.
	PublicKey() []byte
	// Issue answers one request for a token (RFC 9578, sections 5.2 and 6.2). The caller must
	// have decided that the client is entitled to a token.
	Issue(request []byte) (response []byte, err error)
}

// Client requests tokens from one issuer.
type Client struct {
	kind  Type
	id    [sha256.Size]byte
	blind blinder
}

// blinder blinds an input. It returns a function that computes and verifies the authenticator
// from the issuer's answer.
type blinder func(input []byte) (blinded []byte, finish func(response []byte) ([]byte, error), err error)

// NewClient returns a client of the issuer that has the given public key.
func NewClient(kind Type, publicKey []byte) (*Client, error) {
	var blind blinder
	var err error
	switch kind {
	case BlindRSA:
		blind, err = rsaBlinder(publicKey)
	case VOPRF:
		blind, err = voprfBlinder(publicKey)
	default:
		err = fmt.Errorf("privacypass: %v is unknown; use VOPRF or Blind RSA", kind)
	}
	if err != nil {
		return nil, err
	}
	return &Client{kind, sha256.Sum256(publicKey), blind}, nil
}

// Pending is a client's request for a token that the issuer has not answered yet.
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
		return nil, nil, fmt.Errorf("privacypass: the challenge is for a token of type %v, but the issuer issues type %v", challenge.Type, c.kind)
	}
	t := &Token{Type: c.kind, Nonce: nonce, Challenge: challenge.Digest(), Key: c.id}
	blinded, finish, err := c.blind(t.Input())
	if err != nil {
		return nil, nil, err
	}
	return append(requestHead(c.kind, c.id), blinded...), &Pending{t, finish}, nil
}

// Finish computes the token from the issuer's answer. It verifies the answer.
func (p *Pending) Finish(response []byte) (*Token, error) {
	authenticator, err := p.finish(response)
	if err != nil {
		return nil, err
	}
	t := *p.token
	t.Authenticator = authenticator
	return &t, nil
}

// requestHead returns the start of a request: the token type and the last byte of the key's id. An
// issuer with several keys distinguishes the keys by this one byte. So it cannot give each of many
// clients an own key, which would identify the client.
func requestHead(kind Type, id [sha256.Size]byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(kind)), id[sha256.Size-1])
}

// blindedPart checks the head and the length of a request and returns its blinded input.
func blindedPart(request []byte, kind Type, publicKey []byte, size int) ([]byte, error) {
	const head = 3
	id := sha256.Sum256(publicKey)
	switch {
	case len(request) != head+size:
		return nil, fmt.Errorf("privacypass: the request has %d bytes; a request of type %v must have %d", len(request), kind, head+size)
	case Type(binary.BigEndian.Uint16(request)) != kind:
		return nil, fmt.Errorf("privacypass: the request is for a token of type %v, but the issuer issues type %v", Type(binary.BigEndian.Uint16(request)), kind)
	case request[2] != id[sha256.Size-1]:
		return nil, fmt.Errorf("privacypass: the request is for another key; fetch the issuer's key again")
	}
	return request[head:], nil
}
