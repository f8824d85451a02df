package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func openLog(t *testing.T, path string) (*Log, []string) {
	t.Helper()
	var records []string
	l, err := OpenLog(path, func(r []byte) error {
		records = append(records, string(r))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return l, records
}

// A crash may cut the file anywhere, with or without zeros after it: the records that are
// read are the first ones written, and the log can be extended. A flipped bit before the
// last record is an error.
func TestLogSurvivesTornEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	path := filepath.Join(t.TempDir(), "log")
	l, _ := openLog(t, path)
	want := []string{"one", strings.Repeat("three ", 8), ""}
	var ends []int // of each record in the file
	for _, r := range want {
		if err := l.Append([]byte(r)); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, int(info.Size()))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) + 1 {
		kept, found := slices.BinarySearch(ends, n)
		if found {
			kept++
		}
		if got := goesOn(t, path, whole[:n], want); got != kept {
			t.Fatalf("%d of %d bytes: read %d records, want %d", n, len(whole), got, kept)
		}
		goesOn(t, path, append(slices.Clone(whole[:n]), make([]byte, 40)...), want)
	}
	for n := range ends[len(ends)-2] {
		flipped := slices.Clone(whole)
		flipped[n] ^= 64
		if err := os.WriteFile(path, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenLog(path, func([]byte) error { return nil }); !errors.Is(err, ErrDamaged) {
			t.Fatalf("byte %d flipped: %v", n, err)
		}
	}
}

// goesOn checks that a file is read as a prefix of want, and can be extended. It returns
// the number of records that were read.
func goesOn(t *testing.T, path string, content []byte, want []string) int {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	l, got := openLog(t, path)
	if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
		t.Fatalf("%x: read %q", content, got)
	}
	if err := errors.Join(l.Append([]byte("+")), l.Close()); err != nil {
		t.Fatal(err)
	}
	l, again := openLog(t, path)
	if !slices.Equal(again, append(slices.Clone(got), "+")) {
		t.Fatalf("%x: then read %q", content, again)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return len(got)
}

func TestLogRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, _ := openLog(t, path)
	if err := l.Append(make([]byte, MaxLogRecord+1)); err == nil {
		t.Error("a record that is too large was taken")
	}
	if err := l.Append([]byte("x")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if _, err := OpenLog(path, func([]byte) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if err := l.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := l.Append([]byte("x")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a closed log took a record: %v", err)
	}
	if err := l.Remove(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed again: %v", err)
	}
}
