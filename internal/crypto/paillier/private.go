package paillier

import (
	"errors"
	"fmt"
	"io"
	"math/big"
)

// PrivateKey encrypts numbers and decrypts sums.
type PrivateKey struct {
	PublicKey
	p, q    half
	inverse *big.Int // inverse of q^2 modulo p^2
	within  *big.Int // inverse of q modulo p
}

// half holds the numbers for arithmetic modulo the square of one of the primes.
type half struct {
	prime, square *big.Int
	less          *big.Int // prime - 1
	scale         *big.Int // factor that turns a logarithm into a plaintext
	table         table    // powers of the base
}

// GenerateKey draws a private key of the given number of bits, which must be a multiple of 16.
func GenerateKey(random io.Reader, bits int) (*PrivateKey, error) {
	if bits < leastBits || bits > mostBits || bits%16 != 0 {
		return nil, fmt.Errorf("paillier: the key has %d bits; use a multiple of 16 from %d to %d", bits, leastBits, mostBits)
	}
	p, err := prime(random, bits/2)
	if err != nil {
		return nil, err
	}
	q, err := prime(random, bits/2)
	if err != nil {
		return nil, err
	}
	if p.Cmp(q) == 0 {
		return nil, errors.New("paillier: both primes are equal")
	}
	n := new(big.Int).Mul(p, q)
	k := &PrivateKey{PublicKey: PublicKey{n: n, square: new(big.Int).Mul(n, n)}}
	base, err := k.base(random)
	if err != nil {
		return nil, err
	}
	k.p, k.q = newHalf(p, n, base), newHalf(q, n, base)
	k.inverse = new(big.Int).ModInverse(k.q.square, k.p.square)
	k.within = new(big.Int).ModInverse(q, p)
	return k, nil
}

// prime draws a prime that is 3 modulo 4 and whose two highest bits are 1.
func prime(random io.Reader, bits int) (*big.Int, error) {
	const rounds = 20
	b := make([]byte, bits/8)
	for p := new(big.Int); ; {
		if _, err := io.ReadFull(random, b); err != nil {
			return nil, fmt.Errorf("paillier: %w", err)
		}
		b[0] |= 0xc0
		b[len(b)-1] |= 3
		if p.SetBytes(b).ProbablyPrime(rounds) {
			return p, nil
		}
	}
}

func newHalf(prime, n, base *big.Int) half {
	one := big.NewInt(1)
	h := half{prime: prime, square: new(big.Int).Mul(prime, prime), less: new(big.Int).Sub(prime, one)}
	h.scale = h.logarithm(new(big.Int).Add(n, one))
	h.scale.ModInverse(h.scale, prime)
	h.table = newTable(base, h.square)
	return h
}

// logarithm returns the discrete logarithm (c^(prime-1) mod prime^2 - 1) / prime.
func (h *half) logarithm(c *big.Int) *big.Int {
	x := new(big.Int).Mod(c, h.square)
	x.Exp(x, h.less, h.square).Sub(x, big.NewInt(1))
	return x.Div(x, h.prime)
}

// plaintext returns the plaintext of c modulo the prime.
func (h *half) plaintext(c *big.Int) *big.Int {
	m := h.logarithm(c)
	return m.Mul(m, h.scale).Mod(m, h.prime)
}

// Encrypt returns a ciphertext of m modulo n.
func (k *PrivateKey) Encrypt(m *big.Int, exponent Exponent) *big.Int {
	p, q := k.p.table.power(exponent), k.q.table.power(exponent)
	blind := garner(p, q, k.p.square, k.q.square, k.inverse)
	c := new(big.Int).Mod(m, k.n)
	c.Mul(c, blind).Mod(c, k.n).Mul(c, k.n).Add(c, blind)
	return c.Mod(c, k.square)
}

// Decrypt returns the plaintext of c, from 0 to n-1.
func (k *PrivateKey) Decrypt(c *big.Int) *big.Int {
	return garner(k.p.plaintext(c), k.q.plaintext(c), k.p.prime, k.q.prime, k.within)
}

// Signed returns the plaintext of c that is nearest to 0.
func (k *PrivateKey) Signed(c *big.Int) *big.Int {
	m := k.Decrypt(c)
	if m.BitLen() >= k.n.BitLen()-1 && new(big.Int).Lsh(m, 1).Cmp(k.n) > 0 {
		m.Sub(m, k.n)
	}
	return m
}

// garner returns the number below pp qq that is p modulo pp and q modulo qq. The argument inverse
// is the inverse of qq modulo pp.
func garner(p, q, pp, qq, inverse *big.Int) *big.Int {
	x := new(big.Int).Sub(p, q)
	x.Mul(x, inverse).Mod(x, pp)
	return x.Mul(x, qq).Add(x, q)
}

// windowBits is the number of bits of an exponent that one window of a table covers.
const windowBits = 6

// windows is the number of windows of an exponent. The last window can go beyond [ExponentBits].
const windows = (ExponentBits + windowBits - 1) / windowBits

// Exponent is the secret randomness of one ciphertext, divided into windows.
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

// table holds powers of a base. The number powers[j][v] is the base to the power v 2^(6 j).
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

// power returns the base to the power of the exponent e.
func (t *table) power(e Exponent) *big.Int {
	out, product, quotient := new(big.Int).Set(t.powers[0][e[0]]), new(big.Int), new(big.Int)
	for j := 1; j < windows; j++ {
		product.Mul(out, t.powers[j][e[j]])
		quotient.QuoRem(product, t.modulus, out)
	}
	return out
}
