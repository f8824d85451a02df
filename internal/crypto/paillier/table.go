package paillier

import (
	"fmt"
	"io"
	"math/big"
)

// windowBits is the number of bits of an exponent that one entry of a table covers.
const windowBits = 6

// windows is the number of windows of an exponent.
const windows = (ExponentBits + windowBits - 1) / windowBits

// Exponent is the secret randomness of one ciphertext, window by window.
type Exponent [windows]uint8

// NewExponent draws an exponent.
func NewExponent(random io.Reader) (Exponent, error) {
	var e Exponent
	if _, err := io.ReadFull(random, e[:]); err != nil {
		return e, fmt.Errorf("paillier: %w", err)
	}
	for i := range e {
		e[i] &= 1<<windowBits - 1
	}
	return e, nil
}

// table holds powers of a base: of window j, the base to the power v 2^(6 j).
type table struct {
	modulus *big.Int
	powers  [windows][1 << windowBits]*big.Int
}

func newTable(base, modulus *big.Int) table {
	t := table{modulus: modulus}
	step := new(big.Int).Mod(base, modulus)
	for j := range t.powers {
		t.powers[j][0] = big.NewInt(1)
		for v := 1; v < len(t.powers[j]); v++ {
			t.powers[j][v] = t.times(new(big.Int).Set(t.powers[j][v-1]), step)
		}
		step = t.times(new(big.Int).Set(t.powers[j][len(t.powers[j])-1]), step)
	}
	return t
}

func (t *table) times(a, b *big.Int) *big.Int {
	a.Mul(a, b)
	return a.Mod(a, t.modulus)
}

// power returns the base to the power of an exponent.
func (t *table) power(e Exponent) *big.Int {
	out, product, quotient := new(big.Int).Set(t.powers[0][e[0]]), new(big.Int), new(big.Int)
	for j := 1; j < windows; j++ {
		product.Mul(out, t.powers[j][e[j]])
		quotient.QuoRem(product, t.modulus, out)
	}
	return out
}
