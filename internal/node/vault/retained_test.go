package vault

import (
	"bytes"
	"crypto/hpke"
	"errors"
	"path/filepath"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
)

type retained interface {
	Put(job.ID, []byte) error
	Get(job.ID) ([]byte, error)
	Erase(job.ID) ([]Item, error)
}

func key(t testing.TB, n byte) hpke.PrivateKey {
	t.Helper()
	id, err := identity.FromSeed([32]byte{n})
	if err != nil {
		t.Fatal(err)
	}
	return id.KEMKey()
}

func onDisk(t testing.TB, folder string, n byte) *Artifacts {
	t.Helper()
	e, err := OpenArtifacts(folder, key(t, n))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var encoder = []byte("the secret of an encoder, which decodes every row")

func TestRetained(t *testing.T) {
	for name, k := range map[string]retained{
		"memory": NewMemoryStates(),
		"disk":   onDisk(t, filepath.Join(t.TempDir(), "kept"), 1).States(),
	} {
		t.Run(name, func(t *testing.T) {
			one, two := job.ID{1}, job.ID{2}
			if _, err := k.Get(one); !errors.Is(err, ErrNoState) {
				t.Fatalf("%v, want ErrNoRetained", err)
			}
			if _, err := k.Erase(one); err != nil {
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
			if _, err := k.Erase(one); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, encoder) {
				t.Fatal("Erase reached into what Get had returned")
			}
			if _, err := k.Get(one); !errors.Is(err, ErrNoState) {
				t.Fatalf("%v after Erase, want ErrNoRetained", err)
			}
			if other, err := k.Get(two); err != nil || string(other) != "other" {
				t.Fatalf("another job's: %q, %v", other, err)
			}
		})
	}
}

// Replaced or erased secrets are overwritten in memory.
func TestMemoryRetainedOverwrites(t *testing.T) {
	k, id := NewMemoryStates(), job.ID{1}
	for name, end := range map[string]func() error{
		"Put":   func() error { return k.Put(id, []byte("newer")) },
		"Erase": func() error { _, err := k.Erase(id); return err },
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
