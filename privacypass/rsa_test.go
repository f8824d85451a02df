package privacypass

import (
	"bytes"
	"testing"

	"github.com/cloudflare/circl/blindsign/blindrsa"
)

// Signing by the two primes gives what signing by the whole modulus does.
func TestIssueByPrimes(t *testing.T) {
	key, err := GenerateRSA()
	if err != nil {
		t.Fatal(err)
	}
	i, err := NewRSAIssuer(key)
	if err != nil {
		t.Fatal(err)
	}
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
