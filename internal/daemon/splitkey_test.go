package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

func newHome(t *testing.T, role roster.Role) Home {
	t.Helper()
	h := At(filepath.Join(t.TempDir(), "home"))
	if _, err := h.Create(all.Reader(), &Config{Name: "north"}, role, [32]byte{1}); err != nil {
		t.Fatal(err)
	}
	return h
}

// A party's home has a key of its own, which stays; a coordinator holds nothing out.
func TestSplitKeyOfAHome(t *testing.T) {
	h := newHome(t, roster.Party)
	info, err := os.Stat(h.SplitKeyPath())
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 32 {
		t.Fatalf("%v, %v", info, err)
	}
	key, err := h.splitKey()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := h.splitKey(); err != nil || again != key {
		t.Errorf("the key changes: %v", err)
	}
	if other, err := newHome(t, roster.Party).splitKey(); err != nil || other == key {
		t.Errorf("two homes have one key: %v", err)
	}
	if _, err := os.Stat(newHome(t, roster.Coordinator).SplitKeyPath()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a coordinator has a key: %v", err)
	}
}

// A home that has released data gets no new key silently after it lost the key: the rows that
// change sides would be the difference of two sums.
func TestSplitKeyThatIsLost(t *testing.T) {
	h := newHome(t, roster.Party)
	before, err := h.splitKey()
	if err != nil {
		t.Fatal(err)
	}
	remove := func() {
		if err := os.Remove(h.SplitKeyPath()); err != nil {
			t.Fatal(err)
		}
	}
	remove()
	first, err := h.splitKey() // nothing was let out
	if err != nil || first == before {
		t.Fatalf("%v", err)
	}
	remove()
	if err := os.MkdirAll(string(h.Releases()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(h.Releases()), "sums-0123456789abcdef.released"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.splitKey(); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "restore the key from a backup") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(h.SplitKeyPath()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a key was made all the same: %v", err)
	}
	if err := h.RenewSplitKey(); err != nil {
		t.Fatal(err)
	}
	if last, err := h.splitKey(); err != nil || last == first || last == before {
		t.Errorf("after the operator has asked for another one: %v", err)
	}
}

func TestSplitKeyThatIsNone(t *testing.T) {
	h := newHome(t, roster.Party)
	for name, b := range map[string][]byte{"empty": nil, "short": make([]byte, 31), "zeros": make([]byte, 32), "long": []byte(strings.Repeat("k", 33))} {
		if err := os.WriteFile(h.SplitKeyPath(), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := h.splitKey(); fault.CodeOf(err) != fault.CodeBadInput {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A coordinator that breaks the rules and proposes a job by which it chooses the
// rows itself is refused by the party, even if the submission would have let the job pass.
func TestLoadRefusesChosenRows(t *testing.T) {
	h := newHome(t, roster.Party)
	if err := os.WriteFile(filepath.Join(h.folder, "patients.csv"), []byte("a,ill\n1,0\n2,1\n3,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &Config{Name: "north", Data: map[string]Source{"patients": {Path: "patients.csv", Label: Labels{Columns: []string{"ill"}}}}}
	for name, test := range map[string]job.Test{"every row but one": {Every: 2}, "another table": {Source: "patients"}} {
		_, err := h.load(context.Background(), c, job.Data{Source: "patients", Label: "ill", Test: test}, dataset.SplitKey{1}, snapshots{})
		if fault.CodeOf(err) != fault.CodePolicy {
			t.Errorf("%s: %v", name, err)
		}
	}
	table, err := h.load(context.Background(), c, job.Data{Source: "patients", Label: "ill", Test: job.Test{Fraction: 0.25}}, dataset.SplitKey{1}, snapshots{h.kept(t), job.ID{1}})
	if err != nil || table.Key != (dataset.SplitKey{1}) || table.Set.X.Rows() != 3 {
		t.Errorf("%+v, %v", table, err)
	}
}
