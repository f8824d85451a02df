package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/protocol"
)

func TestASessionRunsOnce(t *testing.T) {
	s := openStore(t, t.TempDir())
	id := idOf(1)
	if used, err := s.Used(id); err != nil || used {
		t.Fatalf("used before it began: %v, %v", used, err)
	}
	j := create(t, s, id)
	again := func(when string) {
		t.Helper()
		if _, err := s.Create(id, seedOf(2), build); !errors.Is(err, ErrUsed) {
			t.Errorf("%s: a second Create gives %v, want ErrUsed", when, err)
		}
		if used, err := s.Used(id); err != nil || !used {
			t.Errorf("%s: used %v, %v", when, used, err)
		}
	}
	again("while open")
	must(t, j.Close())
	again("while closed")
	must(t, s.Destroy(id, []byte("done")))
	again("after its end")
	must(t, os.RemoveAll(s.dir(id)))
	again("after somebody removed its folder")
}

func TestOpenRefuses(t *testing.T) {
	s := openStore(t, t.TempDir())
	if _, _, err := s.Open(idOf(1), build); !errors.Is(err, ErrUnknown) {
		t.Errorf("never begun: %v", err)
	}
	j := create(t, s, idOf(2))
	if _, _, err := s.Open(idOf(2), build); err == nil || !strings.Contains(err.Error(), "already open") {
		t.Errorf("opened twice: %v", err)
	}
	must(t, j.Close())
	_, _, err := s.Open(idOf(2), "mercer v1 darwin/arm64")
	if !errors.Is(err, ErrBuild) || !strings.Contains(err.Error(), build) || !strings.Contains(err.Error(), "darwin/arm64") {
		t.Errorf("another build: %v", err)
	}
	reopened, _ := reopen(t, s, idOf(2)) // the refusal released it
	must(t, reopened.Destroy(nil))
	if _, _, err := s.Open(idOf(2), build); !errors.Is(err, ErrEnded) {
		t.Errorf("ended: %v", err)
	}
}

// A journal in the form of a later program is not read as one in ours, and is not
// taken for damaged, after which it would be destroyed.
func TestOtherFormatsAreRefused(t *testing.T) {
	b := Header{Session: idOf(1), Build: build}.encode()
	if _, err := decodeHeader(b); err != nil {
		t.Fatal(err)
	}
	b[0]++
	want := fmt.Sprintf("format %d, but this program reads only format %d", formatVersion+1, formatVersion)
	if _, err := decodeHeader(b); !errors.Is(err, ErrBuild) || damaged(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want another build's, with %q", err, want)
	}
}

func TestCreateRefusesABuildWithoutName(t *testing.T) {
	s := openStore(t, t.TempDir())
	for _, b := range []string{"", strings.Repeat("b", maxBuildBytes+1)} {
		if _, err := s.Create(idOf(1), seedOf(1), b); err == nil {
			t.Errorf("a build of %d bytes was accepted", len(b))
		}
	}
	create(t, s, idOf(1)) // the id was not used up
}

func TestOneProcessAtATime(t *testing.T) {
	root := t.TempDir()
	s := openStore(t, root)
	if _, err := OpenStore(root); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("second store: %v, want ErrLocked", err)
	}
	must(t, s.Close())
	openStore(t, root)
}

func TestUnfinished(t *testing.T) {
	root := t.TempDir()
	s := openStore(t, root)
	for _, b := range []byte{3, 1, 2, 4} {
		must(t, create(t, s, idOf(b)).Close())
	}
	must(t, s.Destroy(idOf(2), []byte("done")))
	for _, foreign := range []string{"lost+found", "abcd", strings.Repeat("ab", 33), idOf(5).Hex()[1:]} {
		must(t, os.Mkdir(filepath.Join(root, "session", foreign), 0o700))
	}
	must(t, s.Close())
	got, err := openStore(t, root).Unfinished()
	if diff := cmp.Diff([]protocol.SessionID{idOf(1), idOf(3), idOf(4)}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// A missing or damaged file makes the session one to abort; each time the
// error says so, and Destroy still works.
func TestLostSessions(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(s *Store) error
		want string
	}{
		{"seed gone", func(s *Store) error { return os.Remove(seedPath(s.dir(idOf(1)))) }, "seed"},
		{"seed cut", func(s *Store) error { return os.Truncate(seedPath(s.dir(idOf(1))), 31) }, "31 bytes"},
		{"another seed", func(s *Store) error {
			return os.WriteFile(seedPath(s.dir(idOf(1))), make([]byte, SeedSize), 0o600)
		}, "do not belong together"},
		{"log gone", func(s *Store) error { return os.Remove(logPath(s.dir(idOf(1)))) }, "log"},
		{"log empty", func(s *Store) error { return os.Truncate(logPath(s.dir(idOf(1))), 0) }, "header is incomplete"},
		{"header cut", func(s *Store) error { return os.Truncate(logPath(s.dir(idOf(1))), 60) }, "header is incomplete"},
		{"folder gone", func(s *Store) error { return os.RemoveAll(s.dir(idOf(1))) }, "seed"},
		{"mark gone", func(s *Store) error { return os.Remove(s.markPath(idOf(1))) }, "no mark"},
		{"mark damaged", func(s *Store) error { return os.WriteFile(s.markPath(idOf(1)), []byte("open 1\n"), 0o600) }, "not a mark"},
		{"another session's folder", func(s *Store) error {
			if err := os.RemoveAll(s.dir(idOf(1))); err != nil {
				return err
			}
			return os.Rename(s.dir(idOf(2)), s.dir(idOf(1)))
		}, "log of session 0201"},
		{"records cut off", func(s *Store) error { return cutLog(s, idOf(1), -1) }, "has 2 records, but 3 were on disk before"},
		{"all records cut off", func(s *Store) error { return cutLog(s, idOf(1), -100_000) }, "has 0 records, but 3 were on disk before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			for _, b := range []byte{1, 2} {
				j := create(t, s, idOf(b))
				appendAll(t, j, story()[:3]...)
				must(t, j.Sync())
				must(t, j.Close())
			}
			must(t, c.harm(s))
			_, _, err := s.Open(idOf(1), build)
			if !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want ErrLost with %q", err, c.want)
			}
			if ids, err := s.Unfinished(); err != nil || len(ids) == 0 || ids[0] != idOf(1) {
				t.Errorf("unfinished: %v, %v", ids, err)
			}
			must(t, s.Destroy(idOf(1), []byte("aborted")))
			if _, _, err := s.Open(idOf(1), build); !errors.Is(err, ErrEnded) {
				t.Errorf("after Destroy: %v", err)
			}
		})
	}
}

// cutLog shortens a log by -by bytes, but leaves its header.
func cutLog(s *Store, id protocol.SessionID, by int64) error {
	path := logPath(s.dir(id))
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	_, _, start, err := readHeader(f, seedOf(id[0]))
	if err != nil {
		return err
	}
	return os.Truncate(path, max(start, info.Size()+by))
}

// A folder restored from a backup taken earlier in the session.
func TestBackupIsFoundOut(t *testing.T) {
	root := t.TempDir()
	s := openStore(t, root)
	j := create(t, s, idOf(1))
	appendAll(t, j, story()[:5]...)
	must(t, j.Sync())
	backup := files(t, s.dir(idOf(1)))
	appendAll(t, j, story()[5:]...)
	must(t, j.Sync())
	must(t, j.Close())
	must(t, os.RemoveAll(s.dir(idOf(1))))
	put(t, backup)
	if _, _, err := s.Open(idOf(1), build); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "backup") {
		t.Errorf("got %v, want ErrLost", err)
	}
}

func put(t testing.TB, content map[string][]byte) {
	t.Helper()
	for path, b := range content {
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, b, 0o600))
	}
}

// A passing shortage is no reason to give a session up.
func TestUnreadableIsNotLost(t *testing.T) {
	s := openStore(t, t.TempDir())
	must(t, create(t, s, idOf(1)).Close())
	path := logPath(s.dir(idOf(1)))
	must(t, os.Rename(path, path+".away"))
	must(t, os.Symlink(path, path)) // opening it gives ELOOP
	if _, _, err := s.Open(idOf(1), build); err == nil || errors.Is(err, ErrLost) {
		t.Fatalf("got %v, want an error that is not ErrLost", err)
	}
	must(t, os.Rename(path+".away", path))
	reopen(t, s, idOf(1))
}

func TestFilesArePrivate(t *testing.T) {
	root := filepath.Join(t.TempDir(), "journal")
	s := openStore(t, root)
	j := create(t, s, idOf(1))
	appendAll(t, j, story()...)
	must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		must(t, err)
		info, err := d.Info()
		must(t, err)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	}))
}

// After any crash in the middle of Create, the next OpenStore makes of the rest
// no session at all, or a whole one without records.
func TestInterruptedCreate(t *testing.T) {
	marked := func(s *Store) error {
		m, err := createMark(s.markPath(idOf(1)))
		return errors.Join(err, m.close())
	}
	for _, c := range []struct {
		name string
		done func(s *Store) error // what Create had come to
		used bool
	}{
		{"an empty draft", func(s *Store) error { return os.Mkdir(s.draft(idOf(1)), 0o700) }, false},
		{"a seed", func(s *Store) error {
			return errors.Join(os.Mkdir(s.draft(idOf(1)), 0o700), disk.Write(seedPath(s.draft(idOf(1))), []byte("sec")))
		}, false},
		{"a whole draft", func(s *Store) error { return s.lay(idOf(1), seedOf(1), build) }, false},
		{"a mark", func(s *Store) error { return errors.Join(s.lay(idOf(1), seedOf(1), build), marked(s)) }, true},
		{"its place", func(s *Store) error {
			return errors.Join(s.lay(idOf(1), seedOf(1), build), marked(s), s.install(idOf(1)))
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			s := openStore(t, root)
			must(t, c.done(s))
			must(t, s.Close())
			s = openStore(t, root)
			if used, err := s.Used(idOf(1)); err != nil || used != c.used {
				t.Fatalf("used %v, %v, want %v", used, err, c.used)
			}
			if c.used {
				j, note := reopen(t, s, idOf(1))
				if seed, err := j.Seed(); err != nil || seed != seedOf(1) || note.Records != 0 {
					t.Errorf("seed %x, %v, note %+v", seed, err, note)
				}
				return
			}
			if left := files(t, filepath.Join(root, "session")); len(left) > 0 {
				t.Errorf("%d files are left", len(left))
			}
			create(t, s, idOf(1))
		})
	}
}

// A Create that fails before the mark leaves the id free, and no secret.
func TestCreateCanBeRepeatedAfterAFailure(t *testing.T) {
	root := t.TempDir()
	s := openStore(t, root)
	used := filepath.Join(root, "used")
	must(t, os.Rename(used, used+".away"))
	if _, err := s.Create(idOf(1), seedOf(1), build); err == nil {
		t.Fatal("a session without a mark")
	}
	if found := leftovers(t, root, secretsOf(1)...); len(found) > 0 {
		t.Errorf("secrets are left in %q", found)
	}
	must(t, os.Rename(used+".away", used))
	create(t, s, idOf(1))
}

func TestConcurrentCreatesOfOneSession(t *testing.T) {
	s := openStore(t, t.TempDir())
	results := make(chan error, 8)
	for range cap(results) {
		go func() {
			_, err := s.Create(idOf(1), seedOf(1), build)
			results <- err
		}()
	}
	created := 0
	for range cap(results) {
		switch err := <-results; {
		case err == nil:
			created++
		case !errors.Is(err, ErrUsed):
			t.Errorf("got %v, want ErrUsed", err)
		}
	}
	if created != 1 {
		t.Errorf("%d sessions", created)
	}
}

// A process that is killed while it begins a session leaves it usable: at no time is there half
// a mark, which would have the session lost.
func TestAMarkIsWholeAtAllTimes(t *testing.T) {
	s, err := OpenStore(filepath.Join(t.TempDir(), "journals"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck
	for i := range 100 {
		id, looked := protocol.SessionID{byte(i), 1}, make(chan error, 1)
		go func() {
			for {
				b, err := os.ReadFile(s.markPath(id))
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err == nil {
					_, err = parseState(string(b))
				}
				looked <- err
				return
			}
		}()
		j, err := s.Create(id, [SeedSize]byte{}, "test")
		if err != nil {
			t.Fatal(err)
		}
		if err := <-looked; err != nil {
			t.Fatalf("mark %d: %v", i, err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
