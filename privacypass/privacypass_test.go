package privacypass_test

import (
	"bytes"
	"crypto/rsa"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/mercer-fl/mercer/privacypass"
)

// drawn draws one RSA key for all tests: it takes a while.
var drawn = sync.OnceValues(privacypass.GenerateRSA)

func rsaKey(t testing.TB) *rsa.PrivateKey {
	t.Helper()
	key, err := drawn()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// party is an issuer with a client and a verifier.
type party struct {
	kind     privacypass.Type
	issuer   privacypass.Issuer
	client   *privacypass.Client
	verifier *privacypass.Verifier
}

func parties(t testing.TB) []party {
	t.Helper()
	r, err := privacypass.NewRSAIssuer(rsaKey(t))
	if err != nil {
		t.Fatal(err)
	}
	rv, err := privacypass.NewRSAVerifier(r.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	v := voprf(t, 1)
	list := []party{{privacypass.BlindRSA, r, nil, rv}, {privacypass.VOPRF, v, nil, v.Verifier()}}
	for i := range list {
		p := &list[i]
		if p.client, err = privacypass.NewClient(p.kind, p.issuer.PublicKey()); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

func voprf(t testing.TB, seed byte) *privacypass.VOPRFIssuer {
	t.Helper()
	v, err := privacypass.NewVOPRFIssuer(bytes.Repeat([]byte{seed}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func challenge(kind privacypass.Type, context byte) privacypass.Challenge {
	return privacypass.Challenge{Type: kind, Issuer: "issuer.example", Context: bytes.Repeat([]byte{context}, 32), Origin: "gateway.example"}
}

func (p party) token(t testing.TB, c privacypass.Challenge) *privacypass.Token {
	t.Helper()
	request, pending, err := p.client.Request(c)
	if err != nil {
		t.Fatal(err)
	}
	response, err := p.issuer.Issue(request)
	if err != nil {
		t.Fatal(err)
	}
	token, err := pending.Finish(response)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestTokens(t *testing.T) {
	for _, p := range parties(t) {
		c := challenge(p.kind, 1)
		token := p.token(t, c)
		if err := p.verifier.Verify(token, c.Digest()); err != nil {
			t.Fatalf("%v: %v", p.kind, err)
		}
		again, err := privacypass.ParseAuthorization(token.Authorization())
		if err != nil || !bytes.Equal(again.Encode(), token.Encode()) || len(token.Encode()) != p.kind.Size() {
			t.Errorf("%v: read again: %v", p.kind, err)
		}
		if other := p.token(t, c); other.Nonce == token.Nonce {
			t.Errorf("%v: two tokens have one nonce", p.kind)
		}
		otherChallenge := challenge(p.kind, 2)
		if err := p.verifier.Verify(token, otherChallenge.Digest()); !errors.Is(err, privacypass.ErrChallenge) {
			t.Errorf("%v: for another challenge: %v", p.kind, err)
		}
		for _, at := range []int{0, len(token.Authenticator) - 1} {
			forged := *token
			forged.Authenticator = bytes.Clone(token.Authenticator)
			forged.Authenticator[at] ^= 1
			if err := p.verifier.Verify(&forged, c.Digest()); !errors.Is(err, privacypass.ErrForged) {
				t.Errorf("%v: byte %d changed: %v", p.kind, at, err)
			}
		}
		moved := *token
		moved.Nonce[0] ^= 1
		if err := p.verifier.Verify(&moved, c.Digest()); !errors.Is(err, privacypass.ErrForged) {
			t.Errorf("%v: another nonce: %v", p.kind, err)
		}
	}
}

// Many clients may use one issuer and its verifier concurrently. (With the race detector
// this has found shared state within circl.)
func TestManyAtATime(t *testing.T) {
	for _, p := range parties(t) {
		challenge := privacypass.Challenge{Type: p.kind, Issuer: "issuer.example"}
		var asking sync.WaitGroup
		for range 4 {
			asking.Go(func() {
				c, err := privacypass.NewClient(p.kind, p.issuer.PublicKey())
				if err != nil {
					t.Error(err)
					return
				}
				for range 3 {
					if err := redeem(p, c, challenge); err != nil {
						t.Errorf("%v: %v", p.kind, err)
					}
				}
			})
		}
		asking.Wait()
	}
}

// redeem fetches a token and shows it.
func redeem(p party, c *privacypass.Client, challenge privacypass.Challenge) error {
	blinded, pending, err := c.Request(challenge)
	if err != nil {
		return err
	}
	answer, err := p.issuer.Issue(blinded)
	if err != nil {
		return err
	}
	token, err := pending.Finish(answer)
	if err != nil {
		return err
	}
	return p.verifier.Verify(token, challenge.Digest())
}

// The issuer sees no part of a token, and no value twice.
func TestIssuerSeesNothing(t *testing.T) {
	for _, p := range parties(t) {
		c := challenge(p.kind, 1)
		seen := map[string]bool{}
		for range 5 {
			request, pending, err := p.client.Request(c)
			if err != nil {
				t.Fatal(err)
			}
			response, err := p.issuer.Issue(request)
			if err != nil {
				t.Fatal(err)
			}
			token, err := pending.Finish(response)
			if err != nil {
				t.Fatal(err)
			}
			digest := c.Digest()
			for _, part := range [][]byte{token.Nonce[:], digest[:], token.Authenticator} {
				if bytes.Contains(request, part[:16]) || bytes.Contains(response, part[:16]) {
					t.Errorf("%v: the issuer saw a part of the token", p.kind)
				}
			}
			if seen[string(request[3:])] {
				t.Errorf("%v: one blinded input twice", p.kind)
			}
			seen[string(request[3:])] = true
		}
	}
}

func TestRefused(t *testing.T) {
	list := parties(t)
	for i, p := range list {
		request, pending, err := p.client.Request(challenge(p.kind, 1))
		if err != nil {
			t.Fatal(err)
		}
		short, other, key := request[:len(request)-1], bytes.Clone(request), bytes.Clone(request)
		other[1] ^= 3
		key[2] ^= 1
		for name, bad := range map[string][]byte{"short": short, "of another type": other, "for another key": key, "empty": nil} {
			if _, err := p.issuer.Issue(bad); err == nil {
				t.Errorf("%v: a request that is %s was answered", p.kind, name)
			}
		}
		response, err := p.issuer.Issue(request)
		if err != nil {
			t.Fatal(err)
		}
		response[5] ^= 1
		if _, err := pending.Finish(response); err == nil {
			t.Errorf("%v: a changed answer was taken", p.kind)
		}
		if _, _, err := p.client.Request(challenge(list[1-i].kind, 1)); err == nil {
			t.Errorf("%v: a challenge of another kind was taken", p.kind)
		}
		if _, err := privacypass.NewClient(p.kind, []byte("key")); err == nil {
			t.Errorf("%v: a client of no key", p.kind)
		}
	}
	// An issuer whose answer is by another key than its published one.
	p := list[1]
	request, pending, err := p.client.Request(challenge(p.kind, 1))
	if err != nil {
		t.Fatal(err)
	}
	for seed := byte(2); ; seed++ {
		response, err := voprf(t, seed).Issue(request)
		if err != nil {
			continue // another last byte of the key's id
		}
		if _, err := pending.Finish(response); err == nil {
			t.Error("an answer of another key was taken")
		}
		break
	}
}

func TestBadKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	small, err := rsa.GenerateKey(nil, 3072)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := privacypass.NewRSAIssuer(small); err == nil {
		t.Error("a key of 3072 bits was taken")
	}
	if _, err := privacypass.NewVOPRFIssuer([]byte("short")); err == nil {
		t.Error("a short seed was taken")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(challenge(privacypass.VOPRF, 1).Encode())
	f.Add(make([]byte, privacypass.BlindRSA.Size()))
	f.Add(append([]byte{0, 1}, make([]byte, privacypass.VOPRF.Size()-2)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := privacypass.ParseChallenge(b); err == nil && !bytes.Equal(c.Encode(), b) {
			t.Errorf("challenge %x is written %x", b, c.Encode())
		}
		if token, err := privacypass.ParseToken(b); err == nil && !bytes.Equal(token.Encode(), b) {
			t.Errorf("token %x is written %x", b, token.Encode())
		}
		if token, err := privacypass.ParseAuthorization(string(b)); err == nil {
			if _, err := privacypass.ParseAuthorization(token.Authorization()); err != nil {
				t.Error(err)
			}
		}
	})
}

func FuzzIssue(f *testing.F) {
	p := parties(f)
	for _, one := range p {
		request, _, err := one.client.Request(challenge(one.kind, 1))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(request)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, one := range p {
			if response, err := one.issuer.Issue(b); err == nil && len(response) == 0 {
				t.Error("an empty answer")
			}
		}
	})
}

// Whatever an issuer publishes, a client accepts or refuses it, and requests or not.
func FuzzNewClient(f *testing.F) {
	for _, one := range parties(f) {
		f.Add(one.issuer.PublicKey())
	}
	f.Fuzz(func(t *testing.T, key []byte) {
		for _, kind := range []privacypass.Type{privacypass.BlindRSA, privacypass.VOPRF} {
			c, err := privacypass.NewClient(kind, key)
			if err != nil {
				continue
			}
			if _, pending, err := c.Request(challenge(kind, 1)); err == nil && pending == nil {
				t.Errorf("nothing is pending at an issuer with key %x", key)
			}
		}
	})
}

// Among all answers only the issuer's makes a token. (A new VOPRF answer to the same
// request has another proof, and is as good.)
func FuzzFinish(f *testing.F) {
	list := parties(f)
	var pending []*privacypass.Pending
	var want []*privacypass.Token
	for _, one := range list {
		request, p, err := one.client.Request(challenge(one.kind, 1))
		if err != nil {
			f.Fatal(err)
		}
		response, err := one.issuer.Issue(request)
		if err != nil {
			f.Fatal(err)
		}
		token, err := p.Finish(response)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(response)
		pending, want = append(pending, p), append(want, token)
	}
	f.Fuzz(func(t *testing.T, response []byte) {
		for i, p := range pending {
			if token, err := p.Finish(response); err == nil && !bytes.Equal(token.Encode(), want[i].Encode()) {
				t.Errorf("%x makes another token", response)
			}
		}
	})
}

func Benchmark(b *testing.B) {
	for _, p := range parties(b) {
		c := challenge(p.kind, 1)
		request, _, err := p.client.Request(c)
		if err != nil {
			b.Fatal(err)
		}
		token := p.token(b, c)
		b.Run(fmt.Sprintf("Issue/%#04x", uint16(p.kind)), func(b *testing.B) {
			for b.Loop() {
				if _, err := p.issuer.Issue(request); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("Verify/%#04x", uint16(p.kind)), func(b *testing.B) {
			for b.Loop() {
				if err := p.verifier.Verify(token, c.Digest()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
