package audit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
)

// marks returns the marks that a Follower reads, and stops with an error at the line stop.
func marks(t *testing.T, f *Follower, stop int) (list []Mark) {
	t.Helper()
	errStop := errors.New("stop")
	err := f.Read(func(m Mark, e Event) error {
		if m.Number == stop {
			return errStop
		}
		if e.Number != m.Number {
			t.Errorf("%+v is %+v", m, e)
		}
		list = append(list, m)
		return nil
	})
	if err != nil && !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	return list
}

// A Follower reads each line once, those of other processes too, and the same line again after an error.
func TestFollow(t *testing.T) {
	path, heads := written(t, 3)
	f, found, err := Follow(path, Mark{})
	if err != nil || !found {
		t.Fatalf("%t, %v", found, err)
	}
	if got := marks(t, f, 2); len(got) != 1 || got[0] != (Mark{1, heads[0]}) {
		t.Errorf("%v", got)
	}
	if got := marks(t, f, 0); len(got) != 2 || got[1] != (Mark{3, heads[2]}) {
		t.Errorf("%v", got)
	}
	whole := disktest.Read(t, path)
	disktest.Write(t, path, append(whole, `{"number":4,`...)) // a crash, or the middle of a line
	if got := marks(t, f, 0); got != nil {
		t.Errorf("%v", got)
	}
	l, err := Open(path)
	if err == nil {
		err = l.Append(Event{Kind: Closed})
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := marks(t, f, 0); len(got) != 1 || got[0].Number != 4 {
		t.Errorf("%v", got)
	}
	disktest.Write(t, path, whole[:10])
	if err := f.Read(func(Mark, Event) error { return nil }); err == nil || !strings.Contains(err.Error(), "has become shorter") {
		t.Errorf("%v", err)
	}
	disktest.Write(t, path, append([]byte("{}\n"), whole...))
	var broken *BrokenError
	if f, _, _ := Follow(path, Mark{}); !errors.As(f.Read(func(Mark, Event) error { return nil }), &broken) {
		t.Error("a broken record was read")
	}
}

// A Follower continues after the given line, and begins anew with another record.
func TestFollowAfter(t *testing.T) {
	path, heads := written(t, 3)
	for after := range 4 {
		m := Mark{}
		if after > 0 {
			m = Mark{after, heads[after-1]}
		}
		f, found, err := Follow(path, m)
		if got := marks(t, f, 0); err != nil || !found || len(got) != 3-after || len(got) > 0 && got[0].Number != after+1 {
			t.Errorf("after %d: %v, %t, %v", after, got, found, err)
		}
	}
	for _, m := range []Mark{{2, heads[0]}, {4, heads[2]}, {-1, ""}} {
		f, found, err := Follow(path, m)
		if got := marks(t, f, 0); err != nil || found || len(got) != 3 {
			t.Errorf("after %+v: %v, %t, %v", m, got, found, err)
		}
	}
	if f, found, err := Follow(filepath.Join(t.TempDir(), "none"), Mark{1, heads[0]}); err != nil || found || marks(t, f, 0) != nil {
		t.Errorf("no record: %t, %v", found, err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
