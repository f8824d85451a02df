package vault

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/internal/disk"
	"github.com/mercer-fl/mercer/internal/journal"
	"github.com/mercer-fl/mercer/protocol"
)

const build = "mercer 1 amd64"

// secret is a seed that can be found again in a file.
func secret(n byte) (seed [32]byte) {
	copy(seed[:], bytes.Repeat([]byte{'s', 'e', 'e', 'd', n, 0xfe, 0x01, n}, 4))
	return seed
}

func openDisk(t testing.TB, root string) *Disk {
	t.Helper()
	v, err := OpenDisk(root, build)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func closeVault(t testing.TB, v Vault) {
	t.Helper()
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
}

func create(t testing.TB, v Vault, n byte) Session {
	t.Helper()
	s, err := v.Create(protocol.SessionID{n}, secret(n), []byte("proposal text"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func destroy(t testing.TB, s Session) {
	t.Helper()
	if err := s.Destroy("done"); err != nil {
		t.Fatal(err)
	}
}

func wantDocument(t *testing.T, s Session, name Document, want []byte) {
	t.Helper()
	got, err := s.Get(name)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("document %s: %q, %v; want %q", name, got, err, want)
	}
}

// The suite that every vault passes.
func TestVaults(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) Vault{
		"memory": func(*testing.T) Vault { return NewMemory() },
		"disk":   func(t *testing.T) Vault { return openDisk(t, filepath.Join(t.TempDir(), "vault")) },
	} {
		for what, test := range map[string]func(*testing.T, Vault){
			"create": testCreate, "used id": testUsed, "documents": testDocuments, "records": testRecords,
			"claims": testClaims, "destroy": testDestroy,
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				v := open(t)
				test(t, v)
				closeVault(t, v)
			})
		}
	}
}

func testCreate(t *testing.T, v Vault) {
	s := create(t, v, 1)
	if s.ID() != (protocol.SessionID{1}) || s.Seed() != secret(1) {
		t.Fatalf("session %v with seed %x", s.ID(), s.Seed())
	}
	wantDocument(t, s, Proposal, []byte("proposal text"))
	if open, lost, err := v.Open(); len(open)+len(lost) > 0 && err == nil {
		t.Fatal("a session that is in use was opened a second time")
	}
}

func testUsed(t *testing.T, v Vault) {
	s := create(t, v, 1)
	again := func(when string) {
		t.Helper()
		if _, err := v.Create(s.ID(), secret(2), []byte("another")); !errors.Is(err, ErrUsed) {
			t.Fatalf("%s: %v, want ErrUsed", when, err)
		}
	}
	again("while it is open")
	if s.Seed() != secret(1) {
		t.Fatal("the refused session changed the seed")
	}
	wantDocument(t, s, Proposal, []byte("proposal text"))
	destroy(t, s)
	again("after its destruction")
}

func testDocuments(t *testing.T, v Vault) {
	s, other := create(t, v, 1), create(t, v, 2)
	wantDocument(t, s, Report, nil)
	for _, text := range []string{"first", "second"} {
		data := []byte(text)
		if err := s.Put(Report, data); err != nil {
			t.Fatal(err)
		}
		data[0] = 'X' // the caller's
		wantDocument(t, s, Report, []byte(text))
	}
	wantDocument(t, other, Report, nil)
}

func testRecords(t *testing.T, v Vault) {
	s := create(t, v, 1)
	for r, err := range s.Records() {
		t.Fatalf("a new session holds %+v, %v", r, err)
	}
	if err := s.Append(journal.Record{Event: protocol.Start{InputHash: [32]byte{4}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
}

func testClaims(t *testing.T, v Vault) {
	one, two := protocol.SessionID{1}, protocol.SessionID{2}
	if err := v.Claim(one, "epoch/1", "epoch/2"); err != nil {
		t.Fatal(err)
	}
	if err := v.Claim(one, "epoch/1"); err != nil {
		t.Fatalf("its own name again: %v", err)
	}
	var held *journal.HeldError
	if err := v.Claim(two, "epoch/3", "epoch/2"); !errors.As(err, &held) || held.Name != "epoch/2" || held.Holder != one {
		t.Fatalf("another session's name: %v", err)
	}
	if err := v.Claim(one, "epoch/3"); err != nil {
		t.Fatalf("a name out of a refused claim: %v", err)
	}
}

func testDestroy(t *testing.T, v Vault) {
	s := create(t, v, 1)
	destroy(t, s)
	if s.Seed() != ([32]byte{}) {
		t.Error("the seed is still in memory")
	}
	wantDocument(t, s, Proposal, nil)
	if err := s.Destroy("again"); err != nil {
		t.Errorf("a second Destroy: %v", err)
	}
	if open, lost, err := v.Open(); len(open)+len(lost) > 0 || err != nil {
		t.Errorf("%d open, %d lost, %v after Destroy", len(open), len(lost), err)
	}
}

// found returns the files below root that hold any of the texts.
func found(t *testing.T, root string, texts ...[]byte) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, text := range texts {
			if bytes.Contains(data, text) {
				list = append(list, strings.TrimPrefix(path, root))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func traces() [][]byte {
	seed := secret(1)
	return [][]byte{seed[:], seed[:16], []byte("proposal text"), []byte("report text"), []byte("message body")}
}

func TestDestroyLeavesNothing(t *testing.T) {
	root := filepath.Join(t.TempDir(), "vault")
	v := openDisk(t, root)
	s := create(t, v, 1)
	if err := s.Put(Report, []byte("report text")); err != nil {
		t.Fatal(err)
	}
	big := bytes.Repeat([]byte("message body"), 10_000) // a side file of the journal
	m := protocol.Message{Header: protocol.Header{Session: s.ID(), Protocol: "toy", Chunks: 1}, Body: big}
	for _, r := range []journal.Record{{Event: protocol.Start{}}, {Event: protocol.Received{Message: m}}} {
		if err := s.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	if got := len(found(t, root, traces()...)); got != 4 { // seed twice, two documents
		t.Fatalf("%d traces of an open session, want 4: the test looks for the wrong bytes", got)
	}
	if bodies := found(t, root, []byte("message body")); len(bodies) > 0 {
		t.Fatalf("%v hold a message in clear", bodies)
	}
	// A second link shows what the blocks hold once the name is gone.
	link := filepath.Join(root, "link")
	if err := os.Link(filepath.Join(root, "journals", "session", s.ID().Hex(), "seed"), link); err != nil {
		t.Fatal(err)
	}
	destroy(t, s)
	if left := found(t, root, traces()...); len(left) > 0 {
		t.Fatalf("%v still hold something of a destroyed session", left)
	}
	closeVault(t, v)
}

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

// What cannot be run on is destroyed and reported; everything else goes on.
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
	_, lost := openAll(t, v, 0, 1)
	if !errors.Is(lost[0].Err, journal.ErrBuild) {
		t.Fatalf("%v, want ErrBuild", lost[0].Err)
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
	// A folder in the log's place cannot be opened for writing, whoever asks.
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
