package identity

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
)

// A signature of the earlier identity is over the name and all keys of the next one, and nobody else's.
func TestSignNext(t *testing.T) {
	earlier, next, other := mustFromSeed(t, seedOf(1)), mustFromSeed(t, seedOf(2)), mustFromSeed(t, seedOf(3))
	signature := earlier.SignNext("north", next.Public())
	if !earlier.Public().SignedNext("north", next.Public(), signature) {
		t.Fatal("the signature does not hold")
	}
	mixed := next.Public()
	mixed.KEM = other.Public().KEM
	for name, wrong := range map[string]bool{
		"another name":         earlier.Public().SignedNext("south", next.Public(), signature),
		"another next":         earlier.Public().SignedNext("north", other.Public(), signature),
		"another KEM key":      earlier.Public().SignedNext("north", mixed, signature),
		"a TLS key more":       earlier.Public().SignedNext("north", next.PublicTLS(), signature),
		"signed by the next":   next.Public().SignedNext("north", next.Public(), signature),
		"signed by another":    earlier.Public().SignedNext("north", next.Public(), other.SignNext("north", next.Public())),
		"no signature":         earlier.Public().SignedNext("north", next.Public(), nil),
		"signature cut":        earlier.Public().SignedNext("north", next.Public(), signature[:63]),
		"no signature at all":  Public{}.SignedNext("north", next.Public(), nil),
		"signature, no signer": mixed.SignedNext("north", next.Public(), make([]byte, 64)),
	} {
		if wrong {
			t.Errorf("%s is accepted", name)
		}
	}
}

// A rotation keeps the passphrase, destroys the earlier seed, and changes nothing before it is committed.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	path, blocks := filepath.Join(dir, "identity"), filepath.Join(t.TempDir(), "blocks")
	earlier := seedOf(1)
	if _, err := Create(path, earlier); err != nil {
		t.Fatal(err)
	}
	r, err := (Secrets{}).Rotate(path, seedOf(2))
	if err != nil {
		t.Fatal(err)
	}
	if id, err := Load(path); err != nil || id.Public().Fingerprint() != r.Earlier.Public().Fingerprint() {
		t.Fatalf("before the change: %v", err)
	}
	if err := os.Link(path, blocks); err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(); err != nil {
		t.Fatal(err)
	}
	if id, err := Load(path); err != nil || id.Public().Fingerprint() != mustFromSeed(t, seedOf(2)).Public().Fingerprint() {
		t.Errorf("after the change: %v", err)
	}
	if b, err := os.ReadFile(blocks); err != nil || bytes.Contains(b, earlier[:8]) {
		t.Errorf("the earlier seed is still there, %v", err)
	}
	if err := disk.Replace(path, quickly(t, seedOf(4))); err != nil {
		t.Fatal(err)
	}
	by := Secrets{Ask: func(string) ([]byte, error) { return []byte(passphrase), nil }}
	if r, err = by.Rotate(path, seedOf(5)); err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(); err != nil {
		t.Fatal(err)
	}
	if id, err := by.Open(path); err != nil || id.Public().Fingerprint() != r.Next.Public().Fingerprint() {
		t.Errorf("under a passphrase: %v", err)
	}
	if _, err := Load(path); err == nil {
		t.Error("the next identity is in clear")
	}
	credentials := t.TempDir()
	write(t, filepath.Join(credentials, CredentialIdentity), earlier[:])
	if _, err := (Secrets{Credentials: credentials}).Rotate(path, seedOf(6)); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "only systemd encrypts") {
		t.Errorf("a credential: %v", err)
	}
}
