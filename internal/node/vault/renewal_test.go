package vault

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/protocol"
)

// able is a machine whose session begins anew until it has claimed a name.
type able struct {
	protocol.Machine
	until string
}

func (m able) AnewUntil() string { return m.until }

// cutOff takes the last record from the log of a session that is synced.
func cutOff(t *testing.T, root string, id protocol.SessionID, log string) {
	t.Helper()
	path := filepath.Join(root, "journals", "session", id.Hex(), log)
	info, err := os.Stat(path)
	if err = errors.Join(err, os.Truncate(path, info.Size()-5)); err != nil {
		t.Fatal(err)
	}
}

// recorded appends a record to a session.
func recorded(t *testing.T, s Session) {
	t.Helper()
	if err := errors.Join(s.Append(journal.Record{Event: protocol.Resumed{}}), s.Sync()); err != nil {
		t.Fatal(err)
	}
}

// A session whose journal is lost begins anew with its seed and fresh bytes, once. It is lost if its machine has no
// name for that, or has claimed it.
func TestSessionsBeginAnew(t *testing.T) {
	v := openDisk(t, filepath.Join(t.TempDir(), "vault"))
	root := v.root
	begin := func(n byte, m protocol.Machine) Session {
		s := create(t, v, n)
		if err := AllowAnew(s, m, [32]byte{n}); err != nil {
			t.Fatal(err)
		}
		recorded(t, s)
		return s
	}
	free, bound, never := begin(1, able{until: "free"}), begin(2, able{until: "bound"}), begin(3, nil)
	if err := v.Claim(bound.ID(), "bound"); err != nil {
		t.Fatal(err)
	}
	closeVault(t, v)
	for _, s := range []Session{free, bound, never} {
		cutOff(t, root, s.ID(), "log")
	}
	v = openDisk(t, root)
	open, lost := openAll(t, v, 1, 2)
	for _, l := range lost {
		if l.ID == free.ID() || !errors.Is(l.Err, journal.ErrLost) {
			t.Errorf("lost %v: %v", l.ID, l.Err)
		}
	}
	anew := open[0].Anew()
	if open[0].ID() != free.ID() || open[0].Seed() != secret(1) || anew == nil || *anew == secret(1) || *anew == [32]byte{} {
		t.Fatalf("session %v, seed %x, fresh bytes %x", open[0].ID(), open[0].Seed(), anew)
	}
	for r, err := range open[0].Records() {
		t.Errorf("record %v, %v", r, err)
	}
	if err := AllowAnew(open[0], able{until: "free"}, [32]byte{1}); err != nil {
		t.Error(err)
	}
	if err := AllowAnew(open[0], able{until: "free"}, [32]byte{9}); !errors.Is(err, ErrInput) {
		t.Errorf("another input: %v", err)
	}
	recorded(t, open[0])
	v = reopened(t, v) // whole again, with the same bytes
	open, _ = openAll(t, v, 1, 0)
	if again := open[0].Anew(); again == nil || *again != *anew {
		t.Errorf("fresh bytes %x, before %x", again, anew)
	}
	closeVault(t, v)
	cutOff(t, root, free.ID(), "anew-log")
	v = openDisk(t, root)
	if _, lost := openAll(t, v, 0, 1); lost[0].ID != free.ID() {
		t.Errorf("lost %v", lost[0].ID)
	}
	for _, key := range [][]byte{anew[:], secretBytes(1)} {
		if left := found(t, root, key); len(left) > 0 {
			t.Errorf("a secret of a session that is lost twice is in %v", left)
		}
	}
	closeVault(t, v)
}

func secretBytes(n byte) []byte { s := secret(n); return s[:] }

// A session that began anew is not resumed from its first journal, whole or not, and does not begin anew again: the
// mark outside its folder says that it did.
func TestSessionsBeginAnewOnce(t *testing.T) {
	for name, c := range map[string]struct {
		cut     bool
		restore []string
	}{
		"the first log":                 {true, []string{"log"}},
		"the folder, damaged":           {true, []string{"log", "seed"}},
		"the folder, when it was whole": {false, []string{"log", "seed"}},
	} {
		t.Run(name, func(t *testing.T) {
			v := openDisk(t, filepath.Join(t.TempDir(), "vault"))
			root := v.root
			s := create(t, v, 1)
			if err := AllowAnew(s, able{until: "x"}, [32]byte{}); err != nil {
				t.Fatal(err)
			}
			recorded(t, s)
			closeVault(t, v)
			folder := filepath.Join(root, "journals", "session", s.ID().Hex())
			backup := map[string][]byte{}
			keep := func() {
				for _, file := range c.restore {
					b, err := os.ReadFile(filepath.Join(folder, file))
					if err != nil {
						t.Fatal(err)
					}
					backup[file] = b
				}
			}
			if !c.cut {
				keep()
			}
			cutOff(t, root, s.ID(), "log")
			if c.cut {
				keep()
			}
			v = openDisk(t, root)
			openAll(t, v, 1, 0)
			closeVault(t, v)
			for _, file := range []string{"anew", "anew-log"} {
				if err := os.Remove(filepath.Join(folder, file)); err != nil {
					t.Fatal(err)
				}
			}
			for file, b := range backup {
				if err := os.WriteFile(filepath.Join(folder, file), b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			v = openDisk(t, root)
			openAll(t, v, 0, 1)
			closeVault(t, v)
		})
	}
}

// A session does not begin anew in another build, nor if its seed, the log's header, its mark or its proposal is gone.
func TestSessionsThatDoNotBeginAnew(t *testing.T) {
	session := func(root string, id protocol.SessionID, file string) string {
		return filepath.Join(root, "journals", "session", id.Hex(), file)
	}
	for name, damage := range map[string]func(root string, id protocol.SessionID) error{
		"seed":   func(root string, id protocol.SessionID) error { return os.Remove(session(root, id, "seed")) },
		"log":    func(root string, id protocol.SessionID) error { return os.Remove(session(root, id, "log")) },
		"header": func(root string, id protocol.SessionID) error { return os.Truncate(session(root, id, "log"), 30) },
		"mark": func(root string, id protocol.SessionID) error {
			return os.Remove(filepath.Join(root, "journals", "used", id.Hex()))
		},
		"proposal": func(root string, id protocol.SessionID) error {
			return os.Remove(filepath.Join(root, "documents", id.Hex(), "proposal"))
		},
		"renewal": func(root string, id protocol.SessionID) error {
			return os.Remove(filepath.Join(root, "documents", id.Hex(), "renewal"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := openDisk(t, filepath.Join(t.TempDir(), "vault"))
			root := v.root
			s := create(t, v, 1)
			if err := AllowAnew(s, able{until: "x"}, [32]byte{}); err != nil {
				t.Fatal(err)
			}
			recorded(t, s)
			closeVault(t, v)
			cutOff(t, root, s.ID(), "log")
			if err := damage(root, s.ID()); err != nil {
				t.Fatal(err)
			}
			v = openDisk(t, root)
			openAll(t, v, 0, 1)
			closeVault(t, v)
		})
	}
}

// A session that began anew and whose seed is gone or damaged is lost. It neither goes on under other masks nor keeps
// the process from its other sessions.
func TestSessionsThatBeganAnewNeedTheirSeed(t *testing.T) {
	for name, damage := range map[string]func(seed string) error{
		"gone":  os.Remove,
		"short": func(seed string) error { return os.Truncate(seed, 7) },
		"other": func(seed string) error { return os.WriteFile(seed, make([]byte, 32), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			v := openDisk(t, filepath.Join(t.TempDir(), "vault"))
			root := v.root
			s, beside := create(t, v, 1), create(t, v, 2)
			if err := AllowAnew(s, able{until: "x"}, [32]byte{}); err != nil {
				t.Fatal(err)
			}
			recorded(t, s)
			closeVault(t, v)
			cutOff(t, root, s.ID(), "log")
			v = openDisk(t, root)
			openAll(t, v, 2, 0)
			closeVault(t, v)
			if err := damage(filepath.Join(root, "journals", "session", s.ID().Hex(), "seed")); err != nil {
				t.Fatal(err)
			}
			v = openDisk(t, root)
			if open, _ := openAll(t, v, 1, 1); open[0].ID() != beside.ID() {
				t.Errorf("session %v is open", open[0].ID())
			}
			closeVault(t, v)
		})
	}
}

// Without what it has stored of its sums, a session that began anew does not know that they are the same: it ends.
func TestSessionsThatBeganAnewNeedTheirHash(t *testing.T) {
	v := openDisk(t, filepath.Join(t.TempDir(), "vault"))
	root := v.root
	s := create(t, v, 1)
	if err := AllowAnew(s, able{until: "x"}, [32]byte{1}); err != nil {
		t.Fatal(err)
	}
	recorded(t, s)
	closeVault(t, v)
	cutOff(t, root, s.ID(), "log")
	v = openDisk(t, root)
	open, _ := openAll(t, v, 1, 0)
	if err := os.Remove(filepath.Join(root, "documents", s.ID().Hex(), "renewal")); err != nil {
		t.Fatal(err)
	}
	if err := AllowAnew(open[0], able{until: "x"}, [32]byte{2}); !errors.Is(err, ErrInput) {
		t.Errorf("another input: %v", err)
	}
	closeVault(t, v)
}

// A session whose bodies' folder is lost, too, begins anew. A session that began anew before and loses it is lost, and
// the process serves the others.
func TestSessionsBeginAnewWithoutBodies(t *testing.T) {
	v := openDisk(t, filepath.Join(t.TempDir(), "vault"))
	root := v.root
	s := create(t, v, 1)
	create(t, v, 2)
	if err := AllowAnew(s, able{until: "x"}, [32]byte{1}); err != nil {
		t.Fatal(err)
	}
	large := journal.Record{Event: protocol.Received{Message: protocol.Message{Header: protocol.Header{Chunks: 1}, Body: make([]byte, 100<<10)}}}
	if err := errors.Join(s.Append(large), s.Sync()); err != nil {
		t.Fatal(err)
	}
	closeVault(t, v)
	bodies := filepath.Join(root, "journals", "session", s.ID().Hex(), "body")
	for _, want := range []int{2, 1} {
		if err := os.RemoveAll(bodies); err != nil {
			t.Fatal(err)
		}
		v = openDisk(t, root)
		open, _ := openAll(t, v, want, 2-want)
		if want == 2 {
			if err := errors.Join(open[0].Append(large), open[0].Sync()); open[0].Anew() == nil || err != nil {
				t.Errorf("fresh bytes %x, %v", open[0].Anew(), err)
			}
		}
		closeVault(t, v)
	}
}

// A body that is damaged in place is a lost journal, too, as soon as the session is opened.
func TestSessionsBeginAnewOverADamagedBody(t *testing.T) {
	for _, begins := range []bool{true, false} {
		v := openDisk(t, filepath.Join(t.TempDir(), "vault"))
		root := v.root
		s := create(t, v, 1)
		if err := AllowAnew(s, able{until: "x"}, [32]byte{1}); err != nil {
			t.Fatal(err)
		}
		large := journal.Record{Event: protocol.Received{Message: protocol.Message{Header: protocol.Header{Chunks: 1}, Body: make([]byte, 100<<10)}}}
		if err := errors.Join(s.Append(large), s.Sync()); err != nil {
			t.Fatal(err)
		}
		if !begins {
			if err := v.Claim(s.ID(), "x"); err != nil {
				t.Fatal(err)
			}
		}
		closeVault(t, v)
		body := filepath.Join(root, "journals", "session", s.ID().Hex(), "body", "0000000000000000")
		b, err := os.ReadFile(body)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/2] ^= 1
		if err := os.WriteFile(body, b, 0o600); err != nil {
			t.Fatal(err)
		}
		v = openDisk(t, root)
		if begins {
			if open, _ := openAll(t, v, 1, 0); open[0].Anew() == nil {
				t.Error("it goes on as if it were whole")
			}
		} else {
			openAll(t, v, 0, 1)
		}
		closeVault(t, v)
	}
}

// The hash of the input that a session has stored has a key, as it tells about rows and is not overwritten.
func TestTheHashOfTheInputHasAKey(t *testing.T) {
	v := openDisk(t, filepath.Join(t.TempDir(), "vault"))
	input := secret(9)
	for n := range byte(2) {
		if err := AllowAnew(create(t, v, n), able{until: "x"}, input); err != nil {
			t.Fatal(err)
		}
	}
	if left := found(t, v.root, input[:]); len(left) > 0 {
		t.Errorf("the hash itself is in %v", left)
	}
	var stored [2][]byte
	for n := range stored {
		var err error
		if stored[n], err = os.ReadFile(v.path(protocol.SessionID{byte(n)}, Renewal)); err != nil {
			t.Fatal(err)
		}
	}
	if bytes.Equal(stored[0], stored[1]) {
		t.Error("two seeds give one hash")
	}
	closeVault(t, v)
}
