package invitation

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

func identityOf(t testing.TB, seed byte) *identity.Identity {
	t.Helper()
	id, err := identity.FromSeed([identity.SeedSize]byte{seed})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func party(t testing.TB, name string, seed byte) roster.Member {
	return roster.Member{Name: name, Role: roster.Party, Public: identityOf(t, seed).Public()}
}

var secret = [SecretSize]byte(bytes.Repeat([]byte{0xab, 7}, SecretSize/2))

func sample(t testing.TB) Token {
	boss := identityOf(t, 1).PublicTLS()
	return NewToken(Token{
		Federation: "hospitals", Coordinator: "boss", Address: "wss://coordinator.example:443/x",
		Fingerprint: boss.Fingerprint(), TLS: boss.TLS, Name: "west", Expires: time.Unix(1_900_000_000, 0).UTC(),
	}, secret)
}

// same compares two tokens, secrets included.
func same(a, b Token) bool {
	return a.Secret() == b.Secret() && a.Encode() == b.Encode()
}

func TestTokenText(t *testing.T) {
	plain := sample(t)
	plain.TLS, plain.Address = nil, "nats://127.0.0.1:4222"
	for _, want := range []Token{sample(t), plain} {
		text := want.Encode()
		if len(text) > 512 {
			t.Errorf("an invitation has %d characters", len(text))
		}
		for _, form := range []string{text, "  " + text + "\r\n", text[:90] + "\n" + text[90:]} {
			got, err := Parse(form)
			if err != nil || !same(got, want) || got.Name != want.Name || !got.Expires.Equal(want.Expires) || !got.TLS.Equal(want.TLS) {
				t.Errorf("%v, %v", got, err)
			}
		}
	}
}

// A text that is no whole invitation is refused, and not quoted: it may have the secret.
func TestTokenRefused(t *testing.T) {
	text := sample(t).Encode()
	changed := []byte(text)
	changed[len(changed)/2] ^= 1
	bad := sample(t)
	bad.Name = "a\x1b[2Jb"
	for what, s := range map[string]string{
		"empty": "", "cut": text[:len(text)-1], "changed": string(changed), "twice": text + text, "another version": strings.Replace(text, "-1.", "-2.", 1),
		"without its start": text[5:], "long": text + strings.Repeat(" ", maxText), "a name for terminals": bad.Encode(),
	} {
		_, err := Parse(s)
		if err == nil {
			t.Errorf("%s: accepted", what)
		} else if strings.Contains(err.Error(), text[30:60]) {
			t.Errorf("%s: the error quotes the text: %v", what, err)
		}
	}
}

// No verb and no log prints the secret.
func TestTokenIsRedacted(t *testing.T) {
	token := sample(t)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "token", token, "in", struct{ T Token }{token})
	printed := log.String()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
		printed += fmt.Sprintf(verb, token) + fmt.Sprintf(verb, &token) + fmt.Sprintf(verb, struct{ t Token }{token})
	}
	for _, form := range []string{hex.EncodeToString(secret[:4]), "171 7", "0xab, 0x7", base64.RawURLEncoding.EncodeToString(secret[3:9]), string(secret[:4])} {
		if strings.Contains(strings.ToLower(printed), strings.ToLower(form)) {
			t.Errorf("%q is printed: %s", form, printed)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample(f).Encode())
	f.Add("mercer-invitation-1.AAAA")
	f.Fuzz(func(t *testing.T, s string) {
		token, err := Parse(s)
		if err != nil {
			return
		}
		if again, err := Parse(token.Encode()); err != nil || !same(again, token) {
			t.Fatalf("a second round changes the invitation: %v", err)
		}
	})
}
