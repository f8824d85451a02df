package ohttp

import (
	"bytes"
	"crypto/hpke"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
)

// Appendix A of RFC 9458, with the gateway's side byte for byte. The client's side cannot
// be replayed, because the standard library draws ephemeral keys itself; instead the answer
// is opened with the gateway's secrets, which are the same.
func TestRFC9458(t *testing.T) {
	b, err := os.ReadFile("testdata/rfc9458.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []map[string]string }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range file.Vectors {
		get := func(name string) []byte {
			b, err := hex.DecodeString(v[name])
			if err != nil || len(b) == 0 {
				t.Fatalf("%s: %v", name, err)
			}
			return b
		}
		key := secretKey(t, get("gateway_secret_key"))
		config, err := ParseKeyConfig(get("key_config"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(config.Encode(), get("key_config")) || !bytes.Equal(config.public.Bytes(), key.private.PublicKey().Bytes()) {
			t.Error("the configuration does not come back")
		}
		request, sealer, err := key.Decapsulate(get("encapsulated_request"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(request, get("request_bhttp")) || !bytes.Equal(sealer.secret, get("response_export_secret")) {
			t.Errorf("request %x, secret %x", request, sealer.secret)
		}
		nonce := get("response_salt")[x25519Size:]
		answer, err := sealer.sealWith(nonce, get("response_bhttp"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(answer, get("encapsulated_response")) {
			t.Errorf("answer %x", answer)
		}
		response, err := (&Opener{sealer.suite, sealer.enc, sealer.secret}).Open(answer)
		if err != nil || !bytes.Equal(response, get("response_bhttp")) {
			t.Errorf("response %x, %v", response, err)
		}
	}
}

func secretKey(t *testing.T, b []byte) *Key {
	t.Helper()
	kem, err := hpke.NewKEM(x25519)
	if err != nil {
		t.Fatal(err)
	}
	private, err := kem.NewPrivateKey(b)
	if err != nil {
		t.Fatal(err)
	}
	return &Key{1, private}
}
