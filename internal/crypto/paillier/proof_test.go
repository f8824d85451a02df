package paillier

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
)

// The roots equal an independent computation: the power of each challenge modulo the primes.
func TestProof(t *testing.T) {
	for _, bits := range []int{128, 256, 512} {
		k, _ := toy(t, bits)
		proof := k.Proof()
		if err := k.Verify(proof); err != nil {
			t.Fatal(err)
		}
		size := bits / 8
		for i := range proofRoots {
			root, x := new(big.Int).SetBytes(proof[size*i:size*(i+1)]), k.challenge(i)
			for _, h := range []half{k.p, k.q} {
				e := new(big.Int).ModInverse(k.n, h.less)
				if want := new(big.Int).Exp(x, e, h.prime); new(big.Int).Mod(root, h.prime).Cmp(want) != 0 {
					t.Errorf("root %d is not %v modulo a prime", i, want)
				}
			}
		}
	}
}

// The challenges stay what they are, so that members of different versions agree: the hash is this
// program's own of 2026-11-26.
func TestChallengesStay(t *testing.T) {
	k, _ := toy(t, 256)
	h := sha256.New()
	for i := range proofRoots {
		h.Write(k.challenge(i).FillBytes(make([]byte, 32)))
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != "1a48c10be57edb9867c28b375296074c4dc7358a662ead372c7b2f98ba5884c1" {
		t.Errorf("the hash of the challenges is %s", got)
	}
}

func TestWrongProofs(t *testing.T) {
	k, random := toy(t, 256)
	other, err := GenerateKey(random, 256)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(b []byte) []byte{
		"none":          func([]byte) []byte { return nil },
		"short":         func(b []byte) []byte { return b[1:] },
		"long":          func(b []byte) []byte { return append(b, 0) },
		"another key's": func([]byte) []byte { return other.Proof() },
		"last bit":      func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"no first root": func(b []byte) []byte { clear(b[:32]); return b },
		"roots in turn": func(b []byte) []byte { return append(b[32:], b[:32]...) },
		"plus a modulus": func(b []byte) []byte {
			for part := b; len(part) > 0; part = part[32:] {
				if x := new(big.Int).SetBytes(part[:32]); x.Add(x, k.n).BitLen() <= 256 {
					x.FillBytes(part[:32])
					return b
				}
			}
			t.Fatal("no root is small enough")
			return nil
		},
		"minus a root": func(b []byte) []byte {
			new(big.Int).Sub(k.n, new(big.Int).SetBytes(b[:32])).FillBytes(b[:32])
			return b
		},
	} {
		if k.Verify(change(k.Proof())) == nil {
			t.Errorf("a proof is taken: %s", name)
		}
	}
}

// primeAbove returns the least prime k*step + 1 above a number of bits bits.
func primeAbove(step *big.Int, bits int) *big.Int {
	one := big.NewInt(1)
	k := new(big.Int).Div(new(big.Int).Lsh(big.NewInt(3), uint(bits-2)), step)
	for p := new(big.Int); ; k.Add(k, one) {
		if p.Mul(k, step).Add(p, one).ProbablyPrime(20) {
			return p
		}
	}
}

// A modulus p q where p divides q-1 has no roots of most numbers, and its owner no proof.
func TestAttackKeyWithACommonFactor(t *testing.T) {
	p := primeAbove(big.NewInt(2), 120)
	q := primeAbove(p, 136)
	n := new(big.Int).Mul(p, q)
	k, err := NewPublicKey(n.Bytes(), n.BitLen())
	if err != nil {
		t.Fatal(err)
	}
	phi := new(big.Int).Mul(new(big.Int).Sub(p, big.NewInt(1)), new(big.Int).Sub(q, big.NewInt(1)))
	if new(big.Int).GCD(nil, nil, n, phi).Cmp(p) != 0 {
		t.Fatal("the key is not the one that was meant")
	}
	// The owner's best attempt: it has roots modulo p, and modulo q for one number in p.
	e := new(big.Int).ModInverse(q, new(big.Int).Div(new(big.Int).Sub(q, big.NewInt(1)), p))
	var proof []byte
	for i := range proofRoots {
		x := k.challenge(i)
		proof = append(proof, new(big.Int).Exp(x, e, n).FillBytes(make([]byte, len(n.Bytes())))...)
	}
	if err := k.Verify(proof); err == nil || !strings.Contains(err.Error(), "the proof about the key is wrong") {
		t.Errorf("got %v", err)
	}
}

// A small prime on both sides would pass by chance, so Verify searches for small primes.
func TestAttackKeyWithASmallFactor(t *testing.T) {
	for _, small := range []int64{3, 5, 641, 65521} {
		p := big.NewInt(small)
		n := new(big.Int).Mul(p, primeAbove(p, 200))
		k, err := NewPublicKey(n.Bytes(), n.BitLen())
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Verify(make([]byte, ProofBytes(n.BitLen()))); err == nil || !strings.Contains(err.Error(), "small factor") {
			t.Errorf("%d: got %v", small, err)
		}
	}
}

// marked is a key that passes the proof, with primes that are 1 modulo another prime.
type marked struct {
	key   *PublicKey
	prime *big.Int    // divides p-1 and q-1
	gen   [2]*big.Int // of that order modulo p and modulo q
	mod   [2]*big.Int
	mark  *big.Int // of that order modulo p^2, 1 modulo q^2
}

func newMarked(t *testing.T) marked {
	t.Helper()
	l := big.NewInt(131101)
	p := primeAbove(l, 120)
	q := primeAbove(new(big.Int).Mul(l, big.NewInt(6)), 136)
	n, one := new(big.Int).Mul(p, q), big.NewInt(1)
	k, err := NewPublicKey(n.Bytes(), n.BitLen())
	if err != nil {
		t.Fatal(err)
	}
	m := marked{key: k, prime: l, mod: [2]*big.Int{p, q}}
	for i, r := range m.mod {
		m.gen[i] = m.project(big.NewInt(5), i)
		if m.gen[i].Cmp(one) == 0 {
			t.Fatalf("no generator modulo %v", r)
		}
	}
	pp, qq := new(big.Int).Mul(p, p), new(big.Int).Mul(q, q)
	h := new(big.Int).Exp(m.gen[0], p, pp) // its order modulo p^2 is that modulo p
	m.mark = h.Sub(h, one)
	m.mark.Mul(m.mark, new(big.Int).ModInverse(qq, pp)).Mod(m.mark, pp).Mul(m.mark, qq).Add(m.mark, one)
	return m
}

// project returns the part of a number that has the order of the prime, modulo p or q.
func (m marked) project(c *big.Int, side int) *big.Int {
	r := m.mod[side]
	e := new(big.Int).Div(new(big.Int).Sub(r, big.NewInt(1)), m.prime)
	return new(big.Int).Exp(c, e, r)
}

// logs returns the logarithms of both parts of a ciphertext.
func (m marked) logs(t *testing.T, c *big.Int) (list [2]*big.Int) {
	t.Helper()
	for side := range list {
		target, x := m.project(c, side), big.NewInt(1)
		for s := range m.prime.Int64() {
			if x.Cmp(target) == 0 {
				list[side] = big.NewInt(s)
				break
			}
			x.Mul(x, m.gen[side]).Mod(x, m.mod[side])
		}
		if list[side] == nil {
			t.Fatal("no logarithm")
		}
	}
	return list
}

// rows computes the marked rows in a sum, from it and from a sum without marked rows.
func (m marked) rows(t *testing.T, none, sum *big.Int) int64 {
	t.Helper()
	u, v := m.logs(t, none), m.logs(t, sum)
	ratio := new(big.Int).Mul(u[0], new(big.Int).ModInverse(u[1], m.prime))
	s := new(big.Int).Sub(v[0], ratio.Mul(ratio, v[1]))
	unit := m.logs(t, m.mark)[0]
	return s.Mul(s, unit.ModInverse(unit, m.prime)).Mod(s, m.prime).Int64()
}

// An owner can mark rows in a part of the group that powers of one base reach along one
// line only, and reads from a sum which rows are in it. A new random number each time hides
// them. The key passes the proof in both cases.
func TestAttackPowersOfOneBase(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	m, random := newMarked(t), prg.New([32]byte{7}, "paillier/test")
	phi := new(big.Int).Mul(new(big.Int).Sub(m.mod[0], big.NewInt(1)), new(big.Int).Sub(m.mod[1], big.NewInt(1)))
	if new(big.Int).GCD(nil, nil, m.key.n, phi).Cmp(big.NewInt(1)) != 0 {
		t.Fatal("the key would not pass the proof")
	}
	base, err := m.key.base(random)
	if err != nil {
		t.Fatal(err)
	}
	powers := newTable(base, m.key.square)
	oneBase := func(c *big.Int) *big.Int { return m.key.Add(c, powers.power(exponent(t, random))) }
	fresh := func(c *big.Int) *big.Int {
		c, err := m.key.Blind(c, random)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const rows = 0b0100100000110010
	sum := func() *big.Int { return new(big.Int).Exp(m.mark, big.NewInt(rows), m.key.square) }
	if got := m.rows(t, oneBase(big.NewInt(1)), oneBase(sum())); got != rows {
		t.Errorf("powers of one base: rows %016b are read, they are %016b", got, rows)
	}
	if got := m.rows(t, fresh(big.NewInt(1)), fresh(sum())); got == rows {
		t.Error("a new number each time: the rows are read")
	}
}
