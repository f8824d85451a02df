package ring128

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
)

func random(r *rand.Rand, n int) []Word {
	v := make([]Word, n)
	for i := range v {
		v[i] = Word{r.Uint64(), r.Uint64()}
	}
	return v
}

// The truncated shares of a word add up to its truncation or one more, and to the exact quotient if there is
// one.
func TestTruncationOfShares(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	low, high := false, false
	for _, bits := range []uint{3, 34, 63, 64, 65, 90} {
		for _, f := range []uint{1, 14, 34, 63, 64, 70} {
			for range 200 {
				z := Word{r.Uint64(), r.Uint64()}.Rsh(127 - bits)
				first := []Word{{r.Uint64(), r.Uint64()}}
				second := []Word{z.Sub(first[0])}
				TruncateFirst(first, f)
				TruncateSecond(second, f)
				d := first[0].Add(second[0]).Sub(z.Rsh(f)) // from the floor: 0 or 1, never less
				if exact := z.Rsh(f).Lsh(f) == z; d != (Word{}) && (exact || d != (Word{0, 1})) {
					t.Fatalf("%v cut by %d bits is off by %v", z.Big(), f, d.Big())
				}
				low, high = low || d == (Word{}), high || d != (Word{})
			}
		}
	}
	if !low || !high {
		t.Errorf("rounded down: %v, up: %v; both must occur", low, high)
	}
}

// Exactly |z| of all 2^128 first shares make the sum of two truncated shares wrong: the |z| lowest ones if z
// is positive, and the |z| highest ones if it is negative. It is then off by 2^(128-f).
func TestTruncationFails(t *testing.T) {
	const f = 34
	one, lowest := Word{Lo: 1}, Word{Hi: 1 << 63}
	wrap := one.Lsh(128 - f)
	for _, z := range []Word{one, {0, 4}, {1, 5}, {1 << 62, 0}, {1<<63 - 1, 0}} {
		for _, c := range []struct{ z, a, off Word }{
			{z, lowest.Add(z), Word{}}, {z, lowest.Add(z).Sub(one), wrap.Neg()}, {z, lowest, wrap.Neg()},
			{z.Neg(), lowest.Sub(z).Sub(one), Word{}}, {z.Neg(), lowest.Sub(z), wrap}, {z.Neg(), lowest.Sub(one), wrap},
		} {
			first, second := []Word{c.a}, []Word{c.z.Sub(c.a)}
			TruncateFirst(first, f)
			TruncateSecond(second, f)
			d := first[0].Add(second[0]).Sub(c.z.Rsh(f)).Sub(c.off)
			if d != (Word{}) && d != one {
				t.Errorf("%v from the first share %v: off by %v more than %v", c.z.Big(), c.a.Big(), d.Big(), c.off.Big())
			}
		}
	}
}

// Round is the nearest number.
func TestRound(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 2000 {
		z, f := Word{r.Uint64(), r.Uint64()}.Rsh(2+uint(r.IntN(125))), uint(1+r.IntN(126))
		v := []Word{z}
		Round(v, f)
		off := new(big.Int).Sub(new(big.Int).Lsh(v[0].Big(), f), z.Big())
		if off.Lsh(off.Abs(off), 1).Cmp(new(big.Int).Lsh(big.NewInt(1), f)) > 0 {
			t.Fatalf("%v in units of 2^%d is %v", z.Big(), f, v[0].Big())
		}
	}
	v := []Word{FromInt64(3), FromInt64(-3), FromInt64(5)}
	Round(v, 1)
	if !slices.Equal(v, []Word{FromInt64(2), FromInt64(-1), FromInt64(3)}) {
		t.Errorf("halves become %v", v)
	}
}

func TestVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	x, y, c := random(r, 9), random(r, 9), Word{r.Uint64(), r.Uint64()}
	sum, difference, scaled, shifted := slices.Clone(x), slices.Clone(x), slices.Clone(x), slices.Clone(x)
	Add(sum, y)
	Sub(difference, y)
	AddScaled(scaled, c, y)
	Lsh(shifted, 70)
	for i := range x {
		if sum[i] != x[i].Add(y[i]) || difference[i] != x[i].Sub(y[i]) || scaled[i] != x[i].Add(c.Mul(y[i])) || shifted[i] != x[i].Lsh(70) {
			t.Fatalf("word %d", i)
		}
	}
	if v := FromInts([]int64{-7, 7}); v[0] != FromInt64(-7) || v[1] != FromInt64(7) || len(v) != 2 {
		t.Errorf("%v", v)
	}
	for name, f := range map[string]func(){
		"Add": func() { Add(x, y[1:]) }, "Sub": func() { Sub(x[1:], y) }, "AddScaled": func() { AddScaled(x, c, y[1:]) },
	} {
		if !panics(f) {
			t.Errorf("%s accepts 9 and 8 words", name)
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// The encoding is 16 bytes, the lowest first; another length is refused.
func TestEncoding(t *testing.T) {
	b := Append([]byte{9}, []Word{{0x0f0e0d0c0b0a0908, 0x0706050403020100}, FromInt64(-1)})
	want := []byte{9}
	for i := range 16 {
		want = append(want, byte(i))
	}
	want = append(want, bytes.Repeat([]byte{255}, 16)...)
	if !bytes.Equal(b, want) {
		t.Errorf("%x, want %x", b, want)
	}
	for _, n := range []int{0, 15, 17, 31, 33} {
		if err := Decode(make([]Word, 2), make([]byte, n)); err == nil {
			t.Errorf("%d bytes are two words", n)
		}
	}
}

// A message of 16 bytes for each word encodes to the same bytes, whatever they are. Others are refused.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{}, 0)
	f.Add(Append(nil, edges), len(edges))
	f.Add([]byte{1, 2, 3}, 1)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n < 0 || n > 1<<16 {
			return
		}
		words := make([]Word, n)
		if err := Decode(words, b); (err == nil) != (len(b) == Bytes*n) {
			t.Fatalf("%d bytes for %d words: %v", len(b), n, err)
		} else if err == nil && !bytes.Equal(Append(nil, words), b) {
			t.Fatalf("%x becomes %v", b, words)
		}
	})
}

// A stream's words are its bytes.
func TestDrawIsTheStream(t *testing.T) {
	drawn, b := make([]Word, 200), make([]byte, 200*Bytes)
	Draw(drawn, prg.New([32]byte{1}, "a"))
	if _, err := prg.New([32]byte{1}, "a").Read(b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(Append(nil, drawn), b) {
		t.Error("the words are not the bytes of the stream")
	}
}
