package privacypass

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"filippo.io/bigmod"
)

// rsaPublic is a public key with an odd modulus. The arithmetic takes time and accesses memory in a
// way that depends on the sizes of numbers only, not on their values.
type rsaPublic struct {
	n       *bigmod.Modulus
	modulus *big.Int // the modulus n as a big.Int
	e       uint
}

func newRSAPublic(k *rsa.PublicKey) (*rsaPublic, error) {
	n, err := bigmod.NewModulus(k.N.Bytes())
	if err != nil {
		return nil, err
	}
	return &rsaPublic{n, k.N, uint(k.E)}, nil
}

// power computes x^e mod n, where e is the public exponent.
func (k *rsaPublic) power(x *bigmod.Nat) *bigmod.Nat {
	return bigmod.NewNat().ExpShortVarTime(x, k.e, k.n)
}

// drawFactor draws a uniform invertible number mod n and returns the number and its inverse. The
// time of an inversion depends on the number that is inverted. So drawFactor inverts the product of
// its number and a second random number. The product is uniform whatever the first number is, so
// the time reveals nothing about the first number.
func (k *rsaPublic) drawFactor() (number, inverse *bigmod.Nat, err error) {
	for {
		if number, err = k.drawNumber(); err != nil {
			return nil, nil, err
		}
		mask, err := k.drawNumber()
		if err != nil {
			return nil, nil, err
		}
		product := bigmod.NewNat().Mod(number, k.n).Mul(mask, k.n)
		shown := new(big.Int).SetBytes(product.Bytes(k.n))
		if shown.ModInverse(shown, k.modulus) == nil {
			continue // the product is not invertible, which never happens with an honest key
		}
		inverse, err = bigmod.NewNat().SetBytes(shown.FillBytes(make([]byte, k.n.Size())), k.n)
		if err != nil {
			return nil, nil, err
		}
		return number, inverse.Mul(mask, k.n), nil
	}
}

// drawNumber returns a uniform number below n.
func (k *rsaPublic) drawNumber() (*bigmod.Nat, error) {
	b := make([]byte, k.n.Size())
	for {
		if _, err := rand.Read(b); err != nil {
			return nil, fmt.Errorf("cannot draw a random number: %w", err)
		}
		if x, err := bigmod.NewNat().SetBytes(b, k.n); err == nil {
			return x, nil
		}
	}
}

// blinding holds the values by which a client finishes a request, and which it must keep secret.
type blinding struct {
	key     *rsaPublic
	message *bigmod.Nat // encoded input
	inverse *bigmod.Nat // inverse of the factor that hides the message
}

// blind encodes an input and multiplies the encoding by the e-th power of factor (function Blind of
// RFC 9474, section 4.2).
func (k *rsaPublic) blind(input, salt []byte, factor, inverse *bigmod.Nat) ([]byte, *blinding, error) {
	m, err := bigmod.NewNat().SetBytes(encodePSS(input, salt, k.n.BitLen()-1), k.n)
	if err != nil {
		return nil, nil, fmt.Errorf("privacypass: cannot blind a request: %w", err)
	}
	blinded := k.power(factor).Mul(m, k.n).Bytes(k.n)
	// A factor that the encoded input and the modulus have in common would survive blinding. So the
	// check is made on the blinded number. The check can take variable time, because the issuer
	// sees that number.
	if new(big.Int).GCD(nil, nil, new(big.Int).SetBytes(blinded), k.modulus).Cmp(big.NewInt(1)) != 0 {
		return nil, nil, errors.New("privacypass: the input has a common factor with the issuer's RSA modulus; try again, or use another issuer")
	}
	return blinded, &blinding{k, m, inverse}, nil
}

// finish computes a signature from the issuer's answer and verifies it (function Finalize of
// RFC 9474, section 4.4).
func (b *blinding) finish(response []byte) ([]byte, error) {
	n := b.key.n
	if len(response) != n.Size() {
		return nil, fmt.Errorf("privacypass: the issuer's answer has %d bytes; it must have %d", len(response), n.Size())
	}
	s, err := bigmod.NewNat().SetBytes(response, n)
	if err != nil {
		return nil, errors.New("privacypass: the issuer's answer is not a number below the modulus")
	}
	if s.Mul(b.inverse, n); b.key.power(s).Equal(b.message) != 1 {
		return nil, errors.New("privacypass: the issuer's answer is not a signature by its key; fetch the issuer's key again")
	}
	return s.Bytes(n), nil
}

// encodePSS returns the EMSA-PSS encoding of an input with SHA-384 (RFC 8017, section 9.1.1). The
// result is a big-endian number with at most the given number of bits, in as few bytes as this
// number of bits needs. These bytes must have room for the hash, the salt and two more bytes.
func encodePSS(input, salt []byte, bits int) []byte {
	digest := sha512.Sum384(input)
	h := sha512.New384()
	h.Write(make([]byte, 8))
	h.Write(digest[:])
	h.Write(salt)
	hash := h.Sum(nil)

	size := (bits + 7) / 8
	encoded := make([]byte, size)
	data := encoded[:size-len(hash)-1]
	data[len(data)-len(salt)-1] = 1
	copy(data[len(data)-len(salt):], salt)
	subtle.XORBytes(data, data, mgf1(hash, len(data)))
	data[0] &= 0xff >> (8*size - bits)
	copy(encoded[len(data):], hash)
	encoded[size-1] = 0xbc
	return encoded
}

// mgf1 returns size bytes of the mask generation function MGF1 with SHA-384 (RFC 8017, appendix
// B.2.1).
func mgf1(seed []byte, size int) []byte {
	var out []byte
	for counter := uint32(0); len(out) < size; counter++ {
		block := sha512.Sum384(binary.BigEndian.AppendUint32(slices.Clone(seed), counter))
		out = append(out, block[:]...)
	}
	return out[:size]
}
