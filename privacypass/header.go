package privacypass

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// scheme is the authentication scheme of RFC 9577.
const scheme = "PrivateToken"

// Authorization returns the value of the field of that name: RFC 9577, section 2.2.
func (t *Token) Authorization() string {
	return scheme + ` token="` + base64.URLEncoding.EncodeToString(t.Encode()) + `"`
}

// ParseAuthorization reads the value of the field Authorization.
func ParseAuthorization(value string) (*Token, error) {
	params, ok := cutScheme(value)
	if !ok {
		return nil, fmt.Errorf("privacypass: the authorization is none of scheme %s", scheme)
	}
	name, encoded, ok := strings.Cut(params, "=")
	if !ok || strings.TrimSpace(name) != "token" {
		return nil, fmt.Errorf("privacypass: the authorization holds no token")
	}
	b, err := base64.URLEncoding.DecodeString(strings.Trim(strings.TrimSpace(encoded), `"`))
	if err != nil {
		return nil, fmt.Errorf("privacypass: the authorization's token is no base64url: %w", err)
	}
	return ParseToken(b)
}

// cutScheme takes the scheme off, in any case of letters.
func cutScheme(value string) (params string, ok bool) {
	name, params, ok := strings.Cut(strings.TrimSpace(value), " ")
	return params, ok && strings.EqualFold(name, scheme)
}

// WWWAuthenticate returns the field's value that asks for a token of the issuer
// with this public key.
func (c Challenge) WWWAuthenticate(publicKey []byte) string {
	return fmt.Sprintf(`%s challenge="%s", token-key="%s"`, scheme,
		base64.URLEncoding.EncodeToString(c.Encode()), base64.URLEncoding.EncodeToString(publicKey))
}
