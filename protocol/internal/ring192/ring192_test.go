package ring192

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

var modulus = new(big.Int).Lsh(big.NewInt(1), 192)

// number returns the number from 0 to 2^192 - 1 of a word.
func number(w Word) *big.Int {
	v := new(big.Int).SetUint64(w.High)
	for _, x := range []uint64{w.Mid, w.Low} {
		v.Lsh(v, 64).Add(v, new(big.Int).SetUint64(x))
	}
	return v
}

// is reports whether w is the number v modulo 2^192.
func is(w Word, v *big.Int) bool { return number(w).Cmp(new(big.Int).Mod(v, modulus)) == 0 }

func random(r *rand.Rand, n int) []Word {
	words := make([]Word, n)
	for i := range words {
		words[i] = Word{r.Uint64(), r.Uint64(), r.Uint64()}
		if i%5 == 1 {
			words[i] = Word{^uint64(0), ^uint64(0), ^uint64(0)} // carries
		}
	}
	return words
}

// Sums, differences and products are those of big integers.
func TestArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		w := random(r, 2)
		x, y := w[0], w[1]
		a, b := number(x), number(y)
		if !is(x.Add(y), new(big.Int).Add(a, b)) || !is(x.Sub(y), new(big.Int).Sub(a, b)) || !is(x.Neg(), new(big.Int).Neg(a)) || !is(x.Mul(y), new(big.Int).Mul(a, b)) {
			t.Fatalf("%v and %v", x, y)
		}
	}
}

// A lifted word is not negative.
func TestLift(t *testing.T) {
	w := ring128.Word{Hi: 1 << 63, Lo: 5}
	if got := Lift(w); got != (Word{0, 1 << 63, 5}) || got.Reduce() != w {
		t.Errorf("%v", got)
	}
	if got := LiftAll([]ring128.Word{w, {}}); !slices.Equal(got, []Word{{0, 1 << 63, 5}, {}}) {
		t.Errorf("%v", got)
	}
	if got := FromUint64(7); !is(got, big.NewInt(7)) {
		t.Errorf("%v", got)
	}
}

// Products equal those of big integers, whether rows are computed together or in parts, and are added.
func TestProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 3, stripe + 1, 2*stripe + 3} {
		x := ring128.New(n, n)
		for i := range x.Data {
			x.Data[i] = ring128.Word{Hi: r.Uint64() | r.Uint64(), Lo: r.Uint64() | r.Uint64()}
		}
		y, before := random(r, 2*n), random(r, 2*n)
		product, inParts := make([]Word, 2*n), slices.Clone(before)
		AddProduct(product, y, x)
		AddProductRows(inParts, y, x, n/2, n)
		AddProductRows(inParts, y, x, 0, n/2)
		for i, w := range before {
			if inParts[i] != product[i].Add(w) {
				t.Fatalf("%d x %d in parts: word %d", n, n, i)
			}
		}
		for i := range n {
			lifted := LiftAll(x.Row(i))
			for l := range 2 {
				want := new(big.Int)
				for k, w := range lifted {
					want.Add(want, new(big.Int).Mul(number(w), number(y[l*n+k])))
				}
				if !is(product[l*n+i], want) || product[l*n+i] != Inner(lifted, y[l*n:(l+1)*n]) {
					t.Fatalf("%d x %d: entry %d of row %d", n, n, i, l)
				}
			}
		}
	}
}

func TestVectors(t *testing.T) {
	x := []Word{{0, 1, ^uint64(0)}, {1, 2, 3}}
	Add(x, []Word{{0, 0, 1}, {1, 1, 1}})
	if !slices.Equal(x, []Word{{0, 2, 0}, {2, 3, 4}}) {
		t.Errorf("sums %v", x)
	}
	if Scale(x, FromUint64(2)); !slices.Equal(x, []Word{{0, 4, 0}, {4, 6, 8}}) {
		t.Errorf("multiples %v", x)
	}
}

// Encoded words come back, other lengths are refused, and a stream's words are those of its bytes.
func TestEncoding(t *testing.T) {
	words := random(rand.New(rand.NewPCG(5, 6)), 7)
	b := Append(nil, words...)
	got, err := Decode(b, 7)
	if err != nil || !slices.Equal(got, words) {
		t.Fatalf("%v: %v", err, got)
	}
	if _, err := Decode(b[1:], 7); err == nil {
		t.Error("a short body")
	}
	if _, err := Decode(b, 6); err == nil {
		t.Error("a long body")
	}
	seed := [32]byte{1}
	words = make([]Word, 3)
	Draw(words, prg.New(seed, "test"))
	drawn := Append(nil, words...)
	stream, want := prg.New(seed, "test"), make([]Word, 3)
	for i := range want {
		want[i].Low, want[i].Mid, want[i].High = stream.Uint64(), stream.Uint64(), stream.Uint64()
	}
	if !slices.Equal(drawn, Append(nil, want...)) {
		t.Error("a stream has other words")
	}
}

func TestPanicsOnShapes(t *testing.T) {
	for name, f := range map[string]func(){
		"inner": func() { Inner(make([]Word, 2), make([]Word, 3)) },
		"add":   func() { Add(make([]Word, 2), make([]Word, 3)) },
		"rows":  func() { AddProduct(make([]Word, 5), make([]Word, 5), ring128.New(2, 2)) },
		"shape": func() { AddProduct(make([]Word, 6), make([]Word, 6), ring128.New(2, 3)) },
		"none":  func() { AddProduct(nil, nil, ring128.New(0, 0)) },
		"dst":   func() { AddProduct(make([]Word, 2), make([]Word, 4), ring128.New(2, 2)) },
		"below": func() { AddProductRows(make([]Word, 4), make([]Word, 4), ring128.New(2, 2), -1, 2) },
		"above": func() { AddProductRows(make([]Word, 4), make([]Word, 4), ring128.New(2, 2), 0, 3) },
		"order": func() { AddProductRows(make([]Word, 4), make([]Word, 4), ring128.New(2, 2), 2, 1) },
	} {
		if !panics(f) {
			t.Errorf("%s: no panic", name)
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// BenchmarkProduct reports nanoseconds a multiply-add.
func BenchmarkProduct(b *testing.B) {
	r := rand.New(rand.NewPCG(8, 8))
	x, y := ring128.New(512, 512), random(r, 5120)
	for i := range x.Data {
		x.Data[i] = ring128.Word{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	product := make([]Word, len(y))
	for b.Loop() {
		AddProduct(product, y, x)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(512*512*10), "ns/multiply-add")
}
