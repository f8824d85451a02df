package vault

import (
	"bytes"
	"crypto/hpke"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/mercer-fl/mercer/internal/identity"
	"github.com/mercer-fl/mercer/internal/session"
)

type keepsake interface {
	Put(session.JobID, []byte) error
	Get(session.JobID) ([]byte, error)
	Erase(session.JobID) error
}

func key(t testing.TB, n byte) hpke.PrivateKey {
	t.Helper()
	id, err := identity.FromSeed([32]byte{n})
	if err != nil {
		t.Fatal(err)
	}
	return id.KEMKey()
}

func onDisk(t testing.TB, folder string, n byte) *DiskKeepsake {
	t.Helper()
	k, err := NewDiskKeepsake(folder, key(t, n))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

var encoder = []byte("the secret of an encoder, which decodes every row")

func TestKeepsakes(t *testing.T) {
	for name, k := range map[string]keepsake{
		"memory": NewMemoryKeepsake(),
		"disk":   onDisk(t, filepath.Join(t.TempDir(), "kept"), 1),
	} {
		t.Run(name, func(t *testing.T) {
			one, two := session.JobID{1}, session.JobID{2}
			if _, err := k.Get(one); !errors.Is(err, ErrNoKeepsake) {
				t.Fatalf("%v, want ErrNoKeepsake", err)
			}
			if err := k.Erase(one); err != nil {
				t.Fatalf("erasing nothing: %v", err)
			}
			given := bytes.Clone(encoder)
			if err := errors.Join(k.Put(one, []byte("older")), k.Put(one, given), k.Put(two, []byte("other"))); err != nil {
				t.Fatal(err)
			}
			given[0]++ // the caller's
			got, err := k.Get(one)
			if err != nil || !bytes.Equal(got, encoder) {
				t.Fatalf("%q, %v", got, err)
			}
			if err := k.Erase(one); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, encoder) {
				t.Fatal("Erase reached into what Get had returned")
			}
			if _, err := k.Get(one); !errors.Is(err, ErrNoKeepsake) {
				t.Fatalf("%v after Erase, want ErrNoKeepsake", err)
			}
			if other, err := k.Get(two); err != nil || string(other) != "other" {
				t.Fatalf("another job's: %q, %v", other, err)
			}
		})
	}
}

func TestDiskKeepsakeIsSealed(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "kept")
	k, one, two := onDisk(t, folder, 1), session.JobID{1}, session.JobID{2}
	if err := k.Put(one, encoder); err != nil {
		t.Fatal(err)
	}
	for n := 8; n <= len(encoder); n++ {
		if files := found(t, folder, encoder[n-8:n]); len(files) > 0 {
			t.Fatalf("%v hold %q", files, encoder[n-8:n])
		}
	}
	info, err := os.Stat(k.path(one))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if got, err := onDisk(t, folder, 1).Get(one); err != nil || !bytes.Equal(got, encoder) {
		t.Fatalf("after a restart: %q, %v", got, err)
	}
	if got, err := onDisk(t, folder, 2).Get(one); err == nil || errors.Is(err, ErrNoKeepsake) {
		t.Fatalf("another identity: %q, %v", got, err)
	}
	sealed, err := os.ReadFile(k.path(one))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(k.path(two), sealed, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Get(two); err == nil || errors.Is(err, ErrNoKeepsake) {
		t.Fatalf("one job's secret under another's name: %q, %v", got, err)
	}
	for i := range sealed {
		sealed[i] ^= 0x40
		if i%97 == 0 {
			if err := os.WriteFile(k.path(one), sealed[:len(sealed)-i/2], 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := k.Get(one); err == nil {
				t.Fatalf("damage at byte %d was not seen: %q", i, got)
			}
		}
		sealed[i] ^= 0x40
	}
}

// What is replaced or erased is overwritten in memory.
func TestMemoryKeepsakeOverwrites(t *testing.T) {
	k, id := NewMemoryKeepsake(), session.JobID{1}
	for name, end := range map[string]func() error{
		"Put":   func() error { return k.Put(id, []byte("newer")) },
		"Erase": func() error { return k.Erase(id) },
	} {
		if err := k.Put(id, encoder); err != nil {
			t.Fatal(err)
		}
		held := k.kept[id]
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(held, make([]byte, len(encoder))) {
			t.Errorf("%s left %q in memory", name, held)
		}
	}
}

// A folder that cannot be read is an error, not a secret that is not there.
func TestDiskKeepsakeErrors(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "kept")
	k, id := onDisk(t, folder, 1), session.JobID{1}
	if err := os.MkdirAll(filepath.Join(k.path(id), "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Get(id); err == nil || errors.Is(err, ErrNoKeepsake) {
		t.Errorf("Get: %q, %v", got, err)
	}
	if err := k.Put(id, encoder); err == nil {
		t.Error("Put: no error")
	}
	if err := k.Erase(id); err == nil {
		t.Error("Erase: no error")
	}
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewDiskKeepsake(filepath.Join(file, "kept"), key(t, 1)); err == nil {
		t.Error("a folder inside a file")
	}
}

func TestEraseOverwritesTheFile(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "kept")
	k, id := onDisk(t, folder, 1), session.JobID{1}
	if err := k.Put(id, encoder); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(k.path(id))
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Link(k.path(id), link); err != nil {
		t.Fatal(err)
	}
	if err := k.Erase(id); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(link)
	if err != nil {
		t.Fatal(err)
	}
	if len(after) != len(before) || bytes.Contains(after, before[:32]) {
		t.Fatal("the blocks still hold the sealed secret")
	}
	if left := found(t, folder, before[:32]); len(left) > 0 {
		t.Fatalf("%v hold it", left)
	}
}
