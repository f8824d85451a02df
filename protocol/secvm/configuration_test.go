package secvm_test

import (
	"bytes"
	"crypto/ed25519"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/protocol/secvm"
)

func published(t testing.TB) *secvm.Configuration {
	t.Helper()
	p, err := secvm.NewParams(secvm.Spec{Name: "toy", Bins: 16, Packages: 8, Cohort: 10})
	if err != nil {
		t.Fatal(err)
	}
	key, _ := signer()
	return &secvm.Configuration{
		Params: p, Classes: [2]string{"even", "odd"}, Testers: .25, Iterations: 1,
		Window: 10_000, Grace: 1000, Pause: 2000,
		Issuer: "issuer.example", TokenType: 2, TokenKeys: [][]byte{{1}, {2}},
		Signer: key,
	}
}

func TestConfiguration(t *testing.T) {
	c := published(t)
	_, sign := signer()
	b, err := c.Sign(sign)
	if err != nil {
		t.Fatal(err)
	}
	got, err := secvm.DecodeConfiguration(b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(c, got, cmp.AllowUnexported(secvm.Params{})); d != "" || got.Hash() != c.Hash() {
		t.Error(d)
	}
	for i := range b {
		other := bytes.Clone(b)
		other[i] ^= 1
		if _, err := secvm.DecodeConfiguration(other); err == nil {
			t.Fatalf("byte %d is not under the signature", i)
		}
	}
}

func TestConfigurationRefuses(t *testing.T) {
	_, sign := signer()
	for want, change := range map[string]func(*secvm.Configuration){
		"fraction of":               func(c *secvm.Configuration) { c.Testers = 2 },
		"iterations":                func(c *secvm.Configuration) { c.Iterations = 0 },
		"token keys":                func(c *secvm.Configuration) { c.TokenKeys = c.TokenKeys[:1] },
		"length is 0":               func(c *secvm.Configuration) { c.Window = 0 },
		"not an Ed25519 public key": func(c *secvm.Configuration) { c.Signer = nil },
		"name is empty":             func(c *secvm.Configuration) { c.Issuer = "" },
	} {
		c := published(t)
		change(c)
		if _, err := c.Sign(sign); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func FuzzDecodeConfiguration(f *testing.F) {
	_, sign := signer()
	b, err := published(f).Sign(sign)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := secvm.DecodeConfiguration(b)
		if err != nil {
			return
		}
		if again, err := c.Sign(sign); err != nil || !bytes.Equal(again[:len(again)-ed25519.SignatureSize], b[:len(b)-ed25519.SignatureSize]) {
			t.Error("a configuration has two encodings")
		}
	})
}
