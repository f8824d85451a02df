package consent

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/node/access"
)

func TestMain(m *testing.M) {
	disktest.InMemory()
	os.Exit(m.Run())
}

// A decision holds for its job with its file alone, for 30 days at most, until it is used. A damaged one is an error.
func TestDecisions(t *testing.T) {
	d := Decisions(filepath.Join(t.TempDir(), "consents"))
	const id, spec, other = "89ab", "0123", "4567"
	if _, ok, err := d.Find(id, spec); ok || err != nil {
		t.Errorf("none: %t, %v", ok, err)
	}
	now := time.Now()
	for _, c := range []struct {
		age  time.Duration
		find string
		ok   bool
	}{{0, spec, true}, {0, other, false}, {29 * 24 * time.Hour, spec, true}, {31 * 24 * time.Hour, spec, false}} {
		if err := d.Put(Decision{Spec: spec, Job: id, Reason: "why", By: access.Person{Member: "north"}, Time: now.Add(-c.age)}); err != nil {
			t.Fatal(err)
		}
		if one, ok, err := d.Find(id, c.find); ok != c.ok || err != nil || ok && (one.Reason != "why" || one.By.Member != "north" || one.Approved) {
			t.Errorf("%v old, %s: %+v, %t, %v", c.age, c.find, one, ok, err)
		}
	}
	for range 2 {
		if err := d.Remove(id); err != nil {
			t.Error(err)
		}
	}
	if _, ok, err := d.Find(id, spec); ok || err != nil {
		t.Errorf("removed: %t, %v", ok, err)
	}
	if err := os.WriteFile(d.path(id), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := d.Find(id, spec); ok || err == nil {
		t.Error("a damaged decision counts")
	}
}
