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

// Token is the token of RFC 9577, section 2.2. The client draws the nonce; a nonce that a
// verifier sees twice is a token that was spent twice.
type Token struct {
	Type          Type
	Nonce         [32]byte
	Challenge     [sha256.Size]byte // digest
	Key           [sha256.Size]byte // id of the issuer's key
	Authenticator []byte
}

// headSize is the size of the part before the authenticator, which the authenticator covers.
const headSize = 2 + 3*32

// Size returns the number of bytes of an encoded token.
func (t Type) Size() int { return headSize + t.size() }

// Input returns the bytes that the authenticator authenticates.
func (t *Token) Input() []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(t.Type))
	return slices.Concat(b, t.Nonce[:], t.Challenge[:], t.Key[:])
}

// Encode returns the token's bytes.
func (t *Token) Encode() []byte { return append(t.Input(), t.Authenticator...) }

// ParseToken parses a token of either kind. It checks the length alone.
func ParseToken(b []byte) (*Token, error) {
	if len(b) < 2 {
		return nil, errors.New("privacypass: the token ends early")
	}
	t := &Token{Type: Type(binary.BigEndian.Uint16(b))}
	if t.Type.size() == 0 {
		return nil, fmt.Errorf("privacypass: unknown token type: %v", t.Type)
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

// Errors of verifiers.
var (
	ErrChallenge = errors.New("privacypass: the token is for another challenge")
	ErrKey       = errors.New("privacypass: the token is for another key, or has another type")
	ErrForged    = errors.New("privacypass: the token does not verify")
)

// Verifier verifies tokens of one issuer's key.
type Verifier struct {
	kind   Type
	key    [sha256.Size]byte
	verify func(input, authenticator []byte) bool
}

// Verify returns nil for a token of the issuer for the challenge with this digest, and
// otherwise one of [ErrKey], [ErrChallenge] and [ErrForged]. It does not know spent tokens.
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

// scheme is the authentication scheme of RFC 9577.
const scheme = "PrivateToken"

// Authorization returns the value of the Authorization field: RFC 9577, section 2.2.
func (t *Token) Authorization() string {
	return scheme + ` token="` + base64.URLEncoding.EncodeToString(t.Encode()) + `"`
}

// ParseAuthorization parses the value of the Authorization field.
func ParseAuthorization(value string) (*Token, error) {
	params, ok := cutScheme(value)
	if !ok {
		return nil, fmt.Errorf("privacypass: the authorization must have scheme %s", scheme)
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

// cutScheme removes the scheme, in upper or lower case.
func cutScheme(value string) (params string, ok bool) {
	name, params, ok := strings.Cut(strings.TrimSpace(value), " ")
	return params, ok && strings.EqualFold(name, scheme)
}

// WWWAuthenticate returns the value of the WWW-Authenticate field that requests a token of
// the issuer with this public key.
func (c Challenge) WWWAuthenticate(publicKey []byte) string {
	return fmt.Sprintf(`%s challenge="%s", token-key="%s"`, scheme,
		base64.URLEncoding.EncodeToString(c.Encode()), base64.URLEncoding.EncodeToString(publicKey))
}

// Type is a kind of token: RFC 9578, section 8.2.1.
type Type uint16

// The kinds.
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

// size returns the number of bytes of an authenticator.
func (t Type) size() int {
	switch t {
	case VOPRF:
		return 48
	case BlindRSA:
		return 256
	}
	return 0
}

// Challenge is the content to which a token is bound: RFC 9577, section 2.1.
type Challenge struct {
	Type    Type
	Issuer  string
	Context []byte // 32 bytes, or empty
	Origin  string // a name, names with commas between them, or empty
}

var errChallenge = errors.New("privacypass: the challenge does not have the format of RFC 9577")

// Encode returns the challenge's bytes. It panics if a part is too long for its length
// field.
func (c Challenge) Encode() []byte {
	if len(c.Issuer) == 0 || len(c.Issuer) > 1<<16-1 || len(c.Origin) > 1<<16-1 || (len(c.Context) != 0 && len(c.Context) != 32) {
		panic(errChallenge)
	}
	b := binary.BigEndian.AppendUint16(nil, uint16(c.Type))
	b = append(binary.BigEndian.AppendUint16(b, uint16(len(c.Issuer))), c.Issuer...)
	b = append(append(b, byte(len(c.Context))), c.Context...)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(c.Origin))), c.Origin...)
}

// Digest returns the challenge's hash, which a token carries.
func (c Challenge) Digest() [sha256.Size]byte { return sha256.Sum256(c.Encode()) }

// ParseChallenge reads a challenge.
func ParseChallenge(b []byte) (Challenge, error) {
	var c Challenge
	if len(b) < 2 {
		return c, errChallenge
	}
	c.Type = Type(binary.BigEndian.Uint16(b))
	issuer, b, ok := prefixed(b[2:], 2)
	context, b, ok2 := prefixed(b, 1)
	origin, b, ok3 := prefixed(b, 2)
	if !ok || !ok2 || !ok3 || len(b) > 0 || len(issuer) == 0 || (len(context) != 0 && len(context) != 32) {
		return Challenge{}, errChallenge
	}
	c.Issuer, c.Context, c.Origin = string(issuer), context, string(origin)
	return c, nil
}

// prefixed reads a length of width bytes and that many bytes.
func prefixed(b []byte, width int) (taken, rest []byte, ok bool) {
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

// Issuer signs blinded tokens, which it cannot read.
type Issuer interface {
	// PublicKey returns the key for clients and verifiers.
	PublicKey() []byte
	// Issue answers one request: RFC 9578, sections 5.2 and 6.2. The caller must have
	// decided that the client may have a token.
	Issue(request []byte) (response []byte, err error)
}

// Client requests tokens of one issuer's key.
type Client struct {
	kind  Type
	id    [sha256.Size]byte
	blind blinder
}

// blinder blinds an input, and turns the issuer's answer into a verified authenticator.
type blinder func(input []byte) (blinded []byte, finish func(response []byte) ([]byte, error), err error)

// NewClient returns a client for the issuer with this public key.
func NewClient(kind Type, publicKey []byte) (*Client, error) {
	var blind blinder
	var err error
	switch kind {
	case BlindRSA:
		blind, err = rsaBlinder(publicKey)
	case VOPRF:
		blind, err = voprfBlinder(publicKey)
	default:
		err = fmt.Errorf("privacypass: unknown token type: %v", kind)
	}
	if err != nil {
		return nil, err
	}
	return &Client{kind, sha256.Sum256(publicKey), blind}, nil
}

// Pending is a requested token, before the issuer's answer.
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

// Finish makes the token from the issuer's answer, which it verifies.
func (p *Pending) Finish(response []byte) (*Token, error) {
	authenticator, err := p.finish(response)
	if err != nil {
		return nil, err
	}
	t := *p.token
	t.Authenticator = authenticator
	return &t, nil
}

// requestHead returns the kind and the last byte of the key's id. An issuer with several
// keys distinguishes them by this byte, so it cannot give many clients a key each.
func requestHead(kind Type, id [sha256.Size]byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(kind)), id[sha256.Size-1])
}

// blindedPart checks a request's head and length and returns the blinded input.
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
