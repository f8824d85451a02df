package privacypass

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/cloudflare/circl/blindsign/blindrsa"
)

// newRSA returns an issuer with a new key.
func newRSA(t testing.TB) (*RSAIssuer, *rsa.PrivateKey) {
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

// Signing by the two primes gives the same result as signing by the whole modulus.
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

// A single error in the arithmetic of either prime would reveal the primes with the result.
// The issuer returns none.
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
		factor, inverse, err := i.key.drawFactor()
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

// With the same salts and factors a client blinds and unblinds to the bytes of circl, whose
// arithmetic is different.
func TestClientEqualsCircl(t *testing.T) {
	i, key := newRSA(t)
	theirs, err := blindrsa.NewClient(blindrsa.SHA384PSSDeterministic, &key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	for size := range 20 {
		input, salt := make([]byte, 10*size), make([]byte, crypto.SHA384.Size())
		draw(t, input)
		draw(t, salt)
		factor, inverse, err := i.key.drawFactor()
		if err != nil {
			t.Fatal(err)
		}
		got, mine, err := i.key.blind(input, salt, factor, inverse)
		if err != nil {
			t.Fatal(err)
		}
		want, state, err := theirs.Blind(bytes.NewReader(append(salt, factor.Bytes(i.key.n)...)), input)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("blinded to %x, want %x; %v", got, want, err)
		}
		response, err := i.Issue(append(requestHead(BlindRSA, sha256.Sum256(i.public)), got...))
		if err != nil {
			t.Fatal(err)
		}
		signature, err := mine.finish(response)
		if err != nil {
			t.Fatal(err)
		}
		same, err := theirs.Finalize(state, response)
		if err != nil || !bytes.Equal(signature, same) {
			t.Fatalf("unblinded to %x, want %x; %v", signature, same, err)
		}
	}
}

func draw(t testing.TB, b []byte) {
	t.Helper()
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
}

// Every answer of an issuer except the signature is refused.
func TestAnswersRefused(t *testing.T) {
	i, key := newRSA(t)
	c, err := NewClient(BlindRSA, i.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	request, pending, err := c.Request(Challenge{Type: BlindRSA, Issuer: "issuer.example"})
	if err != nil {
		t.Fatal(err)
	}
	good, err := i.Issue(request)
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(good)
	other[200] ^= 1
	for name, response := range map[string][]byte{
		"empty":         nil,
		"short":         good[1:],
		"long":          append([]byte{0}, good...),
		"zero":          make([]byte, 256),
		"one bit":       other,
		"the request":   request[3:],
		"the modulus":   key.N.Bytes(),
		"above modulus": bytes.Repeat([]byte{0xff}, 256),
	} {
		if token, err := pending.Finish(response); err == nil {
			t.Errorf("%s: %+v", name, token)
		}
	}
	if _, err := pending.Finish(good); err != nil {
		t.Error(err)
	}
}

// A modulus that would let its issuer recognise a client, or that the arithmetic cannot
// handle, gives no client.
func TestSmallFactorsRefused(t *testing.T) {
	_, key := newRSA(t)
	for _, factor := range []int64{2, 3, 997} {
		n := new(big.Int).Div(key.N, big.NewInt(factor))
		public, err := encodeRSA(&rsa.PublicKey{N: n.Mul(n, big.NewInt(factor)), E: key.E})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewClient(BlindRSA, public); err == nil || !strings.Contains(err.Error(), "small factor") {
			t.Errorf("a multiple of %d: error %v", factor, err)
		}
	}
}

// An issuer whose modulus has a factor just above the tested ones learns nothing from an
// input with the same factor: there is no request.
func TestCommonFactorSendsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const hidden = 1009
	prime, err := rand.Prime(rand.Reader, rsaBits-9)
	if err != nil {
		t.Fatal(err)
	}
	modulus := new(big.Int).Mul(prime, big.NewInt(hidden))
	public, err := newRSAPublic(&rsa.PublicKey{N: modulus, E: 65537})
	if err != nil {
		t.Fatal(err)
	}
	factor, inverse, err := public.drawFactor()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for n := uint64(0); !found; n++ {
		input := binary.BigEndian.AppendUint64(nil, n)
		m := new(big.Int).SetBytes(encodePSS(input, nil, modulus.BitLen()-1))
		if found = m.Mod(m, big.NewInt(hidden)).Sign() == 0; !found && n > 2 {
			continue
		}
		if blinded, _, err := public.blind(input, nil, factor, inverse); (err != nil) != found {
			t.Errorf("input %d, which has the factor: %v; %x, %v", n, found, blinded, err)
		}
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

// BenchmarkClientRSA makes a request and a token from its answer, as a device does, beside
// circl in the same run.
func BenchmarkClientRSA(b *testing.B) {
	i, key := newRSA(b)
	c, err := NewClient(BlindRSA, i.PublicKey())
	if err != nil {
		b.Fatal(err)
	}
	theirs, err := blindrsa.NewClient(blindrsa.SHA384PSSDeterministic, &key.PublicKey)
	if err != nil {
		b.Fatal(err)
	}
	// The content of the answer does not change the time: a signature is verified or
	// refused.
	answer := make([]byte, rsaBits/8)
	answer[0] = 1
	input := make([]byte, headSize)
	b.Run("mercer", func(b *testing.B) {
		for b.Loop() {
			_, finish, err := c.blind(input)
			if err != nil {
				b.Fatal(err)
			}
			_, _ = finish(answer)
		}
	})
	b.Run("circl", func(b *testing.B) {
		for b.Loop() {
			_, state, err := theirs.Blind(rand.Reader, input)
			if err != nil {
				b.Fatal(err)
			}
			_, _ = theirs.Finalize(state, answer)
		}
	})
}
