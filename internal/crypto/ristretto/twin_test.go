package ristretto

import (
	"bytes"
	"crypto/sha512"
	"testing"

	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
	"pgregory.net/rapid"
)

// encode returns the encoding as RFC 9496, section 4.3.2, defines it: a slow reference for
// the batch encoding in Key.Multiply.
func encode(p *edwards25519.Point) []byte {
	x, y, z, t := p.ExtendedCoordinates()
	mul := func(a, b *field.Element) *field.Element { return new(field.Element).Multiply(a, b) }
	u1 := mul(new(field.Element).Add(z, y), new(field.Element).Subtract(z, y))
	u2 := mul(x, y)
	inv, _ := new(field.Element).SqrtRatio(one, mul(u1, square(u2)))
	den1, den2 := mul(inv, u1), mul(inv, u2)
	zInv := mul(mul(den1, den2), t)
	if mul(t, zInv).IsNegative() == 1 {
		x, y, den2 = mul(y, sqrtMinus1), mul(x, sqrtMinus1), mul(den1, invSqrtAMinusD)
	}
	if mul(x, zInv).IsNegative() == 1 {
		y.Negate(y)
	}
	s := mul(den2, new(field.Element).Subtract(z, y))
	return s.Absolute(s).Bytes()
}

func TestBatchesAgreeWithTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		uniform := sha512.Sum512([]byte(rapid.String().Draw(t, "key")))
		messages := rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 0, 9).Draw(t, "messages")
		k := NewKey(&uniform)
		whole, err := edwards25519.NewScalar().SetUniformBytes(uniform[:])
		if err != nil {
			t.Fatal(err)
		}
		elements := make([]Element, len(messages), len(messages)+1)
		for i, m := range messages {
			elements[i] = Hash("test", m)
		}
		identity := rapid.IntRange(0, len(messages)).Draw(t, "identity")
		elements = append(elements, Element{})
		elements[len(messages)].p.Set(edwards25519.NewIdentityPoint())
		elements[identity], elements[len(messages)] = elements[len(messages)], elements[identity]
		got := make([]byte, Size*len(elements))
		k.Multiply(got, elements)
		for i := range elements {
			want := encode(new(edwards25519.Point).ScalarMult(whole, &elements[i].p))
			if !bytes.Equal(got[i*Size:(i+1)*Size], want) {
				t.Fatalf("element %d of %d is %x, want %x", i, len(elements), got[i*Size:(i+1)*Size], want)
			}
		}
	})
}

func TestKeysCommute(t *testing.T) {
	a, b := sha512.Sum512([]byte("a")), sha512.Sum512([]byte("b"))
	one, two := NewKey(&a), NewKey(&b)
	e := Hash("test", []byte("id"))
	again := func(k *Key, encoding []byte) []byte {
		e, err := Decode(encoding)
		if err != nil {
			t.Fatal(err)
		}
		return times(k, e)
	}
	if x, y := again(two, times(one, e)), again(one, times(two, e)); !bytes.Equal(x, y) {
		t.Errorf("%x in one order, %x in the other", x, y)
	}
}

func TestDomainsDiffer(t *testing.T) {
	k := scalar(t, append([]byte{1}, make([]byte, 31)...))
	if bytes.Equal(times(k, Hash("a", []byte("bc"))), times(k, Hash("ab", []byte("c")))) {
		t.Error("two domains map alike")
	}
	defer func() {
		if recover() == nil {
			t.Error("a domain of 256 bytes is taken")
		}
	}()
	Hash(string(make([]byte, 256)), nil)
}

// A decoder either refuses, or returns an element with this one encoding.
func FuzzDecode(f *testing.F) {
	for _, word := range []string{"multiple", "bad"} {
		for _, v := range vectors(f, word, 1) {
			f.Add(v[0])
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Decode(b)
		if err == nil && !bytes.Equal(encode(&e.p), b) {
			t.Errorf("%x is decoded, and encoded as %x", b, encode(&e.p))
		}
	})
}

func BenchmarkMultiply(b *testing.B) {
	uniform := sha512.Sum512([]byte("key"))
	k, elements := NewKey(&uniform), make([]Element, 64)
	for i := range elements {
		elements[i] = Hash("bench", []byte{byte(i)})
	}
	dst := make([]byte, Size*len(elements))
	for b.Loop() {
		k.Multiply(dst, elements)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(elements)), "us/element")
}

func BenchmarkHash(b *testing.B) {
	for b.Loop() {
		Hash("bench", []byte("an id of some length"))
	}
}

func BenchmarkDecode(b *testing.B) {
	encoding := vectors(b, "multiple", 1)[7][0]
	for b.Loop() {
		if _, err := Decode(encoding); err != nil {
			b.Fatal(err)
		}
	}
}
