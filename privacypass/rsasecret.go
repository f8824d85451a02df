package privacypass

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"math/big"

	"filippo.io/bigmod"
)

// rsaSecret is a private key of two primes for arithmetic whose time and memory
// accesses depend on sizes only.
type rsaSecret struct {
	n, p, q *bigmod.Modulus
	modulus *big.Int // n again
	e       uint
	dp, dq  []byte      // d mod p-1 and mod q-1
	qInv    *bigmod.Nat // of q mod p
}

func newRSASecret(k *rsa.PrivateKey) (*rsaSecret, error) {
	n, err := bigmod.NewModulus(k.N.Bytes())
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
		n: n, p: p, q: q, modulus: k.N, e: uint(k.E),
		dp: k.Precomputed.Dp.FillBytes(make([]byte, p.Size())),
		dq: k.Precomputed.Dq.FillBytes(make([]byte, q.Size())),
	}
	s.qInv, err = bigmod.NewNat().SetBytes(k.Precomputed.Qinv.FillBytes(make([]byte, p.Size())), p)
	return s, err
}

// power returns m^d mod n. The arithmetic takes a constant time; m is multiplied
// by the power of a random number all the same, so that whoever asks does not know
// what is raised to d (RFC 9474, section 7.1). One wrong result would show the
// primes, so that each is checked before it is let out: RFC 9474, section 4.3.
func (s *rsaSecret) power(m *bigmod.Nat) ([]byte, error) {
	factor, inverse, err := s.blind()
	if err != nil {
		return nil, err
	}
	hidden := bigmod.NewNat().ExpShortVarTime(factor, s.e, s.n)
	signed := s.byPrimes(hidden.Mul(m, s.n)).Mul(inverse, s.n)
	if bigmod.NewNat().ExpShortVarTime(signed, s.e, s.n).Equal(m) != 1 {
		return nil, errors.New("the signature does not verify; check the key and the machine")
	}
	return signed.Bytes(s.n), nil
}

// blind returns a random number and its inverse. Finding an inverse takes a time
// that shows of what; so it is that of the number's product with another one.
func (s *rsaSecret) blind() (factor, inverse *bigmod.Nat, err error) {
	for {
		if factor, err = s.random(); err != nil {
			return nil, nil, err
		}
		other, err := s.random()
		if err != nil {
			return nil, nil, err
		}
		product := bigmod.NewNat().Mod(factor, s.n).Mul(other, s.n)
		shown := new(big.Int).SetBytes(product.Bytes(s.n))
		if shown.ModInverse(shown, s.modulus) == nil {
			continue // a multiple of a prime: never, but for the number 0
		}
		inverse, err = bigmod.NewNat().SetBytes(shown.FillBytes(make([]byte, s.n.Size())), s.n)
		if err != nil {
			return nil, nil, err
		}
		return factor, inverse.Mul(other, s.n), nil
	}
}

// random returns a uniform number below n.
func (s *rsaSecret) random() (*bigmod.Nat, error) {
	b := make([]byte, s.n.Size())
	for {
		if _, err := rand.Read(b); err != nil {
			return nil, fmt.Errorf("draw a number: %w", err)
		}
		if x, err := bigmod.NewNat().SetBytes(b, s.n); err == nil {
			return x, nil
		}
	}
}

// byPrimes returns x^d mod n by Garner's formula: RFC 8017, section 5.1.2.
func (s *rsaSecret) byPrimes(x *bigmod.Nat) *bigmod.Nat {
	reduced := bigmod.NewNat()
	y := bigmod.NewNat().Exp(reduced.Mod(x, s.p), s.dp, s.p)
	atQ := bigmod.NewNat().Exp(reduced.Mod(x, s.q), s.dq, s.q)
	y.Sub(reduced.Mod(atQ, s.p), s.p).Mul(s.qInv, s.p)
	y.ExpandFor(s.n).Mul(reduced.Mod(s.q.Nat(), s.n), s.n)
	return y.Add(atQ.ExpandFor(s.n), s.n)
}
