package identity

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func seedOf(b byte) (seed [SeedSize]byte) {
	for i := range seed {
		seed[i] = b + byte(i)
	}
	return seed
}

func mustFromSeed(t testing.TB, seed [SeedSize]byte) *Identity {
	t.Helper()
	id, err := FromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// slowHKDF is RFC 5869 written out: extract with a salt of zeros, one block of
// expand.
func slowHKDF(secret []byte, info string) []byte {
	mac := func(key, data []byte) []byte {
		h := hmac.New(sha256.New, key)
		h.Write(data)
		return h.Sum(nil)
	}
	return mac(mac(make([]byte, 32), secret), append([]byte(info), 1))
}

func TestKeysAreTheDocumentedDerivation(t *testing.T) {
	seed := seedOf(1)
	id := mustFromSeed(t, seed)
	sign := ed25519.NewKeyFromSeed(slowHKDF(seed[:], "mercer/v1/identity/sign"))
	if !sign.Equal(id.SigningKey()) {
		t.Error("signing key is not Ed25519 of HKDF(seed, sign label)")
	}
	kem, err := hpke.MLKEM768X25519().DeriveKeyPair(slowHKDF(seed[:], "mercer/v1/identity/kem"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kem.PublicKey().Bytes(), id.Public().KEM) {
		t.Error("KEM key is not DeriveKeyPair of HKDF(seed, KEM label)")
	}
	link := ed25519.NewKeyFromSeed(slowHKDF(seed[:], "mercer/v1/identity/tls"))
	if !link.Equal(id.TLSKey()) || !id.PublicTLS().TLS.Equal(link.Public()) {
		t.Error("TLS key is not Ed25519 of HKDF(seed, TLS label)")
	}
	for _, p := range []Public{id.Public(), id.PublicTLS()} {
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// The first version of this package printed this value: a change would turn every deployed
// seed file into another identity.
func TestFingerprintStaysWhatItWas(t *testing.T) {
	const want = "ff73-2c38-17ed-826e-49b3-cb40-b135-264c"
	if got := mustFromSeed(t, seedOf(1)).Public().Fingerprint().String(); got != want {
		t.Errorf("fingerprint of the test seed: %s, want %s", got, want)
	}
}

func TestFromSeedIsDeterministicAndSeedsDiffer(t *testing.T) {
	a, b, c := mustFromSeed(t, seedOf(1)), mustFromSeed(t, seedOf(1)), mustFromSeed(t, seedOf(2))
	if diff := cmp.Diff(a.Public(), b.Public()); diff != "" {
		t.Errorf("one seed, two identities:\n%s", diff)
	}
	pa, pc := a.Public(), c.Public()
	if bytes.Equal(pa.Sign, pc.Sign) || bytes.Equal(pa.KEM, pc.KEM) || pa.NKey == pc.NKey {
		t.Error("two seeds share a key")
	}
}

func TestFingerprintBindsEveryKey(t *testing.T) {
	p, other := mustFromSeed(t, seedOf(1)).Public(), mustFromSeed(t, seedOf(2)).Public()
	want := p.Fingerprint()
	for name, q := range map[string]Public{
		"sign": {Sign: other.Sign, KEM: p.KEM, NKey: p.NKey},
		"kem":  {Sign: p.Sign, KEM: other.KEM, NKey: p.NKey},
		"nkey": {Sign: p.Sign, KEM: p.KEM, NKey: other.NKey},
		"tls":  {Sign: p.Sign, KEM: p.KEM, NKey: p.NKey, TLS: other.Sign},
	} {
		if q.Fingerprint() == want {
			t.Errorf("another %s key has the same fingerprint", name)
		}
	}
}

func TestNKeySigns(t *testing.T) {
	id := mustFromSeed(t, seedOf(1))
	sig, err := id.NKey().Sign([]byte("nonce"))
	if err != nil {
		t.Fatal(err)
	}
	if err := mustFromSeed(t, seedOf(1)).NKey().Verify([]byte("nonce"), sig); err != nil {
		t.Error(err)
	}
	if err := mustFromSeed(t, seedOf(2)).NKey().Verify([]byte("nonce"), sig); err == nil {
		t.Error("another identity's nkey verifies the signature")
	}
}

// The same 32 bytes as identity seed and as session seed give unrelated keys.
func TestSessionKeysAreNotTheIdentitys(t *testing.T) {
	seed := seedOf(1)
	k, err := DeriveSession(seed)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(k.Public().Bytes(), mustFromSeed(t, seed).Public().KEM) {
		t.Error("the session key is the identity's")
	}
	again, err := DeriveSession(seed)
	if err != nil || !bytes.Equal(again.Public().Bytes(), k.Public().Bytes()) {
		t.Errorf("one session seed gives two keys (%v)", err)
	}
}

func TestValidateRefuses(t *testing.T) {
	good := mustFromSeed(t, seedOf(1)).PublicTLS()
	edit := func(f func(*Public)) Public {
		p := Public{bytes.Clone(good.Sign), bytes.Clone(good.KEM), good.NKey, bytes.Clone(good.TLS)}
		f(&p)
		return p
	}
	for _, c := range []struct {
		name string
		p    Public
		want string
	}{
		{"empty", Public{}, "signing key has 0 bytes"},
		{"short signing key", edit(func(p *Public) { p.Sign = p.Sign[:31] }), "signing key has 31 bytes"},
		{"short KEM key", edit(func(p *Public) { p.KEM = p.KEM[:1215] }), "KEM key, of 1215 bytes, is not valid"},
		{"KEM key out of range", edit(func(p *Public) { p.KEM = bytes.Repeat([]byte{0xff}, len(p.KEM)) }), "KEM key"},
		{"short TLS key", edit(func(p *Public) { p.TLS = p.TLS[:31] }), "TLS key has 31 bytes"},
		{"long TLS key", edit(func(p *Public) { p.TLS = append(p.TLS, 0) }), "TLS key has 33 bytes"},
		{"no nkey", edit(func(p *Public) { p.NKey = "" }), "user nkey"},
		{"account nkey", edit(func(p *Public) { p.NKey = "A" + p.NKey[1:] }), "user nkey"},
		{"nkey with a typing error", edit(func(p *Public) { p.NKey = p.NKey[:20] + swap(p.NKey[20]) + p.NKey[21:] }), "user nkey"},
		{"nkey with a line break", edit(func(p *Public) { p.NKey += "\n" }), "canonical"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.p.Validate()
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "identity: ") {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func swap(c byte) string {
	if c == 'A' {
		return "B"
	}
	return "A"
}

func FuzzValidate(f *testing.F) {
	p := mustFromSeed(f, seedOf(1)).Public()
	f.Add([]byte(p.Sign), p.KEM, p.NKey)
	f.Add([]byte{}, []byte{}, "")
	f.Fuzz(func(t *testing.T, sign, kem []byte, nkey string) {
		p := Public{Sign: sign, KEM: kem, NKey: nkey}
		if p.Validate() != nil {
			return
		}
		if k, err := p.KEMKey(); err != nil || !bytes.Equal(k.Bytes(), kem) {
			t.Fatalf("an accepted KEM key has two encodings: %s", hex.EncodeToString(kem[:8]))
		}
	})
}

// The words are the proposal's examples: the words of the addresses 127.0.0.1, 63.84.220.193 and others.
func TestWordsOfAFingerprint(t *testing.T) {
	f := Fingerprint{127, 0, 0, 1, 63, 84, 220, 193, 63, 118, 7, 35, 140, 98, 193, 141}
	if got := f.Words(); got != "lusab-babad-gutih-tugad-gutuk-bisog-mudof-sakat" {
		t.Error(got)
	}
	f[20] ^= 1 // people compare the first 128 bits
	if got := f.Words(); !strings.HasSuffix(got, "-sakat") {
		t.Error(got)
	}
}
