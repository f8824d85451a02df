package invitation

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// SecretSize is the length of an invitation's secret in bytes.
const SecretSize = 32

// Token is an invitation as the newcomer receives it. Its text is a secret until it is used.
type Token struct {
	Federation  string
	Coordinator string               // the coordinator's name
	Address     string               // where the newcomer reaches the coordinator
	Fingerprint identity.Fingerprint // fingerprint of the coordinator's keys
	TLS         ed25519.PublicKey    // the coordinator's TLS key; empty if only this machine can reach it
	Name        string               // the name that the newcomer will have
	Expires     time.Time            // end of the invitation, in whole seconds

	secret func() [SecretSize]byte // a closure, so that fmt cannot print it
}

var (
	_ fmt.Formatter  = Token{}
	_ slog.LogValuer = Token{}
)

// NewToken returns t with a secret that the caller has drawn.
func NewToken(t Token, secret [SecretSize]byte) Token {
	t.secret = func() [SecretSize]byte { return secret }
	return t
}

// Secret returns the secret with which the newcomer logs in to claim the invitation.
func (t Token) Secret() [SecretSize]byte { return t.secret() }

// String returns a text without the secret.
func (t Token) String() string { return fmt.Sprintf("invitation of %q to %q", t.Name, t.Federation) }

// Format prints the text of String for every verb.
func (t Token) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, t.String()) }

// LogValue returns the text of String.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// Prefix begins the text of every invitation.
const Prefix = "mercer-invitation-"

const (
	version      = Prefix + "1."
	maxText      = 2048 // bytes of an invitation's text
	maxName      = 63
	maxAddress   = 512
	checksumSize = 4
	tokenMagic   = "mercer/v1/invitation"
)

// Encode returns the text of the invitation, secret included. It ends with a checksum.
func (t Token) Encode() string {
	var w wire.Writer
	w.String(tokenMagic)
	w.String(t.Federation)
	w.String(t.Coordinator)
	w.String(t.Address)
	w.Fixed(t.Fingerprint[:])
	w.Bytes32(t.TLS)
	w.String(t.Name)
	w.Uint64(uint64(t.Expires.Unix()))
	secret := t.secret()
	w.Fixed(secret[:])
	sum := sha256.Sum256(w.Bytes())
	w.Fixed(sum[:checksumSize])
	return version + base64.RawURLEncoding.EncodeToString(w.Bytes())
}

// errText reports a text that is no invitation, without quoting it: it may have a secret.
var errText = errors.New("invitation: the text is not a whole invitation; copy all of it, from " + Prefix + " to its end")

// Parse decodes the text of an invitation. Blanks and line breaks around and in it are ignored.
func Parse(text string) (Token, error) {
	if len(text) > maxText {
		return Token{}, errText
	}
	rest, found := strings.CutPrefix(strings.Join(strings.Fields(text), ""), version)
	b, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	if !found || err != nil || len(b) < checksumSize {
		return Token{}, errText
	}
	body, check := b[:len(b)-checksumSize], b[len(b)-checksumSize:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:checksumSize], check) {
		return Token{}, errText
	}
	return decode(body)
}

func decode(b []byte) (Token, error) {
	r := wire.NewReader(b)
	r.Magic(len(tokenMagic), tokenMagic, "the format %q is unknown")
	t := Token{Federation: r.String(maxName), Coordinator: r.String(maxName), Address: r.String(maxAddress)}
	r.Fixed(t.Fingerprint[:])
	t.TLS = r.Bytes32(ed25519.PublicKeySize)
	t.Name = r.String(maxName)
	t.Expires = time.Unix(int64(r.Uint64()), 0).UTC()
	var secret [SecretSize]byte
	r.Fixed(secret[:])
	if err := r.Close("an invitation"); err != nil {
		return Token{}, errText
	}
	if n := len(t.TLS); n != 0 && n != ed25519.PublicKeySize {
		return Token{}, errText
	}
	for _, name := range []string{t.Federation, t.Coordinator, t.Name} { // they will be printed
		if err := roster.CheckName(name); err != nil {
			return Token{}, fmt.Errorf("invitation: %w", err)
		}
	}
	return NewToken(t, secret), nil
}
