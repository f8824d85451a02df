package identity

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCreateThenLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity")
	made, err := Create(path, [SeedSize]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(made.Public(), loaded.Public()); diff != "" {
		t.Errorf("loaded another identity:\n%s", diff)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 || info.Size() != SeedSize {
		t.Errorf("file has mode %v and %d bytes (%v), want 0600 and %d", info.Mode(), info.Size(), err, SeedSize)
	}
	other, err := Create(filepath.Join(t.TempDir(), "identity"), [SeedSize]byte{2})
	if err != nil {
		t.Fatal(err)
	}
	if other.Public().Fingerprint() == made.Public().Fingerprint() {
		t.Error("two Creates gave one identity")
	}
}

func TestCreateNeverOverwrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path, [SeedSize]byte{3}); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "move it away first") {
		t.Errorf("got %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "precious" {
		t.Errorf("file now holds %q, %v", b, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	seed := seedOf(1)
	for _, c := range []struct {
		name    string
		content []byte
		mode    os.FileMode
		want    string
	}{
		{"group may read", seed[:], 0o640, "chmod 600"},
		{"others may read", seed[:], 0o604, "chmod 600"},
		{"others may write", seed[:], 0o602, "chmod 600"},
		{"too short", seed[:31], 0o600, "exactly 32 bytes"},
		{"too long", append(seed[:], 0), 0o600, "exactly 32 bytes"},
		{"empty", nil, 0o600, "exactly 32 bytes"},
		{"zeros", make([]byte, SeedSize), 0o600, "only zeros"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "identity")
			if err := os.WriteFile(path, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			_, err := Load(path)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want an error with %q and the path", err, c.want)
			}
		})
	}
}

func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "is a folder, not a file") {
		t.Errorf("directory: %v", err)
	}
}
