package journal

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// leftovers returns the files below root that hold any 8-byte run of a secret.
func leftovers(t testing.TB, root string, secrets ...[]byte) []string {
	t.Helper()
	var found []string
	for path, content := range files(t, root) {
		for _, secret := range secrets {
			for i := 0; i+8 <= len(secret); i++ {
				if bytes.Contains(content, secret[i:i+8]) {
					found = append(found, path)
					break
				}
			}
		}
	}
	return found
}

func secretsOf(id byte) [][]byte {
	seed := seedOf(id)
	return [][]byte{seed[:], []byte("a small body"), pattern(2, 64), pattern(3, 64), []byte("okra/epoch/1")}
}

func TestDestroyLeavesOnlyPublicFacts(t *testing.T) {
	root := t.TempDir()
	s := openStore(t, root)
	j := create(t, s, idOf(1))
	appendAll(t, j, story()...)
	must(t, j.Sync())
	if len(leftovers(t, root, secretsOf(1)...)) == 0 {
		t.Fatal("the search finds nothing even while the seed is there")
	}
	before := files(t, root)
	link := filepath.Join(t.TempDir(), "link") // shows what the seed's blocks hold
	must(t, os.Link(seedPath(s.dir(idOf(1))), link))

	must(t, j.Destroy([]byte("session 01, done")))
	if found := leftovers(t, root, secretsOf(1)...); len(found) > 0 {
		t.Errorf("secrets are left in %q", found)
	}
	if found := leftovers(t, filepath.Dir(link), secretsOf(1)...); len(found) > 0 {
		t.Error("the seed was unlinked, but not overwritten")
	}
	left := files(t, s.dir(idOf(1)))
	if b, err := s.Tombstone(idOf(1)); err != nil || string(b) != "session 01, done" || len(left) != 1 {
		t.Errorf("tombstone %q, %v, among %d files", b, err, len(left))
	}
	// A copy of the sealed files cannot be opened without the seed.
	put(t, before)
	must(t, os.Remove(seedPath(s.dir(idOf(1)))))
	if _, _, err := s.Open(idOf(1), build); !errors.Is(err, ErrLost) {
		t.Errorf("opened without its seed: %v", err)
	}
}

func TestDestroyTwice(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := create(t, s, idOf(1))
	must(t, j.Destroy([]byte("first")))
	must(t, s.Destroy(idOf(1), []byte("second")))
	if b, err := s.Tombstone(idOf(1)); err != nil || string(b) != "first" {
		t.Errorf("tombstone %q, %v", b, err)
	}
}

func TestDestroyWithoutTombstone(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := create(t, s, idOf(1))
	must(t, j.Destroy(nil))
	if _, err := s.Tombstone(idOf(1)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

func TestDestroyWhileOpen(t *testing.T) {
	s := openStore(t, t.TempDir())
	create(t, s, idOf(1))
	if err := s.Destroy(idOf(1), nil); err == nil || !strings.Contains(err.Error(), "close its journal") {
		t.Errorf("got %v", err)
	}
}

// A full disk must not keep the seed alive.
func TestDestroyGoesOnWithoutRoomForATombstone(t *testing.T) {
	root := t.TempDir()
	s := openStore(t, root)
	j := create(t, s, idOf(1))
	appendAll(t, j, story()...)
	must(t, j.Close())
	// A link to itself in the tombstone's place can be neither read nor made.
	must(t, os.Symlink("tombstone", tombPath(s.dir(idOf(1)))))
	if err := s.Destroy(idOf(1), []byte("done")); err == nil {
		t.Error("the tombstone could not be written, and nobody says so")
	}
	if found := leftovers(t, root, secretsOf(1)...); len(found) > 0 {
		t.Errorf("secrets are left in %q", found)
	}
	if _, _, err := s.Open(idOf(1), build); !errors.Is(err, ErrEnded) {
		t.Errorf("not marked as ended: %v", err)
	}
}

// After any crash in the middle of Destroy, the next OpenStore finishes the
// work.
func TestInterruptedDestroyIsFinished(t *testing.T) {
	for _, c := range []struct {
		name string
		done func(s *Store) error // what Destroy had come to
	}{
		{"after the tombstone", func(s *Store) error { return bury(s.dir(idOf(1)), []byte("done")) }},
		{"after the seed", func(s *Store) error {
			return errors.Join(bury(s.dir(idOf(1)), []byte("done")), os.Remove(seedPath(s.dir(idOf(1)))))
		}},
		{"after the files", func(s *Store) error {
			return errors.Join(bury(s.dir(idOf(1)), []byte("done")), s.erase(s.dir(idOf(1))))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			s := openStore(t, root)
			j := create(t, s, idOf(1))
			appendAll(t, j, story()...)
			must(t, j.Close())
			must(t, c.done(s))
			must(t, s.Close())
			s = openStore(t, root)
			if found := leftovers(t, root, secretsOf(1)...); len(found) > 0 {
				t.Errorf("secrets are left in %q", found)
			}
			if _, _, err := s.Open(idOf(1), build); !errors.Is(err, ErrEnded) {
				t.Errorf("got %v, want ErrEnded", err)
			}
			if b, err := s.Tombstone(idOf(1)); err != nil || string(b) != "done" {
				t.Errorf("tombstone %q, %v", b, err)
			}
		})
	}
}

// A backup that brings an ended session's files back is destroyed again,
// complete or not.
func TestRestoredSecretsAreDestroyedAgain(t *testing.T) {
	for name, restored := range map[string]func(path string) bool{
		"everything": func(string) bool { return true },
		"the seed":   func(path string) bool { return filepath.Base(path) == "seed" },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			s := openStore(t, root)
			j := create(t, s, idOf(1))
			appendAll(t, j, story()...)
			must(t, j.Sync())
			backup := files(t, s.dir(idOf(1)))
			maps.DeleteFunc(backup, func(path string, _ []byte) bool { return !restored(path) })
			must(t, j.Destroy([]byte("done")))
			put(t, backup)
			if found := leftovers(t, root, secretsOf(1)...); len(found) == 0 {
				t.Fatal("the backup brought nothing back")
			}
			if _, _, err := s.Open(idOf(1), build); !errors.Is(err, ErrEnded) {
				t.Errorf("got %v, want ErrEnded", err)
			}
			must(t, s.Close())
			openStore(t, root)
			if found := leftovers(t, root, secretsOf(1)...); len(found) > 0 {
				t.Errorf("secrets are left in %q", found)
			}
		})
	}
}
