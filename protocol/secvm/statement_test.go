package secvm_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/protocol/secvm"
)

func statement() secvm.Statement {
	return secvm.Statement{Configuration: configuration, Links: 3, Head: [32]byte{4}, Devices: 120}
}

func TestStatement(t *testing.T) {
	key, sign := signer()
	s := statement()
	b := s.Sign(sign)
	if got, err := secvm.DecodeStatement(b, key); err != nil || got != s || len(b) != secvm.StatementSize {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range b {
		other := bytes.Clone(b)
		other[i] ^= 1
		if _, err := secvm.DecodeStatement(other, key); !errors.Is(err, secvm.ErrWitness) {
			t.Fatalf("byte %d is not under the signature: %v", i, err)
		}
	}
	stranger := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)).Public().(ed25519.PublicKey)
	if _, err := secvm.DecodeStatement(b, stranger); !errors.Is(err, secvm.ErrWitness) {
		t.Errorf("another witness's statement: %v", err)
	}
}

// Names accepts only the same configuration and the same history.
func TestStatementNames(t *testing.T) {
	s := statement()
	for name, c := range map[string]struct {
		configuration, head [32]byte
		links               int
		want                error
	}{
		"the history":           {s.Configuration, s.Head, 3, nil},
		"another configuration": {[32]byte{1}, s.Head, 3, secvm.ErrConfiguration},
		"another last window":   {s.Configuration, [32]byte{5}, 3, secvm.ErrForked},
		"a longer history":      {s.Configuration, [32]byte{5}, 4, secvm.ErrBehind},
		"a shorter history":     {s.Configuration, [32]byte{5}, 2, secvm.ErrBehind},
	} {
		if err := s.Names(c.configuration, c.head, c.links); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHistory(t *testing.T) {
	c := published(t)
	_, sign := signer()
	signed, err := c.Sign(sign)
	if err != nil {
		t.Fatal(err)
	}
	h := secvm.History{Configuration: signed, Chain: chain(c.Params, 3)}
	if got, err := secvm.DecodeHistory(h.Encode()); err != nil || !cmp.Equal(h, got) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := secvm.DecodeHistory(append(h.Encode(), 0)); err == nil {
		t.Error("bytes that are none of the history's were taken")
	}
}

func FuzzDecodeStatement(f *testing.F) {
	key, sign := signer()
	f.Add(statement().Sign(sign))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := secvm.DecodeStatement(b, key); err == nil && !bytes.Equal(s.Sign(sign), b) {
			t.Error("a statement has two encodings")
		}
	})
}

func FuzzDecodeHistory(f *testing.F) {
	c := published(f)
	f.Add(secvm.History{Configuration: []byte{1, 2}, Chain: chain(c.Params, 2)}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := secvm.DecodeHistory(b); err == nil && !bytes.Equal(h.Encode(), b) {
			t.Error("a history has two encodings")
		}
	})
}
