package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lostSession is a session whose log has lost what was on disk.
func lostSession(t *testing.T, s *Store) {
	t.Helper()
	j := create(t, s, idOf(1))
	appendAll(t, j, story()...)
	must(t, errors.Join(j.Sync(), j.Close(), cutLog(s, idOf(1), -3)))
	if _, _, err := s.Open(idOf(1), build); !errors.Is(err, ErrLost) {
		t.Fatalf("%v, want ErrLost", err)
	}
}

// renewed is the journal of a session that begins anew, and its fresh bytes.
func renewed(t *testing.T, s *Store) (*Journal, []byte) {
	t.Helper()
	j, err := s.Renew(idOf(1), build)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := j.Anew()
	if err != nil || fresh == nil {
		t.Fatalf("fresh bytes %x, %v", fresh, err)
	}
	return j, fresh[:]
}

// A session that begins anew keeps its seed, has an empty journal under fresh bytes, and is whole after a restart. When
// it ends, neither seed nor fresh bytes are left.
func TestRenew(t *testing.T) {
	root := t.TempDir()
	s := openStore(t, root)
	lostSession(t, s)
	j, fresh := renewed(t, s)
	seed, err := j.Seed()
	if err != nil || seed != seedOf(1) || bytes.Equal(fresh, seed[:]) || j.Len() != 0 {
		t.Errorf("seed %x, fresh bytes %x, %d records, %v", seed, fresh, j.Len(), err)
	}
	appendAll(t, j, story()...)
	must(t, errors.Join(j.Sync(), j.Close(), s.Close()))
	s = openStore(t, root)
	j, _ = reopen(t, s, idOf(1))
	got, err := contents(j)
	if d := diffRecords(story(), got); d != "" || err != nil {
		t.Errorf("%s, %v", d, err)
	}
	if again, err := j.Anew(); err != nil || !cmp.Equal(again[:], fresh) {
		t.Errorf("fresh bytes %x, before %x, %v", again, fresh, err)
	}
	link := filepath.Join(t.TempDir(), "link")
	must(t, errors.Join(os.Link(anewPath(s.dir(idOf(1))), link), j.Destroy([]byte("done"))))
	for _, place := range []string{root, filepath.Dir(link)} {
		if left := leftovers(t, place, append(secretsOf(1), fresh)...); len(left) > 0 {
			t.Errorf("secrets are left in %q", left)
		}
	}
}

// A session is begun anew once, by the build that began it, and not after its end.
func TestRenewRefuses(t *testing.T) {
	s := openStore(t, t.TempDir())
	lostSession(t, s)
	if _, err := s.Renew(idOf(1), "mercer v1 darwin/arm64"); !errors.Is(err, ErrBuild) {
		t.Errorf("another build: %v", err)
	}
	j, _ := renewed(t, s)
	must(t, j.Close())
	if _, err := s.Renew(idOf(1), build); !errors.Is(err, ErrLost) {
		t.Errorf("a second time: %v", err)
	}
	must(t, s.Destroy(idOf(1), nil))
	if _, err := s.Renew(idOf(1), build); !errors.Is(err, ErrEnded) {
		t.Errorf("ended: %v", err)
	}
}

// A crash before the mark says that the session was begun anew leaves the session lost, and it may begin anew.
func TestRenewAfterACrash(t *testing.T) {
	s := openStore(t, t.TempDir())
	lostSession(t, s)
	must(t, s.layAnew(idOf(1), build))
	if _, _, err := s.Open(idOf(1), build); !errors.Is(err, ErrLost) {
		t.Errorf("%v, want ErrLost", err)
	}
	renewed(t, s)
}
