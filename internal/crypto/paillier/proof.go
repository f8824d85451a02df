package paillier

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math/big"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
)

// The owner of a key shows that n has no factor in common with phi(n): only then is every number modulo
// n an n-th power, and an encryption of 0 by a random one hides all of a ciphertext but its plaintext.
//
// Source: Goldberg, Reyzin, Sagga, Baldimtsi, "Efficient noninteractive certification of RSA moduli
// and beyond", ASIACRYPT 2019. Where a prime divides both, at most one number in that prime has an n-th
// root. Primes below 2^16 are looked for, and 11 numbers that follow from n have roots by chance once
// in 2^176 moduli.
const (
	proofRoots = 11
	leastPrime = 1 << 16
)

// Proof returns n-th roots of the numbers that follow from the modulus.
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

// ProofBytes returns the length of a proof about a key of bits bits.
func ProofBytes(bits int) int { return proofRoots * ((bits + 7) / 8) }

// Verify refuses a modulus whose owner has not shown that it has no factor in common with phi(n).
func (k *PublicKey) Verify(proof []byte) error {
	if len(proof) != ProofBytes(k.n.BitLen()) {
		return errors.New("paillier: the proof about the key has another length")
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
			return errors.New("paillier: the proof about the key is wrong, so its modulus may have been made to see through what hides a sum")
		}
	}
	return nil
}

// challenge returns a number modulo n that follows from n.
func (k *PublicKey) challenge(i int) *big.Int {
	stream := prg.New(sha256.Sum256(k.Modulus()), "paillier/proof", binary.LittleEndian.AppendUint64(nil, uint64(i)))
	x, err := below(stream, k.n)
	if err != nil {
		panic(err) // a stream does not end
	}
	return x
}
