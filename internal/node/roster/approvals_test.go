package roster

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestApprovals(t *testing.T) {
	a := Approvals(filepath.Join(t.TempDir(), "approved"))
	one, two, three := sha256.Sum256([]byte("1")), sha256.Sum256([]byte("2")), sha256.Sum256([]byte("3"))
	check := func(hash [32]byte, want bool) {
		t.Helper()
		if got, err := a.Approved(hash); err != nil || got != want {
			t.Errorf("Approved(%x): %v, %v; want %v", hash[:4], got, err, want)
		}
	}
	check(one, false) // no file yet
	for _, h := range [][32]byte{one, two, one} {
		if err := a.Approve(h); err != nil {
			t.Fatal(err)
		}
	}
	check(one, true)
	check(two, true)
	check(three, false)
	check([32]byte{}, false)
}

func TestApprovalsKeepWhatTheOperatorWrote(t *testing.T) {
	a := Approvals(filepath.Join(t.TempDir(), "approved"))
	hash := sha256.Sum256([]byte("1"))
	const note = "# compared by telephone on Monday\n\n" // no approval
	if err := os.WriteFile(string(a), []byte(note), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := a.Approve(hash); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(string(a))
	if err != nil || !strings.HasPrefix(string(b), strings.TrimSpace(note)+"\n") {
		t.Errorf("the operator's note is gone: %q, %v", b, err)
	}
	if ok, err := a.Approved(hash); !ok || err != nil {
		t.Errorf("not approved: %v", err)
	}
}

// One approval stays, with the operator's notes. Nothing is written if that roster is not approved.
func TestKeepOnlyOneApproval(t *testing.T) {
	a := Approvals(filepath.Join(t.TempDir(), "approved"))
	one, two, three := sha256.Sum256([]byte("1")), sha256.Sum256([]byte("2")), sha256.Sum256([]byte("3"))
	const note = "# compared by telephone on Monday\n"
	if err := os.WriteFile(string(a), fmt.Appendf(nil, "%s%x\n%X\n", note, one, two), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := a.KeepOnly(three); err != nil {
		t.Fatal(err)
	}
	for _, want := range []map[[32]byte]bool{{one: true, two: true}, {two: true}} {
		for _, h := range [][32]byte{one, two, three} {
			if ok, err := a.Approved(h); err != nil || ok != want[h] {
				t.Errorf("Approved(%x): %v, %v; want %v", h[:4], ok, err, want[h])
			}
		}
		if err := a.KeepOnly(two); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(string(a)); err != nil || !strings.HasPrefix(string(b), note) {
		t.Errorf("the operator's note is gone: %q, %v", b, err)
	}
}

// A file that does not parse approves nothing and is not overwritten.
func TestDamagedApprovals(t *testing.T) {
	hash := sha256.Sum256([]byte("1"))
	good := strings.Repeat("ab", 32)
	for _, text := range []string{"yes", good[:63], good + "ab", "*", good + "\n" + good[:10]} {
		a := Approvals(filepath.Join(t.TempDir(), "approved"))
		if err := os.WriteFile(string(a), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if ok, err := a.Approved(hash); ok || err == nil || !strings.Contains(err.Error(), string(a)) || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%q: %v, %v; want an error naming file and line", text, ok, err)
		}
		if err := a.Approve(hash); err == nil {
			t.Errorf("%q: Approve went on", text)
		}
		if b, err := os.ReadFile(string(a)); err != nil || string(b) != text {
			t.Errorf("%q became %q, %v", text, b, err)
		}
	}
}
