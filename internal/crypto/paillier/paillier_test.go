package paillier

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
)

// toy returns a short key, which protects nothing.
func toy(t testing.TB, bits int) (*PrivateKey, *prg.Stream) {
	t.Helper()
	random := prg.New([32]byte{1}, "paillier/test")
	k, err := GenerateKey(random, bits)
	if err != nil {
		t.Fatal(err)
	}
	return k, random
}

func exponent(t testing.TB, random *prg.Stream) Exponent {
	t.Helper()
	e, err := NewExponent(random)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestSumsAndMultiplesOfCiphertexts(t *testing.T) {
	for _, bits := range []int{128, 256, 512} {
		k, random := toy(t, bits)
		if k.n.BitLen() != bits {
			t.Fatalf("the modulus has %d bits, not %d", k.n.BitLen(), bits)
		}
		other, err := NewPublicKey(k.Modulus(), bits)
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(50) {
			a, b := big.NewInt(i*i*1000003-50000), big.NewInt(77-i*1234567)
			c := k.Encrypt(a, exponent(t, random))
			if err := other.Check(c); err != nil {
				t.Fatal(err)
			}
			sum := other.Add(other.Shift(c, 5), k.Encrypt(b, exponent(t, random)))
			before := new(big.Int).Set(sum)
			if _, err := other.Blind(sum, random); err != nil {
				t.Fatal(err)
			}
			want := new(big.Int).Add(new(big.Int).Lsh(a, 5), b)
			if got := k.Signed(sum); got.Cmp(want) != 0 {
				t.Fatalf("32 times %v plus %v is %v", a, b, got)
			}
			if before.Cmp(sum) == 0 {
				t.Fatal("a ciphertext is the same after it was blinded")
			}
		}
	}
}

// The decryption modulo the primes equals the textbook's, with Carmichael's function.
func TestDecryptionEqualsTheTextbooks(t *testing.T) {
	k, random := toy(t, 256)
	one := big.NewInt(1)
	lambda := new(big.Int).Mul(k.p.less, k.q.less)
	lambda.Div(lambda, new(big.Int).GCD(nil, nil, k.p.less, k.q.less))
	plain := func(c *big.Int) *big.Int {
		x := new(big.Int).Exp(c, lambda, k.square)
		x.Sub(x, one).Div(x, k.n)
		return x.Mul(x, new(big.Int).ModInverse(lambda, k.n)).Mod(x, k.n)
	}
	for range 100 {
		m, err := below(random, k.n)
		if err != nil {
			t.Fatal(err)
		}
		c := k.Encrypt(m, exponent(t, random))
		if got, want := k.Decrypt(c), plain(c); got.Cmp(want) != 0 || got.Cmp(m) != 0 {
			t.Fatalf("%v decrypts to %v, and by the textbook to %v", m, got, want)
		}
	}
}

// A power from the table equals math/big's.
func TestTable(t *testing.T) {
	k, random := toy(t, 256)
	base, err := k.base(random)
	if err != nil {
		t.Fatal(err)
	}
	powers := newTable(base, k.square)
	for range 20 {
		e, whole := exponent(t, random), new(big.Int)
		for j := windows - 1; j >= 0; j-- {
			whole.Lsh(whole, windowBits).Add(whole, big.NewInt(int64(e[j])))
		}
		if got, want := powers.power(e), new(big.Int).Exp(base, whole, k.square); got.Cmp(want) != 0 {
			t.Fatalf("%v and %v", got, want)
		}
	}
}

// Equal plaintexts have different ciphertexts.
func TestCiphertextsOfEqualPlaintextsDiffer(t *testing.T) {
	k, random := toy(t, 256)
	seen := make(map[string]bool)
	for range 1000 {
		c := k.Encrypt(big.NewInt(1), exponent(t, random))
		if seen[c.String()] {
			t.Fatal("two ciphertexts are equal")
		}
		seen[c.String()] = true
	}
}

func TestRefused(t *testing.T) {
	k, random := toy(t, 256)
	for name, c := range map[string]*big.Int{
		"0": big.NewInt(0), "below 0": big.NewInt(-1), "n^2": k.square, "p": k.p.prime, "n": k.n,
	} {
		if k.Check(c) == nil {
			t.Errorf("%s is taken for a ciphertext", name)
		}
	}
	even := k.Modulus()
	even[len(even)-1] &^= 1
	square := new(big.Int).Mul(k.p.prime, k.p.prime).Bytes()
	for name, n := range map[string][]byte{"even": even, "short": k.Modulus()[1:], "long": append([]byte{0}, k.Modulus()...), "square": square, "none": nil} {
		if _, err := NewPublicKey(n, 256); err == nil {
			t.Errorf("a modulus is taken that is %s", name)
		}
	}
	for _, bits := range []int{0, 64, 130, 1 << 20} {
		if _, err := GenerateKey(random, bits); err == nil {
			t.Errorf("a key of %d bits is made", bits)
		}
	}
	if _, err := GenerateKey(bytes.NewReader(make([]byte, 10)), 256); err == nil {
		t.Error("a key is made of too little randomness")
	}
}

func BenchmarkKey(b *testing.B) {
	k, random := toy(b, Bits)
	c := k.Encrypt(big.NewInt(1), exponent(b, random))
	b.Run("generate", func(b *testing.B) {
		for b.Loop() {
			if _, err := GenerateKey(random, Bits); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encrypt", func(b *testing.B) {
		e := exponent(b, random)
		for b.Loop() {
			k.Encrypt(big.NewInt(1), e)
		}
	})
	b.Run("add", func(b *testing.B) {
		d := new(big.Int).Set(c)
		for b.Loop() {
			k.Add(d, c)
		}
	})
	b.Run("decrypt", func(b *testing.B) {
		for b.Loop() {
			k.Decrypt(c)
		}
	})
	b.Run("blind", func(b *testing.B) {
		for b.Loop() {
			if _, err := k.Blind(c, random); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("prove", func(b *testing.B) {
		for b.Loop() {
			k.Proof()
		}
	})
	proof := k.Proof()
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if err := k.Verify(proof); err != nil {
				b.Fatal(err)
			}
		}
	})
}
