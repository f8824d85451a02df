package ristretto

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"filippo.io/edwards25519"
)

// vectors returns the lines of testdata/vectors.txt that begin with a word. They are the
// RFCs' own.
func vectors(t testing.TB, word string, fields int) [][][]byte {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all [][][]byte
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if words[0] != word {
			continue
		}
		if len(words) != 1+fields {
			t.Fatalf("%d fields in %q", len(words), line)
		}
		var v [][]byte
		for _, w := range words[1:] {
			b, err := hex.DecodeString(w)
			if err != nil {
				t.Fatal(err)
			}
			v = append(v, b)
		}
		all = append(all, v)
	}
	if len(all) == 0 {
		t.Fatalf("no vector %q", word)
	}
	return all
}

func scalar(t testing.TB, b []byte) *Key {
	t.Helper()
	s, err := edwards25519.NewScalar().SetCanonicalBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	return newKey(s)
}

func times(k *Key, e Element) []byte {
	b := make([]byte, Size)
	k.Multiply(b, []Element{e})
	return b
}

func TestMultiplesOfTheGenerator(t *testing.T) {
	var generator Element
	generator.p.Set(edwards25519.NewGeneratorPoint())
	for i, v := range vectors(t, "multiple", 1) {
		n := make([]byte, 32)
		n[0] = byte(i)
		if got := times(scalar(t, n), generator); !bytes.Equal(got, v[0]) {
			t.Errorf("%d times the generator is %x, want %x", i, got, v[0])
		}
		e, err := Decode(v[0])
		if i == 0 {
			if !errors.Is(err, ErrIdentity) {
				t.Errorf("the identity is decoded with %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := encode(&e.p); !bytes.Equal(got, v[0]) {
			t.Errorf("%x is encoded as %x", v[0], got)
		}
	}
}

func TestBadEncodings(t *testing.T) {
	for _, v := range vectors(t, "bad", 1) {
		if _, err := Decode(v[0]); !errors.Is(err, ErrEncoding) {
			t.Errorf("%x is decoded with %v", v[0], err)
		}
	}
	for _, n := range []int{0, 31, 33} {
		if _, err := Decode(make([]byte, n)); !errors.Is(err, ErrEncoding) {
			t.Errorf("%d bytes are decoded with %v", n, err)
		}
	}
}

func TestOneWayMap(t *testing.T) {
	for _, v := range vectors(t, "uniform", 2) {
		e := fromUniform((*[64]byte)(v[0]))
		if got := encode(&e.p); !bytes.Equal(got, v[1]) {
			t.Errorf("%x is mapped to %x, want %x", v[0], got, v[1])
		}
	}
}

// The vectors of oblivious pseudorandom functions test all of it: hashing, a secret
// multiple, decoding and another's secret multiple.
func TestOblivious(t *testing.T) {
	for _, v := range vectors(t, "oprf", 6) {
		domain, input, blind, blinded, key, evaluated := string(v[0]), v[1], v[2], v[3], v[4], v[5]
		if got := times(scalar(t, blind), Hash(domain, input)); !bytes.Equal(got, blinded) {
			t.Errorf("input %x is blinded to %x, want %x", input, got, blinded)
		}
		e, err := Decode(blinded)
		if err != nil {
			t.Fatal(err)
		}
		if got := times(scalar(t, key), e); !bytes.Equal(got, evaluated) {
			t.Errorf("%x is evaluated as %x, want %x", blinded, got, evaluated)
		}
	}
}
