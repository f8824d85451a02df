package privacypass

import (
	"crypto/rsa"
	"errors"

	"filippo.io/bigmod"
)

// rsaSecret is a private key of two primes for arithmetic whose time and memory
// accesses depend on sizes only.
type rsaSecret struct {
	*rsaPublic
	p, q   *bigmod.Modulus
	dp, dq []byte      // d mod p-1 and mod q-1
	qInv   *bigmod.Nat // of q mod p
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

// sign returns m^d mod n. The arithmetic takes a constant time; m is multiplied
// by the power of a random number all the same, so that an asker does not know
// what is raised to d (RFC 9474, section 7.1). One wrong result would show the
// primes, so that each is checked before it is let out: RFC 9474, section 4.3.
func (s *rsaSecret) sign(m *bigmod.Nat) ([]byte, error) {
	factor, inverse, err := s.factor()
	if err != nil {
		return nil, err
	}
	hidden := s.power(factor)
	signed := s.byPrimes(hidden.Mul(m, s.n)).Mul(inverse, s.n)
	if s.power(signed).Equal(m) != 1 {
		return nil, errors.New("the signature does not verify; check the key and the machine")
	}
	return signed.Bytes(s.n), nil
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
