package vault

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/protocol"
)

func TestMain(m *testing.M) {
	disktest.InMemory()
	os.Exit(m.Run())
}

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

// An obstacle in place of a folder or file is an error, and leaves nothing open.
func TestOpenDiskErrors(t *testing.T) {
	file := func(path string) error { return os.WriteFile(path, nil, 0o600) }
	folder := func(path string) error { return os.Mkdir(path, 0o700) }
	for name, block := range map[string]func(string) error{"documents": file, "journals": file, "claims": folder} {
		root := t.TempDir()
		if err := block(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
		if v, err := OpenDisk(root, build); err == nil {
			t.Errorf("%s blocked: no error", name)
			closeVault(t, v)
		}
		if err := os.Remove(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
		closeVault(t, openDisk(t, root)) // the lock was given back
	}
}

// A session that cannot be created leaves no document behind, and what cannot
// be read is an error.
func TestDiskErrors(t *testing.T) {
	root := filepath.Join(t.TempDir(), "vault")
	v := openDisk(t, root)
	defer closeVault(t, v)
	s := create(t, v, 1)
	if err := os.Mkdir(v.path(s.ID(), Directory), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get(Directory); err == nil {
		t.Errorf("a document that is a folder: %q", got)
	}

	two := protocol.SessionID{2}
	if err := os.MkdirAll(v.path(two, Proposal), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Create(two, secret(2), []byte("proposal text")); err == nil {
		t.Error("a proposal that could not be written")
	}
	if _, err := os.Stat(v.folder(two)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the session that was not created: %v", err)
	}

	if err := os.RemoveAll(filepath.Join(root, "documents")); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Create(protocol.SessionID{3}, secret(3), nil); err == nil {
		t.Error("a session without a folder for documents")
	}
	if open, _, err := v.Open(); err == nil {
		t.Errorf("%d sessions of documents that are gone", len(open))
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
