package vault

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/protocol"
)

// reopened kills the process and starts another.
func reopened(t *testing.T, v *Disk) *Disk {
	t.Helper()
	root := v.root
	closeVault(t, v) // the kernel would close the same files
	return openDisk(t, root)
}

func openAll(t *testing.T, v Vault, sessions, lost int) ([]Session, []Lost) {
	t.Helper()
	open, gone, err := v.Open()
	if err != nil || len(open) != sessions || len(gone) != lost {
		t.Fatalf("%d open, %d lost (%v), %v; want %d and %d", len(open), len(gone), gone, err, sessions, lost)
	}
	return open, gone
}

func TestReopenAfterACrash(t *testing.T) {
	v := openDisk(t, filepath.Join(t.TempDir(), "vault"))
	s, ended := create(t, v, 1), create(t, v, 2)
	destroy(t, ended)
	want := []journal.Record{{Event: protocol.Start{InputHash: [32]byte{4}}}, {Event: protocol.Resumed{}, Sent: [][32]byte{{5}}, Claims: []string{"epoch/1"}}, {Delivered: 1}}
	for _, r := range want {
		if err := s.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Put(Directory, []byte("keys")), v.Claim(s.ID(), "epoch/1")); err != nil {
		t.Fatal(err)
	}
	v = reopened(t, v)
	open, _ := openAll(t, v, 1, 0)
	again := open[0]
	if again.ID() != s.ID() || again.Seed() != secret(1) {
		t.Fatalf("session %v with seed %x", again.ID(), again.Seed())
	}
	wantDocument(t, again, Proposal, []byte("proposal text"))
	wantDocument(t, again, Directory, []byte("keys"))
	var got []journal.Record
	for r, err := range again.Records() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	if err := v.Claim(protocol.SessionID{9}, "epoch/1"); err == nil {
		t.Fatal("a claim was forgotten")
	}
	for _, id := range []protocol.SessionID{{1}, {2}} {
		if _, err := v.Create(id, secret(3), nil); !errors.Is(err, ErrUsed) {
			t.Fatalf("session %v: %v, want ErrUsed", id, err)
		}
	}
	closeVault(t, v)
}

func TestOneProcessAtATime(t *testing.T) {
	root := filepath.Join(t.TempDir(), "vault")
	v := openDisk(t, root)
	if _, err := OpenDisk(root, build); !errors.Is(err, disk.ErrLocked) {
		t.Fatalf("a second process: %v, want ErrLocked", err)
	}
	closeVault(t, v)
	closeVault(t, openDisk(t, root))
}

// Sessions that cannot be resumed are destroyed and reported; everything else continues.
func TestLostSessions(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(root string, id protocol.SessionID) error
		want   error
	}{
		"log cut off": {func(root string, id protocol.SessionID) error {
			path := filepath.Join(root, "journals", "session", id.Hex(), "log")
			info, err := os.Stat(path)
			return errors.Join(err, os.Truncate(path, info.Size()-5))
		}, journal.ErrLost},
		"log damaged": {func(root string, id protocol.SessionID) error {
			path := filepath.Join(root, "journals", "session", id.Hex(), "log")
			data, err := os.ReadFile(path)
			data[30]++
			return errors.Join(err, os.WriteFile(path, data, 0o600))
		}, journal.ErrLost},
		"seed gone": {func(root string, id protocol.SessionID) error {
			return os.Remove(filepath.Join(root, "journals", "session", id.Hex(), "seed"))
		}, journal.ErrLost},
		"mark gone": {func(root string, id protocol.SessionID) error {
			return os.Remove(filepath.Join(root, "journals", "used", id.Hex()))
		}, journal.ErrLost},
		"documents gone": {func(root string, id protocol.SessionID) error {
			return os.RemoveAll(filepath.Join(root, "documents", id.Hex()))
		}, journal.ErrLost},
	} {
		t.Run(name, func(t *testing.T) {
			v := openDisk(t, filepath.Join(t.TempDir(), "vault"))
			s, _ := create(t, v, 1), create(t, v, 2)
			if err := errors.Join(s.Append(journal.Record{Event: protocol.Start{}}), s.Sync()); err != nil {
				t.Fatal(err)
			}
			root := v.root
			closeVault(t, v)
			if err := c.damage(root, s.ID()); err != nil {
				t.Fatal(err)
			}
			v = openDisk(t, root)
			open, lost := openAll(t, v, 1, 1)
			if lost[0].ID != s.ID() || !errors.Is(lost[0].Err, c.want) || open[0].ID() == s.ID() {
				t.Fatalf("lost %v (%v)", lost[0].ID, lost[0].Err)
			}
			seed := secret(1)
			if left := found(t, root, seed[:]); len(left) > 0 {
				t.Fatalf("the seed of a lost session is in %v", left)
			}
			if _, err := v.Create(s.ID(), secret(1), nil); !errors.Is(err, ErrUsed) {
				t.Fatalf("%v, want ErrUsed", err)
			}
			v = reopened(t, v)
			openAll(t, v, 1, 0) // reported once
			closeVault(t, v)
		})
	}
}

func TestAnotherBuildDoesNotRunASession(t *testing.T) {
	v := openDisk(t, filepath.Join(t.TempDir(), "vault"))
	create(t, v, 1)
	root := v.root
	closeVault(t, v)
	v, err := OpenDisk(root, "mercer 2 amd64")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // an upgrade in the middle of a job, tried twice
		open, lost, err := v.Open()
		var foreign *BuildError
		if !errors.As(err, &foreign) || len(foreign.Sessions) != 1 || !errors.Is(err, journal.ErrBuild) || len(open)+len(lost) > 0 {
			t.Fatalf("%d open, %d lost, %v; want a BuildError", len(open), len(lost), err)
		}
	}
	closeVault(t, v)
	v = openDisk(t, root) // the old program is put back: nothing is lost
	open, _ := openAll(t, v, 1, 0)
	if open[0].Seed() != secret(1) {
		t.Fatal("the seed is gone")
	}
	closeVault(t, v)
	if v, err = OpenDisk(root, "mercer 2 amd64"); err != nil {
		t.Fatal(err)
	}
	v.Abandon() // the operator gives it up
	_, lost := openAll(t, v, 0, 1)
	if !errors.Is(lost[0].Err, journal.ErrBuild) {
		t.Fatalf("%v, want ErrBuild", lost[0].Err)
	}
	if left := found(t, root, func() []byte { s := secret(1); return s[:] }()); len(left) > 0 {
		t.Errorf("%v hold the seed", left)
	}
	closeVault(t, v)
}

// A session that cannot be read for a passing reason is not given up.
func TestPassingTroubleDestroysNothing(t *testing.T) {
	v := openDisk(t, filepath.Join(t.TempDir(), "vault"))
	s := create(t, v, 1)
	path := filepath.Join(v.root, "journals", "session", s.ID().Hex(), "log")
	root := v.root
	closeVault(t, v)
	// Nobody can open a folder in the log's place for writing, not even root.
	if err := errors.Join(os.Rename(path, path+".away"), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	v = openDisk(t, root)
	if open, lost, err := v.Open(); err == nil || len(open)+len(lost) > 0 {
		t.Fatalf("%d open, %d lost, %v; want an error", len(open), len(lost), err)
	}
	if err := errors.Join(os.Remove(path), os.Rename(path+".away", path)); err != nil {
		t.Fatal(err)
	}
	open, _ := openAll(t, v, 1, 0)
	if open[0].Seed() != secret(1) {
		t.Fatal("the seed is gone")
	}
	closeVault(t, v)
}

// Crashes in the middle of Create and Destroy leave documents without a
// session; the next start removes them.
func TestOrphanedDocumentsAreSwept(t *testing.T) {
	v := openDisk(t, filepath.Join(t.TempDir(), "vault"))
	s := create(t, v, 1)
	if err := errors.Join(s.(*diskSession).journal.Close(), v.store.Destroy(s.ID(), []byte("done"))); err != nil {
		t.Fatal(err) // Destroy as far as the documents
	}
	unborn := protocol.SessionID{2}
	if err := errors.Join(disk.MakeDir(v.folder(unborn)), disk.Replace(v.path(unborn, Proposal), []byte("proposal text"))); err != nil {
		t.Fatal(err) // Create as far as the seed
	}
	v = reopened(t, v)
	openAll(t, v, 0, 0)
	if left := found(t, v.root, []byte("proposal text")); len(left) > 0 {
		t.Fatalf("%v are left", left)
	}
	if _, err := v.Create(unborn, secret(2), nil); err != nil {
		t.Fatalf("a session whose seed was never drawn: %v", err)
	}
	closeVault(t, v)
}

func TestFailedCreateLeavesNoDocuments(t *testing.T) {
	v, err := OpenDisk(filepath.Join(t.TempDir(), "vault"), "") // which no journal accepts
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Create(protocol.SessionID{1}, secret(1), []byte("proposal text")); err == nil {
		t.Fatal("a session without a build was created")
	}
	seed := secret(1)
	if left := found(t, v.root, seed[:], []byte("proposal text")); len(left) > 0 {
		t.Fatalf("%v are left", left)
	}
	closeVault(t, v)
}
