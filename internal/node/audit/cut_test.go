package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
)

// Cut removes the oldest lines and adds a line about it. The chain of the other lines and every later head stay valid.
func TestCut(t *testing.T) {
	path, heads := written(t, 4)
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var times []time.Time
	if _, err := Verify(path, func(e Event, _ string) error { times = append(times, e.Time); return nil }); err != nil {
		t.Fatal(err)
	}
	if n, err := l.Cut(times[0]); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := l.Cut(times[2]); n != 2 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	check := func(cut, lines int, seen ...string) {
		t.Helper()
		var got []string
		s, err := Verify(path, func(e Event, hash string) error {
			got = append(got, fmt.Sprint(e.Number, " ", e.Kind))
			if e.Number <= 4 && hash != heads[e.Number-1] {
				t.Errorf("line %d has another hash", e.Number)
			}
			return nil
		})
		if err != nil || s.Cut != cut || s.Lines != lines || strings.Join(got, ",") != strings.Join(seen, ",") {
			t.Errorf("%+v, %v, %v", s, got, err)
		}
	}
	check(2, 5, "3 accepted", "4 accepted", "5 erased")
	for _, log := range []*Log{l, mustOpen(t, path)} {
		if err := log.Append(Event{Kind: Started}); err != nil {
			t.Fatal(err)
		}
	}
	check(2, 7, "3 accepted", "4 accepted", "5 erased", "6 started", "7 started")
	if n, err := l.Cut(time.Now().Add(time.Hour)); n != 4 || err != nil { // all but the last line
		t.Errorf("%d, %v", n, err)
	}
	check(6, 8, "7 started", "8 erased")
	if n, err := l.Cut(time.Now().Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	f, found, err := Follow(path, Mark{2, heads[1]})
	if err != nil || found || len(marks(t, f, 0)) != 2 {
		t.Errorf("%t, %v", found, err)
	}
}

func mustOpen(t *testing.T, path string) *Log {
	t.Helper()
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A process that has opened the record before it was cut adds its lines to the new file.
func TestTwoWritersAndACut(t *testing.T) {
	path, _ := written(t, 3)
	one, two := mustOpen(t, path), mustOpen(t, path)
	if n, err := one.Cut(time.Now().Add(time.Hour)); n != 2 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if err := two.Append(Event{Kind: Closed}); err != nil {
		t.Fatal(err)
	}
	if s, err := Verify(path, nil); err != nil || s.Lines != 5 || s.Cut != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	whole := disktest.Read(t, path)
	disktest.Write(t, path+"-new", bytes.SplitAfter(whole, []byte("\n"))[0])
	if err := os.Rename(path+"-new", path); err != nil {
		t.Fatal(err)
	}
	for _, log := range []*Log{one, two, one, two} {
		if err := log.Append(Event{Kind: Closed}); err == nil || !strings.Contains(err.Error(), "is another record than before") {
			t.Errorf("another record: %v", err)
		}
	}
}

// A forged line about a cut hides no change of the chain: only the first line may be one, and the next must follow from it.
func TestAForgedCut(t *testing.T) {
	path, heads := written(t, 4)
	lines := bytes.SplitAfter(disktest.Read(t, path), []byte("\n"))[:4]
	cut := func(number int, hash string) []byte {
		return fmt.Appendf(nil, `{"number":%d,"previous":%q,"event":"cut"}`+"\n", number, hash)
	}
	for name, changed := range map[string][][]byte{
		"another hash":   {cut(2, heads[0]), lines[2], lines[3]},
		"another number": {cut(1, heads[1]), lines[2], lines[3]},
		"no hash":        {cut(2, ""), lines[2], lines[3]},
		"no number":      {cut(0, heads[1]), lines[2], lines[3]},
		"in the middle":  {lines[0], cut(2, heads[1]), lines[2]},
		"twice":          {cut(1, heads[0]), cut(2, heads[1]), lines[2]},
	} {
		disktest.Write(t, path, bytes.Join(changed, nil))
		var broken *BrokenError
		if _, err := Verify(path, nil); !errors.As(err, &broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A writer waits for the lock of a record while the record is replaced. It adds its line to the new file.
func TestALockOfAReplacedRecord(t *testing.T) {
	for range 20 {
		path, _ := written(t, 1)
		l := mustOpen(t, path)
		held, err := disk.WaitLock(path)
		if err != nil {
			t.Fatal(err)
		}
		begun, ended := make(chan bool), make(chan error)
		go func() {
			close(begun)
			ended <- l.Append(Event{Kind: Closed})
		}()
		<-begun
		for range 100 {
			runtime.Gosched() // the other goroutine comes to the lock, at least in most rounds
		}
		disktest.Write(t, path+"-new", disktest.Read(t, path))
		if err := errors.Join(os.Rename(path+"-new", path), held.Close()); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if s, err := Verify(path, nil); err != nil || s.Lines != 2 {
			t.Fatalf("%+v, %v", s, err)
		}
	}
}
