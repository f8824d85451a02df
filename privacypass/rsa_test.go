package privacypass

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"slices"
	"strings"
	"testing"

	"github.com/cloudflare/circl/blindsign/blindrsa"
)

// newRSA returns an issuer with a new key.
func newRSA(t *testing.T) (*RSAIssuer, *rsa.PrivateKey) {
	t.Helper()
	key, err := GenerateRSA()
	if err != nil {
		t.Fatal(err)
	}
	i, err := NewRSAIssuer(key)
	if err != nil {
		t.Fatal(err)
	}
	return i, key
}

// Signing by the two primes gives what signing by the whole modulus does.
func TestIssueByPrimes(t *testing.T) {
	i, key := newRSA(t)
	c, err := NewClient(BlindRSA, i.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	whole := blindrsa.NewSigner(key)
	for range 5 {
		request, _, err := c.Request(Challenge{Type: BlindRSA, Issuer: "issuer.example"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := i.Issue(request)
		if err != nil {
			t.Fatal(err)
		}
		want, err := whole.BlindSign(request[3:])
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%x, want %x; %v", got, want, err)
		}
	}
	request := append(requestHead(BlindRSA, c.id), bytes.Repeat([]byte{0xff}, 256)...)
	if _, err := i.Issue(request); err == nil {
		t.Error("a number above the modulus was signed")
	}
}

// A machine that errs once in its arithmetic by either prime would give the
// primes away with the result. It gives nothing.
func TestFaultsStayInside(t *testing.T) {
	key, err := GenerateRSA()
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*rsaSecret){
		"by p": func(s *rsaSecret) { s.dp[5] ^= 1 },
		"by q": func(s *rsaSecret) { s.dq[70] ^= 4 },
		"q":    func(s *rsaSecret) { s.qInv.Add(s.qInv, s.p) },
	} {
		i, err := NewRSAIssuer(key)
		if err != nil {
			t.Fatal(err)
		}
		spoil(i.key)
		c, err := NewClient(BlindRSA, i.PublicKey())
		if err != nil {
			t.Fatal(err)
		}
		request, _, err := c.Request(Challenge{Type: BlindRSA, Issuer: "issuer.example"})
		if err != nil {
			t.Fatal(err)
		}
		if response, err := i.Issue(request); err == nil || response != nil || !strings.Contains(err.Error(), "does not verify") {
			t.Errorf("%s: %x, %v", name, response, err)
		}
	}
}

// No two signatures of one request raise the same number to d.
func TestEveryPowerIsBlinded(t *testing.T) {
	i, _ := newRSA(t)
	seen := make(map[string]bool)
	for range 20 {
		factor, inverse, err := i.key.blind()
		if err != nil {
			t.Fatal(err)
		}
		seen[string(factor.Bytes(i.key.n))] = true
		if factor.Mul(inverse, i.key.n).IsOne() != 1 {
			t.Fatal("a factor and no inverse")
		}
	}
	if len(seen) != 20 {
		t.Errorf("%d different factors of 20", len(seen))
	}
}

func TestWeakKeysRefused(t *testing.T) {
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	good, err := GenerateRSA()
	if err != nil {
		t.Fatal(err)
	}
	other, err := GenerateRSA()
	if err != nil {
		t.Fatal(err)
	}
	altered := func(change func(*rsa.PrivateKey)) *rsa.PrivateKey {
		k := &rsa.PrivateKey{PublicKey: good.PublicKey, D: good.D, Primes: slices.Clone(good.Primes)}
		change(k)
		return k
	}
	for name, k := range map[string]*rsa.PrivateKey{
		"1024 bits":      short,
		"exponent 3":     altered(func(k *rsa.PrivateKey) { k.E = 3 }),
		"other exponent": altered(func(k *rsa.PrivateKey) { k.D = other.D }),
		"other primes":   altered(func(k *rsa.PrivateKey) { k.Primes = other.Primes }),
		"one prime":      altered(func(k *rsa.PrivateKey) { k.Primes = k.Primes[:1] }),
		"square":         altered(func(k *rsa.PrivateKey) { k.Primes[1] = k.Primes[0] }),
	} {
		if _, err := NewRSAIssuer(k); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := NewRSAIssuer(altered(func(*rsa.PrivateKey) {})); err != nil {
		t.Errorf("the key itself: %v", err)
	}
}

func BenchmarkIssueRSA(b *testing.B) {
	key, err := GenerateRSA()
	if err != nil {
		b.Fatal(err)
	}
	i, err := NewRSAIssuer(key)
	if err != nil {
		b.Fatal(err)
	}
	c, err := NewClient(BlindRSA, i.PublicKey())
	if err != nil {
		b.Fatal(err)
	}
	request, _, err := c.Request(Challenge{Type: BlindRSA, Issuer: "issuer.example"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := i.Issue(request); err != nil {
			b.Fatal(err)
		}
	}
}
