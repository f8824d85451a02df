package approved

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
)

func dictionaries(folder string) Store[*job.Dictionary] {
	return Store[*job.Dictionary]{folder, job.ParseDictionary, job.ErrUnapproved}
}

func parsed(t *testing.T, ages string) *job.Dictionary {
	t.Helper()
	d, err := job.ParseDictionary("cohort.yaml", []byte("apiVersion: mercer/v1\nkind: Dictionary\nmetadata: {name: cohort}\nspec:\n  columns: {age: {range: "+ages+"}}\n  labels: {ill: {}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A name means its newest approval, a hash means its text for ever, and an approval is for one table.
func TestApprovals(t *testing.T) {
	a := dictionaries(filepath.Join(t.TempDir(), "dictionaries"))
	if _, err := a.Find("cohort", ""); !errors.Is(err, job.ErrUnapproved) {
		t.Errorf("an empty home finds %v", err)
	}
	day := time.Date(2026, 11, 27, 23, 0, 0, 0, time.UTC)
	old, young := parsed(t, "[0, 120]"), parsed(t, "[0, 60]")
	for _, one := range []struct {
		d     *job.Dictionary
		table string
	}{{old, "patients"}, {young, "patients"}, {old, "others"}, {young, "patients"}} {
		if err := a.Approve(one.d, one.table, day); err != nil {
			t.Fatal(err)
		}
	}
	found := func(hash string) string {
		t.Helper()
		d, err := a.Find("cohort", hash)
		if err != nil {
			t.Fatal(err)
		}
		return d.Hash()
	}
	if found("") != young.Hash() || found(old.Hash()) != old.Hash() {
		t.Error("the name does not stand for the newest one, or the hash for its own")
	}
	if list, err := a.List(); err != nil || len(list) != 3 || list[2] != (Approval{"cohort", young.Hash(), "patients", "2026-11-27"}) {
		t.Errorf("%+v, %v", list, err)
	}
	approved := func(d *job.Dictionary, table string, want bool) {
		t.Helper()
		if yes, err := a.Approved(d.Hash(), table); err != nil || yes != want {
			t.Errorf("%s for %q: %v, %v, want %v", d.Hash()[:4], table, yes, err, want)
		}
	}
	approved(old, "patients", true)
	approved(young, "others", false)
	if revoked, err := a.Revoke(old.Hash()[:shownDigits]); err != nil || len(revoked) != 2 {
		t.Errorf("%+v, %v", revoked, err)
	}
	approved(old, "patients", false)
	approved(young, "patients", true)
	if found(old.Hash()) != old.Hash() {
		t.Error("kept models cannot read rows any more")
	}
	if revoked, err := a.Revoke("cohort"); err != nil || len(revoked) != 1 {
		t.Errorf("%+v, %v", revoked, err)
	}
	if _, err := a.Find("cohort", ""); !errors.Is(err, job.ErrUnapproved) {
		t.Errorf("a home that has revoked all finds %v", err)
	}
}

// A peer's hash names no other file; a list that cannot be read approves nothing.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	a := dictionaries(filepath.Join(dir, "dictionaries"))
	if err := a.Approve(parsed(t, "[0, 120]"), "patients", time.Now()); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(dir, strings.Repeat("f", 64)+".yaml")
	if err := os.WriteFile(outside, parsed(t, "[0, 60]").Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, hash := range []string{"../" + strings.Repeat("f", 64), "approved", "/" + strings.Repeat("f", 63), strings.Repeat("F", 64), strings.Repeat("f", 64)} {
		if _, err := a.Find("cohort", hash); !errors.Is(err, job.ErrUnapproved) {
			t.Errorf("%q: %v", hash, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "dictionaries", "approved"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if yes, err := a.Approved(parsed(t, "[0, 120]").Hash(), "patients"); yes || err == nil {
		t.Errorf("%v, %v", yes, err)
	}
	var damaged *DamagedError
	if _, err := a.Find("cohort", ""); !errors.As(err, &damaged) { // peers must not read the path
		t.Errorf("a name in a damaged list: %v", err)
	}
}
