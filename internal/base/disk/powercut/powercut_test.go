//go:build linux

package powercut_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/disk/powercut"
)

// What is flushed remains, and nothing else does.
func TestCut(t *testing.T) {
	for _, tt := range []struct {
		name      string
		do        func(t *testing.T, path string)
		remains   [3]string // content of the file after a loss of everything, of content, and of names
		forgotten string    // for each loss, y if the file has no name after it, else n
	}{
		{"flushed", func(t *testing.T, path string) { check(t, disk.Create(path, []byte("new"))) }, [3]string{"new", "new", "new"}, "nnn"},
		{"not flushed", func(t *testing.T, path string) { check(t, os.WriteFile(path, []byte("new"), 0o600)) }, [3]string{}, "yny"},
		{"name flushed", func(t *testing.T, path string) {
			check(t, os.WriteFile(path, []byte("new"), 0o600))
			check(t, disk.SyncDir(filepath.Dir(path)))
		}, [3]string{"", "", "new"}, "nnn"},
		{"bytes flushed", func(t *testing.T, path string) { check(t, disk.Write(path, []byte("new"))) }, [3]string{"", "new", ""}, "yny"},
		{"replaced", func(t *testing.T, path string) {
			check(t, disk.Create(path, []byte("old")))
			check(t, disk.Replace(path, []byte("new")))
		}, [3]string{"new", "new", "new"}, "nnn"},
		{"renamed only", func(t *testing.T, path string) {
			check(t, disk.Create(path, []byte("old")))
			check(t, os.WriteFile(path+".new", []byte("new"), 0o600))
			check(t, os.Rename(path+".new", path))
		}, [3]string{"old", "", "old"}, "nnn"},
		{"removed only", func(t *testing.T, path string) {
			check(t, disk.Create(path, []byte("old")))
			check(t, os.Remove(path))
		}, [3]string{"old", "", "old"}, "nyn"},
		{"appended only", func(t *testing.T, path string) {
			check(t, disk.Create(path, []byte("old")))
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			check(t, err)
			_, err = f.WriteString(" new")
			check(t, err)
			check(t, f.Close())
		}, [3]string{"old", "old", "old new"}, "nnn"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, dir := powercut.MountTest(t)
			sub := filepath.Join(dir, "a")
			check(t, disk.MakeDir(sub))
			tt.do(t, filepath.Join(sub, "f"))
			for i, l := range powercut.Losses() {
				after := t.TempDir()
				check(t, d.Cut(l).Write(after))
				b, err := os.ReadFile(filepath.Join(after, "a", "f"))
				if lost := os.IsNotExist(err); lost != (tt.forgotten[i] == 'y') || string(b) != tt.remains[i] {
					t.Errorf("loss of %v: %q, %v; want %q", l, b, err, tt.remains[i])
				}
			}
		})
	}
}

// The disk is an ordinary one for a log that is opened again, and for a lock.
func TestDisk(t *testing.T) {
	_, dir := powercut.MountTest(t)
	path := filepath.Join(dir, "log")
	for n := range 3 {
		var got []string
		l, err := disk.OpenLog(path, func(b []byte) error { got = append(got, string(b)); return nil })
		check(t, err)
		if len(got) != n {
			t.Errorf("the log has %q after %d records", got, n)
		}
		check(t, l.Append([]byte("record")))
		check(t, l.Close())
	}
	lock, err := disk.Lock(filepath.Join(dir, "lock"))
	check(t, err)
	if second, err := disk.Lock(filepath.Join(dir, "lock")); err == nil {
		t.Error("two locks of one file")
		check(t, second.Close())
	}
	check(t, lock.Close())
	if free, err := disk.Free(dir); err != nil || free == 0 {
		t.Errorf("%d bytes are free, %v", free, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
	check(t, os.RemoveAll(filepath.Join(dir, "lock")))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
