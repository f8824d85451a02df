package privacypass

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"

	"filippo.io/bigmod"
)

const rsaBits = 2048

// pssAlgorithm is the AlgorithmIdentifier of RSASSA-PSS with SHA-384, MGF1 with SHA-384 and 48
// bytes of salt (RFC 9578, section 6.5).
var pssAlgorithm = asn1.RawValue{FullBytes: []byte("\x30\x3d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a\x30\x30" +
	"\xa0\x0d\x30\x0b\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02" +
	"\xa1\x1a\x30\x18\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x08\x30\x0b\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02" +
	"\xa2\x03\x02\x01\x30")}

// subjectKey is the ASN.1 structure SubjectPublicKeyInfo.
type subjectKey struct {
	Algorithm asn1.RawValue
	Key       asn1.BitString
}

// encodeRSA returns a public key in the encoding whose hash is the key's id in tokens.
func encodeRSA(k *rsa.PublicKey) ([]byte, error) {
	b := x509.MarshalPKCS1PublicKey(k)
	return asn1.Marshal(subjectKey{pssAlgorithm, asn1.BitString{Bytes: b, BitLength: 8 * len(b)}})
}

// parseRSA decodes a public key that encodeRSA has encoded. It refuses other encodings of the
// same key, because they would have another id.
func parseRSA(b []byte) (*rsa.PublicKey, error) {
	errKey := errors.New("privacypass: the public key is not an RSASSA-PSS key with SHA-384, 2048 bits and exponent 65537")
	var s subjectKey
	if rest, err := asn1.Unmarshal(b, &s); err != nil || len(rest) > 0 {
		return nil, errKey
	}
	k, err := x509.ParsePKCS1PublicKey(s.Key.Bytes)
	if err != nil || k.N.BitLen() != rsaBits || k.E != 65537 {
		return nil, errKey
	}
	if again, err := encodeRSA(k); err != nil || !bytes.Equal(again, b) {
		return nil, errKey
	}
	return k, nil
}

// RSAIssuer issues tokens of type [BlindRSA].
type RSAIssuer struct {
	key    *rsaSecret
	public []byte
}

// NewRSAIssuer returns an issuer that signs with the given key. The key must have 2048 bits and two
// primes, as [GenerateRSA] draws it.
func NewRSAIssuer(key *rsa.PrivateKey) (*RSAIssuer, error) {
	public, err := encodeRSA(&key.PublicKey)
	if err == nil {
		_, err = parseRSA(public)
	}
	if err == nil && len(key.Primes) != 2 {
		err = fmt.Errorf("privacypass: the RSA key has %d primes; use two", len(key.Primes))
	}
	if err == nil {
		err = key.Validate()
	}
	if err != nil {
		return nil, err
	}
	key.Precompute()
	secret, err := newRSASecret(key)
	if err != nil {
		return nil, fmt.Errorf("privacypass: the RSA key is not valid: %w", err)
	}
	return &RSAIssuer{secret, public}, nil
}

func newRSASecret(k *rsa.PrivateKey) (*rsaSecret, error) {
	public, err := newRSAPublic(&k.PublicKey)
	if err != nil {
		return nil, err
	}
	p, err := bigmod.NewModulus(k.Primes[0].Bytes())
	if err != nil {
		return nil, err
	}
	q, err := bigmod.NewModulus(k.Primes[1].Bytes())
	if err != nil {
		return nil, err
	}
	s := &rsaSecret{
		rsaPublic: public, p: p, q: q,
		dp: k.Precomputed.Dp.FillBytes(make([]byte, p.Size())),
		dq: k.Precomputed.Dq.FillBytes(make([]byte, q.Size())),
	}
	s.qInv, err = bigmod.NewNat().SetBytes(k.Precomputed.Qinv.FillBytes(make([]byte, p.Size())), p)
	return s, err
}

// GenerateRSA draws a private key for an issuer.
func GenerateRSA() (*rsa.PrivateKey, error) {
	k, err := rsa.GenerateKey(rand.Reader, rsaBits)
	if err != nil {
		return nil, fmt.Errorf("privacypass: cannot draw an RSA key: %w", err)
	}
	return k, nil
}

// PublicKey returns the issuer's public key, encoded as a SubjectPublicKeyInfo.
func (i *RSAIssuer) PublicKey() []byte { return i.public }

// Issue signs the blinded input of a request.
func (i *RSAIssuer) Issue(request []byte) ([]byte, error) {
	blinded, err := blindedPart(request, BlindRSA, i.public, rsaBits/8)
	if err != nil {
		return nil, err
	}
	m, err := bigmod.NewNat().SetBytes(blinded, i.key.n)
	if err != nil {
		return nil, errors.New("privacypass: the request is not a number below the modulus")
	}
	signature, err := i.key.sign(m)
	if err != nil {
		return nil, fmt.Errorf("privacypass: cannot sign a request: %w", err)
	}
	return signature, nil
}

// NewRSAVerifier returns a verifier that checks tokens by the issuer's public key. Blind
// signing gives an ordinary signature of RSASSA-PSS (RFC 9474, section 4.5).
func NewRSAVerifier(publicKey []byte) (*Verifier, error) {
	k, err := parseRSA(publicKey)
	if err != nil {
		return nil, err
	}
	options := &rsa.PSSOptions{SaltLength: crypto.SHA384.Size()}
	return &Verifier{BlindRSA, sha256.Sum256(publicKey), func(input, authenticator []byte) bool {
		digest := sha512.Sum384(input)
		return rsa.VerifyPSS(k, crypto.SHA384, digest[:], authenticator, options) == nil
	}}, nil
}

func rsaBlinder(publicKey []byte) (blinder, error) {
	k, err := parseRSA(publicKey)
	if err != nil {
		return nil, err
	}
	// A modulus with a small factor would let the issuer recognise its client.
	if new(big.Int).GCD(nil, nil, k.N, smallPrimes()).Cmp(big.NewInt(1)) != 0 {
		return nil, errors.New("privacypass: the issuer's RSA modulus has a small factor")
	}
	public, err := newRSAPublic(k)
	if err != nil {
		return nil, fmt.Errorf("privacypass: %w", err)
	}
	return func(input []byte) ([]byte, func([]byte) ([]byte, error), error) {
		salt := make([]byte, crypto.SHA384.Size())
		if _, err := rand.Read(salt); err != nil {
			return nil, nil, fmt.Errorf("privacypass: cannot draw a salt: %w", err)
		}
		factor, inverse, err := public.drawFactor()
		if err != nil {
			return nil, nil, fmt.Errorf("privacypass: %w", err)
		}
		blinded, b, err := public.blind(input, salt, factor, inverse)
		if err != nil {
			return nil, nil, err
		}
		return blinded, b.finish, nil
	}, nil
}

// smallPrimes returns the product of the primes below 1000.
func smallPrimes() *big.Int {
	product := big.NewInt(1)
	for p := int64(2); p < 1000; p++ {
		if big.NewInt(p).ProbablyPrime(0) {
			product.Mul(product, big.NewInt(p))
		}
	}
	return product
}

// rsaSecret is an RSA private key with two primes. The arithmetic takes time and accesses memory in
// a way that depends on the sizes of numbers only, not on their values.
type rsaSecret struct {
	*rsaPublic
	p, q   *bigmod.Modulus
	dp, dq []byte      // private exponent d mod p-1 and mod q-1
	qInv   *bigmod.Nat // inverse of q mod p
}

// sign returns the RSA signature m^d mod n. The arithmetic takes constant time. Still, m is first
// multiplied by the e-th power of a random number, so that the sender of m does not know which
// number is raised to the power d (RFC 9474, section 7.1). One wrong signature would reveal the
// primes, so each signature is verified before it is returned (RFC 9474, section 4.3).
func (s *rsaSecret) sign(m *bigmod.Nat) ([]byte, error) {
	factor, inverse, err := s.drawFactor()
	if err != nil {
		return nil, err
	}
	hidden := s.power(factor)
	signed := s.byPrimes(hidden.Mul(m, s.n)).Mul(inverse, s.n)
	if s.power(signed).Equal(m) != 1 {
		return nil, errors.New("the issuer's own signature does not verify; check the key and the computer")
	}
	return signed.Bytes(s.n), nil
}

// byPrimes computes x^d mod n by Garner's formula (RFC 8017, section 5.1.2).
func (s *rsaSecret) byPrimes(x *bigmod.Nat) *bigmod.Nat {
	reduced := bigmod.NewNat()
	y := bigmod.NewNat().Exp(reduced.Mod(x, s.p), s.dp, s.p)
	atQ := bigmod.NewNat().Exp(reduced.Mod(x, s.q), s.dq, s.q)
	y.Sub(reduced.Mod(atQ, s.p), s.p).Mul(s.qInv, s.p)
	y.ExpandFor(s.n).Mul(reduced.Mod(s.q.Nat(), s.n), s.n)
	return y.Add(atQ.ExpandFor(s.n), s.n)
}
