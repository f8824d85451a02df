package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

const words = "correct horse battery staple"

// A home asks for the passphrase once, whatever needs the identity.
func TestIdentityIsOpenedOnce(t *testing.T) {
	h := newHome(t, roster.Party)
	if err := h.Seal([]byte(words)); err != nil {
		t.Fatal(err)
	}
	asked := 0
	h = h.Opening(identity.Secrets{Ask: func(string) ([]byte, error) { asked++; return []byte(words), nil }})
	for range 2 {
		if _, err := h.artifacts(); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Editions().Sealed(); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 1 {
		t.Errorf("the operator was asked %d times", asked)
	}
}

// A daemon does not begin with an identity that another command replaces as it starts.
func TestIdentityChangesAsTheDaemonStarts(t *testing.T) {
	h := newHome(t, roster.Party)
	if _, err := h.identity(); err != nil {
		t.Fatal(err)
	}
	if err := disk.ReplaceSecret(h.IdentityPath(), []byte(strings.Repeat("x", identity.SeedSize))); err != nil {
		t.Fatal(err)
	}
	if lock, err := h.lockHome(); err == nil || fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "was changed at this moment") {
		t.Errorf("%v, %v", lock, err)
	}
	if err := h.alone(func() error { return nil }); err == nil {
		t.Error("a second attempt is locked")
	}
	if err := At(h.folder).alone(func() error { return nil }); err != nil {
		t.Errorf("another command: %v", err)
	}
}

// A draft of the identity that a crash has left is erased before a daemon runs.
func TestDraftOfAnIdentityIsErased(t *testing.T) {
	h := newHome(t, roster.Party)
	draft := filepath.Join(h.folder, "identity.new")
	if err := os.WriteFile(draft, []byte("a seed in clear"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := h.alone(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(draft); err == nil {
		t.Error("the draft is still there")
	}
}
