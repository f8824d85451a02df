// Package paillier implements Paillier's additively homomorphic encryption. The product of
// ciphertexts modulo n^2 decrypts to the sum of the plaintexts modulo n.
//
// Sources: Paillier, "Public-key cryptosystems based on composite degree residuosity
// classes", EUROCRYPT 1999; Damgård, Jurik and Nielsen, "A generalization of
// Paillier's public-key system with applications to electronic voting", International
// Journal of Information Security 2010, for randomness by powers of a fixed base with
// short exponents.
//
//	key, err := paillier.GenerateKey(random, 2048)
//	exponent, err := paillier.NewExponent(random) // a new one for each ciphertext
//	c := key.Encrypt(m, exponent)
//	c = key.Add(c, d)
//	m = key.Decrypt(c)
//
// A ciphertext is (1+mn) b^r mod n^2 with b = (-x^2)^n for a random x, and r of at
// least [ExponentBits] random bits. Powers of b come from a table. The owner of the key
// encrypts and decrypts modulo the squares of the primes.
//
// A sum of ciphertexts reveals more to the owner of the key than the sum of the
// plaintexts: its randomness is the sum of all exponents. Therefore a holder of the public
// key adds its own encryption of 0 ([PublicKey.Blind]) to each ciphertext that it returns,
// with a new random number each time. This hides everything except the plaintext if n has
// no factor in common with phi(n), which the owner proves ([PrivateKey.Proof],
// [PublicKey.Verify]). Powers of one base would not suffice: an owner who chooses n so that
// both primes less 1 share factors has ciphertexts with a part that no power of that base
// has.
//
// # What is not promised
//
// Arithmetic is math/big's, whose time depends on the numbers: an observer who can measure
// the owner's time exactly may learn something about the key. Ciphertexts can be changed on
// their way; callers must authenticate the sender.
package paillier

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
)

// These constants are the sizes of a key and of the exponents that hide a plaintext.
const (
	Bits         = 2048 // bits of a key in production
	ExponentBits = 448
	leastBits    = 128 // least number of bits of a key, for tests
	mostBits     = 8192
)

// PublicKey adds ciphertexts.
type PublicKey struct{ n, square *big.Int }

// NewPublicKey returns the public key with the modulus n. The modulus must have the given number of
// bits.
func NewPublicKey(n []byte, bits int) (*PublicKey, error) {
	k := &PublicKey{n: new(big.Int).SetBytes(n)}
	if bits < leastBits || bits > mostBits || k.n.BitLen() != bits || k.n.Bit(0) == 0 || len(n) != (bits+7)/8 {
		return nil, fmt.Errorf("paillier: the key's modulus must be an odd number of %d bits", bits)
	}
	if root := new(big.Int).Sqrt(k.n); root.Mul(root, root).Cmp(k.n) == 0 {
		return nil, errors.New("paillier: the key's modulus is a square")
	}
	k.square = new(big.Int).Mul(k.n, k.n)
	return k, nil
}

// Modulus returns the modulus n, which is the whole public key.
func (k *PublicKey) Modulus() []byte { return k.n.FillBytes(make([]byte, (k.n.BitLen()+7)/8)) }

// Bytes returns the length of a ciphertext.
func (k *PublicKey) Bytes() int { return 2 * ((k.n.BitLen() + 7) / 8) }

// Add sets c to the sum of the ciphertexts c and d, and returns c.
func (k *PublicKey) Add(c, d *big.Int) *big.Int {
	c.Mul(c, d)
	return c.Mod(c, k.square)
}

// Shift returns the ciphertext of 2^bits times the plaintext of c.
func (k *PublicKey) Shift(c *big.Int, bits uint) *big.Int {
	out := new(big.Int).Set(c)
	for range bits {
		k.Add(out, out)
	}
	return out
}

// Check returns an error if a number is not a ciphertext. A ciphertext is above 0, below n^2, and
// has no factor in common with n.
func (k *PublicKey) Check(list ...*big.Int) error {
	product := big.NewInt(1)
	for _, c := range list {
		if c.Sign() <= 0 || c.Cmp(k.square) >= 0 {
			return errors.New("paillier: a ciphertext is out of range; it must be above 0 and below the square of the modulus")
		}
		product.Mul(product, c)
		product.Mod(product, k.n)
	}
	if new(big.Int).GCD(nil, nil, product, k.n).Cmp(big.NewInt(1)) != 0 {
		return errors.New("paillier: a ciphertext has a factor in common with the modulus")
	}
	return nil
}

// Blind adds an encryption of 0 to the ciphertext c and returns c. The encryption of 0 is the n-th
// power of a number from random.
func (k *PublicKey) Blind(c *big.Int, random io.Reader) (*big.Int, error) {
	x, err := below(random, k.n)
	if err != nil {
		return nil, err
	}
	return k.Add(c, x.Exp(x, k.n, k.square)), nil
}

// base returns (-x^2)^n mod n^2 for a random x.
func (k *PublicKey) base(random io.Reader) (*big.Int, error) {
	x, err := below(random, k.n)
	if err != nil {
		return nil, err
	}
	x.Mul(x, x).Mod(x, k.n).Sub(k.n, x)
	return x.Exp(x, k.n, k.square), nil
}

// below draws a number from 0 to n-1. Its distribution is uniform up to 2^-128.
func below(random io.Reader, n *big.Int) (*big.Int, error) {
	b := make([]byte, (n.BitLen()+7)/8+16)
	if _, err := io.ReadFull(random, b); err != nil {
		return nil, fmt.Errorf("paillier: %w", err)
	}
	x := new(big.Int).SetBytes(b)
	return x.Mod(x, n), nil
}

// The owner of a key proves that n has no factor in common with phi(n). Only then is every number
// modulo n an n-th power. And only then does adding a random encryption of 0 hide everything about
// a ciphertext except the plaintext.
//
// Source: Goldberg, Reyzin, Sagga, Baldimtsi, "Efficient noninteractive certification of RSA moduli
// and beyond", ASIACRYPT 2019. If a prime p divides both n and phi(n), at most a share 1/p of the
// numbers modulo n has n-th roots. Verify excludes primes below 2^16. So if there is such a prime,
// all 11 numbers derived from n have roots with probability at most 2^-176.
const (
	proofRoots = 11
	leastPrime = 1 << 16
)

// Proof returns n-th roots of the numbers that are derived from the modulus. They prove that n has
// no factor in common with phi(n).
func (k *PrivateKey) Proof() []byte {
	phi := new(big.Int).Mul(k.p.less, k.q.less)
	inverse := new(big.Int).ModInverse(k.n, phi)
	size := len(k.Modulus())
	b := make([]byte, proofRoots*size)
	for i := range proofRoots {
		x := k.challenge(i)
		x.Exp(x, inverse, k.n).FillBytes(b[size*i : size*(i+1)])
	}
	return b
}

// ProofBytes returns the length of a proof for a key of the given number of bits.
func ProofBytes(bits int) int { return proofRoots * ((bits + 7) / 8) }

// Verify returns an error unless the proof shows that the modulus has no factor in common
// with phi(n).
func (k *PublicKey) Verify(proof []byte) error {
	if len(proof) != ProofBytes(k.n.BitLen()) {
		return errors.New("paillier: the proof about the key does not have the length that the key requires")
	}
	rest, divisor := new(big.Int), new(big.Int)
	for d := int64(3); d < leastPrime; d += 2 {
		if rest.Mod(k.n, divisor.SetInt64(d)).Sign() == 0 {
			return errors.New("paillier: the key's modulus has a small factor")
		}
	}
	size := len(k.Modulus())
	for i := range proofRoots {
		root := new(big.Int).SetBytes(proof[size*i : size*(i+1)])
		if root.Cmp(k.n) >= 0 || root.Exp(root, k.n, k.n).Cmp(k.challenge(i)) != 0 {
			return errors.New("paillier: the proof about the key is wrong; the key's owner may have chosen the modulus to see more than a sum")
		}
	}
	return nil
}

// challenge returns the i-th number modulo n that is derived from n for the proof.
func (k *PublicKey) challenge(i int) *big.Int {
	stream := prg.New(sha256.Sum256(k.Modulus()), "paillier/proof", binary.LittleEndian.AppendUint64(nil, uint64(i)))
	x, err := below(stream, k.n)
	if err != nil {
		panic(err) // unreachable: a stream never ends
	}
	return x
}
