package privacypass

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"strings"
	"testing"

	"filippo.io/bigmod"
	"github.com/cloudflare/circl/oprf"
)

type vector map[string]string

func (v vector) bytes(t *testing.T, name string) []byte {
	t.Helper()
	b, err := hex.DecodeString(v[name])
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

// Appendix A.1 of RFC 9577: challenges, and the authenticated part of tokens.
func TestRFC9577Structures(t *testing.T) {
	var file struct {
		Vectors []vector `json:"structure_vectors"`
	}
	read(t, "rfc9577.json", &file)
	if len(file.Vectors) < 5 {
		t.Fatalf("%d vectors", len(file.Vectors))
	}
	for i, v := range file.Vectors {
		if v["token_type"] == "0000" {
			continue // of an unknown type: an opaque token, to be ignored
		}
		kind := v.bytes(t, "token_type")
		c := Challenge{Type: Type(kind[0])<<8 | Type(kind[1]), Issuer: string(v.bytes(t, "issuer_name")),
			Context: v.bytes(t, "redemption_context"), Origin: string(v.bytes(t, "origin_info"))}
		again, err := ParseChallenge(c.Encode())
		if err != nil || !bytes.Equal(again.Encode(), c.Encode()) {
			t.Errorf("vector %d: %+v, %v", i, again, err)
		}
		token := &Token{Type: c.Type, Challenge: c.Digest(),
			Nonce: [32]byte(v.bytes(t, "nonce")), Key: [32]byte(v.bytes(t, "token_key_id"))}
		if !bytes.Equal(token.Input(), v.bytes(t, "token_authenticator_input")) {
			t.Errorf("vector %d: input %x", i, token.Input())
		}
	}
}

// Appendix A.2 of RFC 9577: each challenge's field is in the vector's, which may hold
// others, and parameters that a client ignores.
func TestRFC9577Headers(t *testing.T) {
	var file struct {
		Vectors []vector `json:"header_vectors"`
	}
	read(t, "rfc9577.json", &file)
	checked := 0
	for i, v := range file.Vectors {
		for _, n := range []string{"0", "1"} {
			if v["token-challenge-"+n] == "" || v["token-type-"+n] == "0x0000" {
				continue
			}
			c, err := ParseChallenge(v.bytes(t, "token-challenge-"+n))
			if err != nil {
				t.Fatalf("vector %d: %v", i, err)
			}
			if field := c.WWWAuthenticate(v.bytes(t, "token-key-"+n)); !strings.Contains(v["WWW-Authenticate"], field) {
				t.Errorf("vector %d: %s", i, field)
			}
			checked++
		}
	}
	if checked < 3 {
		t.Fatalf("%d challenges", checked)
	}
}

func vectors9578(t *testing.T, kind string) []vector {
	t.Helper()
	var file struct {
		Groups []struct {
			Type    string `json:"token_type"`
			Vectors []vector
		}
	}
	read(t, "rfc9578.json", &file)
	for _, g := range file.Groups {
		if g.Type == kind && len(g.Vectors) > 0 {
			return g.Vectors
		}
	}
	t.Fatalf("no vectors of type %s", kind)
	return nil
}

func (v vector) challenge(t *testing.T) Challenge {
	c, err := ParseChallenge(v.bytes(t, "token_challenge"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Appendix A.2 of RFC 9578, both sides byte for byte.
func TestRFC9578BlindRSA(t *testing.T) {
	for i, v := range vectors9578(t, "0002") {
		block, _ := pem.Decode(v.bytes(t, "skI"))
		if block == nil {
			t.Fatal("no key")
		}
		key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		issuer, err := NewRSAIssuer(key.(*rsa.PrivateKey))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(issuer.PublicKey(), v.bytes(t, "pkI")) {
			t.Fatalf("vector %d: public key %x", i, issuer.PublicKey())
		}
		client, err := NewClient(BlindRSA, issuer.PublicKey())
		if err != nil {
			t.Fatal(err)
		}
		client.blind = fixedRSA(t, &key.(*rsa.PrivateKey).PublicKey, v)
		request, pending, err := client.requestWith([32]byte(v.bytes(t, "nonce")), v.challenge(t))
		if err != nil {
			t.Fatal(err)
		}
		verifier, err := NewRSAVerifier(issuer.PublicKey())
		if err != nil {
			t.Fatal(err)
		}
		check(t, v, issuer, verifier, request, pending)
	}
}

// fixedRSA blinds with a vector's numbers instead of random ones.
func fixedRSA(t *testing.T, key *rsa.PublicKey, v vector) blinder {
	public, err := newRSAPublic(key)
	if err != nil {
		t.Fatal(err)
	}
	factor := public.number(t, v.bytes(t, "blind"))
	return func(input []byte) ([]byte, func([]byte) ([]byte, error), error) {
		blinded, b, err := public.blind(input, v.bytes(t, "salt"), factor, public.invert(t, factor))
		if err != nil {
			return nil, nil, err
		}
		return blinded, b.finish, nil
	}
}

func (k *rsaPublic) number(t *testing.T, b []byte) *bigmod.Nat {
	t.Helper()
	x, err := bigmod.NewNat().SetBytes(b, k.n)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (k *rsaPublic) invert(t *testing.T, x *bigmod.Nat) *bigmod.Nat {
	t.Helper()
	inverse, ok := bigmod.NewNat().InverseVarTime(x, k.n)
	if !ok {
		t.Fatal("no inverse")
	}
	return inverse
}

// Appendix A of RFC 9474, all four variants, whose keys have 4096 bits: they differ by the
// bytes before the input, and by the salt.
func TestRFC9474(t *testing.T) {
	var vectors []vector
	read(t, "rfc9474.json", &vectors)
	if len(vectors) != 4 {
		t.Fatalf("%d vectors", len(vectors))
	}
	for _, v := range vectors {
		public, err := newRSAPublic(&rsa.PublicKey{N: new(big.Int).SetBytes(v.bytes(t, "n")), E: 65537})
		if err != nil {
			t.Fatal(err)
		}
		encoded := encodePSS(v.bytes(t, "input_msg"), v.bytes(t, "salt"), public.n.BitLen()-1)
		if want := v.bytes(t, "encoded_msg"); len(want) > 0 && !bytes.Equal(encoded, want) {
			t.Errorf("%s: encoded %x", v["name"], encoded)
		}
		inverse := public.number(t, v.bytes(t, "inv"))
		blinded, b, err := public.blind(v.bytes(t, "input_msg"), v.bytes(t, "salt"), public.invert(t, inverse), inverse)
		if err != nil || !bytes.Equal(blinded, v.bytes(t, "blinded_msg")) {
			t.Errorf("%s: blinded %x, %v", v["name"], blinded, err)
		}
		signature, err := b.finish(v.bytes(t, "blind_sig"))
		if err != nil || !bytes.Equal(signature, v.bytes(t, "sig")) {
			t.Errorf("%s: signature %x, %v", v["name"], signature, err)
		}
	}
}

// Appendix A.1 of RFC 9578. An issuer draws its proofs at random, so its answer is not the
// vector's; the client accepts the vector's own answer.
func TestRFC9578VOPRF(t *testing.T) {
	for _, v := range vectors9578(t, "0001") {
		key := new(oprf.PrivateKey)
		if err := key.UnmarshalBinary(oprf.SuiteP384, v.bytes(t, "skI")); err != nil {
			t.Fatal(err)
		}
		issuer, err := newVOPRFIssuer(key)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(issuer.PublicKey(), v.bytes(t, "pkI")) {
			t.Fatalf("public key %x", issuer.PublicKey())
		}
		client, err := NewClient(VOPRF, issuer.PublicKey())
		if err != nil {
			t.Fatal(err)
		}
		client.blind = fixedVOPRF(t, key.Public(), v)
		request, pending, err := client.requestWith([32]byte(v.bytes(t, "nonce")), v.challenge(t))
		if err != nil {
			t.Fatal(err)
		}
		check(t, v, nil, issuer.Verifier(), request, pending)
	}
}

func fixedVOPRF(t *testing.T, key *oprf.PublicKey, v vector) blinder {
	c := oprf.NewVerifiableClient(oprf.SuiteP384, key)
	blind := oprf.SuiteP384.Group().NewScalar()
	if err := blind.UnmarshalBinary(v.bytes(t, "blind")); err != nil {
		t.Fatal(err)
	}
	return func(input []byte) ([]byte, func([]byte) ([]byte, error), error) {
		data, request, err := c.DeterministicBlind([][]byte{input}, []oprf.Blind{blind})
		if err != nil {
			return nil, nil, err
		}
		return finishVOPRF(c, data, request)
	}
}

// check follows one token from request to verification. The issuer is nil if its answers
// are random.
func check(t *testing.T, v vector, issuer Issuer, verifier *Verifier, request []byte, pending *Pending) {
	t.Helper()
	if !bytes.Equal(request, v.bytes(t, "token_request")) {
		t.Fatalf("request %x", request)
	}
	response := v.bytes(t, "token_response")
	if issuer != nil {
		mine, err := issuer.Issue(request)
		if err != nil || !bytes.Equal(mine, response) {
			t.Fatalf("response %x, %v", mine, err)
		}
	}
	token, err := pending.Finish(response)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(token.Encode(), v.bytes(t, "token")) {
		t.Fatalf("token %x", token.Encode())
	}
	if err := verifier.Verify(token, v.challenge(t).Digest()); err != nil {
		t.Fatal(err)
	}
}
