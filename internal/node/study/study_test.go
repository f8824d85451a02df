package study

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/job"
)

func TestMain(m *testing.M) {
	disktest.InMemory()
	os.Exit(m.Run())
}

// A study admits its jobs, each once, and no job more, no number more and none after its last day.
func TestLimits(t *testing.T) {
	of := &job.Study{Name: "kidney", Jobs: 2, Numbers: 100, Until: "2026-11-30"}
	last, after := time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	s := In(filepath.Join(t.TempDir(), "studies"), &job.Reader{})
	for i, c := range []struct {
		id      string
		numbers int64
		now     time.Time
		key     string // of the refusal; "" for an admitted job
	}{
		{"a", 60, after, "until"},
		{"a", 101, last, "numbers"},
		{"a", 60, last, ""},
		{"a", 70, after, ""}, // continues, with the number that it has now
		{"a", 10, after, ""}, // a number once counted remains
		{"b", 31, last, "numbers"},
		{"b", 30, last, ""},
		{"c", 0, last, "jobs"},
		{"b", 31, after, "numbers"},
	} {
		var limit *LimitError
		err := s.Check(of, c.id, c.numbers, c.now)
		if key := keyOf(err, &limit); key != c.key {
			t.Errorf("%d: check gives %q (%v), want %q", i, key, err, c.key)
		}
		err = s.Enter(of, c.id, c.numbers, c.now)
		if key := keyOf(err, &limit); key != c.key {
			t.Errorf("%d: enter gives %q (%v), want %q", i, key, err, c.key)
		}
	}
	u, err := s.Used(of.Hash())
	if err != nil || len(u.Jobs) != 2 || u.Numbers() != 100 {
		t.Errorf("%+v, %v", u, err)
	}
	other := *of
	other.Jobs = 3
	if u, err := s.Used(other.Hash()); err != nil || len(u.Jobs) != 0 {
		t.Errorf("another study has used %+v, %v", u, err)
	}
}

func keyOf(err error, limit **LimitError) string {
	switch {
	case err == nil:
		return ""
	case errors.As(err, limit):
		return (*limit).Key
	}
	return "another error"
}

// A file that cannot be read admits nothing.
func TestDamagedUse(t *testing.T) {
	of := &job.Study{Name: "kidney", Jobs: 2, Until: "2026-11-30"}
	s := In(t.TempDir(), &job.Reader{})
	if err := os.WriteFile(s.path(of.Hash()), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.Check(of, "a", 0, time.Time{}) == nil || s.Enter(of, "a", 0, time.Time{}) == nil {
		t.Error("a damaged record admits a job")
	}
}
