package identity

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// needles are the spellings under which 8 bytes of a secret could be printed.
func needles(secret []byte) []string {
	var list []string
	for i := 0; i+8 <= len(secret); i += 8 {
		part := secret[i : i+8]
		list = append(list, string(part), hex.EncodeToString(part), strings.ToUpper(hex.EncodeToString(part)),
			strings.Trim(fmt.Sprintf("%d", part), "[]"), strings.Trim(fmt.Sprintf("%#v", part), "[]byte{}"))
	}
	return append(list, base64.StdEncoding.EncodeToString(secret)[:20])
}

func TestNothingPrintsASecret(t *testing.T) {
	seed := seedOf(7)
	id := mustFromSeed(t, seed)
	session, err := DeriveSession(seed)
	if err != nil {
		t.Fatal(err)
	}
	var secrets []string
	secrets = append(secrets, needles(seed[:])...)
	secrets = append(secrets, needles(id.SigningKey().Seed())...)
	secrets = append(secrets, needles(id.TLSKey().Seed())...)
	for _, k := range []interface{ Bytes() ([]byte, error) }{id.KEMKey(), session.KEMKey()} {
		b, err := k.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, needles(b)...)
	}
	nkey, err := id.NKey().Seed()
	if err != nil {
		t.Fatal(err)
	}
	secrets = append(secrets, string(nkey), fmt.Sprintf("%d", nkey))

	// fmt cannot call Format on the unexported fields.
	type daemon struct {
		id      *Identity
		copied  Identity
		session SessionKeys
	}
	things := map[string]any{
		"pointer": id, "value": *id, "session": session, "pointer to session": &session,
		"slice": []*Identity{id}, "map": map[string]Identity{"x": *id},
		"struct": daemon{id, *id, session}, "pointer to struct": &daemon{id, *id, session},
	}
	for name, thing := range things {
		for _, text := range printed(t, thing) {
			for _, s := range secrets {
				if strings.Contains(text, s) {
					t.Errorf("%s printed a secret: %.200q", name, text)
				}
			}
		}
	}
}

func printed(t *testing.T, thing any) []string {
	t.Helper()
	var out []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%b", "%o", "%t"} {
		out = append(out, fmt.Sprintf(verb, thing))
	}
	var buf bytes.Buffer
	slog.New(slog.NewTextHandler(&buf, nil)).Info("x", "thing", thing)
	slog.New(slog.NewJSONHandler(&buf, nil)).Info("x", "thing", thing)
	j, err := json.Marshal(thing)
	if err != nil {
		t.Fatal(err)
	}
	return append(out, buf.String(), string(j))
}

func TestIdentityPrintsItsFingerprint(t *testing.T) {
	id := mustFromSeed(t, seedOf(7))
	if got, want := fmt.Sprintf("%+v", id), "identity "+id.Public().Fingerprint().String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := fmt.Sprint(Identity{}); got != "identity(none)" {
		t.Errorf("zero value prints %q", got)
	}
}
