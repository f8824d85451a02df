package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
)

// appending names the record to which this process, as the child of a test, adds lines until it is killed.
const appending = "MERCER_TEST_AUDIT"

func TestMain(m *testing.M) {
	if path := os.Getenv(appending); path != "" {
		appendForEver(path)
	}
	disktest.InMemory()
	os.Exit(m.Run())
}

// written makes a record of n events, and returns its path and its heads: the hash of each line.
func written(t *testing.T, n int) (path string, heads []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "audit")
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := l.Append(Event{Kind: Accepted, Job: fmt.Sprint("job ", i), Parties: []string{"north", "south"}}); err != nil {
			t.Fatal(err)
		}
		lines, head := l.state.lines, l.state.head
		if heads = append(heads, head); lines != i+1 {
			t.Fatalf("%d lines, want %d", lines, i+1)
		}
	}
	return path, heads
}

func TestARecordThatGrows(t *testing.T) {
	path, heads := written(t, 3)
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Append(Event{Kind: Closed, Job: "job 0", Outcome: "done"}); err != nil {
		t.Fatal(err)
	}
	var seen []Event
	var hashes []string
	s, err := Verify(path, func(e Event, hash string) error {
		seen, hashes = append(seen, e), append(hashes, hash)
		return nil
	})
	if err != nil || s.Lines != 4 || s.Torn != 0 || s.Head != hashes[3] {
		t.Fatalf("%+v, %v", s, err)
	}
	if seen[0].Previous != "" || seen[3].Previous != heads[2] || hashes[2] != heads[2] || seen[3].Kind != Closed || seen[1].Job != "job 1" || seen[3].Number != 4 {
		t.Errorf("%+v, hashes %v, heads %v", seen, hashes, heads)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if s, err := Verify(filepath.Join(t.TempDir(), "none"), nil); err != nil || s != (Summary{}) {
		t.Errorf("no record: %+v, %v", s, err)
	}
}

// A change of a line breaks the chain at this line or at the next one. A change of the last line is not found.
func TestAChangedLineIsFound(t *testing.T) {
	path, heads := written(t, 4)
	whole := disktest.Read(t, path)
	lines := bytes.SplitAfter(whole, []byte("\n"))[:4]
	last := len(whole) - len(lines[3])
	for at := range last {
		changed := bytes.Clone(whole)
		changed[at] ^= 1
		disktest.Write(t, path, changed)
		want := 1 + bytes.Count(whole[:at], []byte("\n"))
		var broken *BrokenError
		if _, err := Verify(path, nil); !errors.As(err, &broken) || broken.Line != want && broken.Line != want+1 {
			t.Fatalf("byte %d of line %d: %v", at, want, err)
		}
		if _, err := Open(path); !errors.As(err, &broken) {
			t.Fatalf("byte %d: a daemon opens it: %v", at, err)
		}
	}
	for name, changed := range map[string][][]byte{
		"a line less":   {lines[0], lines[2], lines[3]},
		"the first":     {lines[1], lines[2], lines[3]},
		"two exchanged": {lines[0], lines[2], lines[1], lines[3]},
		"a line twice":  {lines[0], lines[1], lines[1], lines[2], lines[3]},
		"a line more":   {lines[0], []byte("{}\n"), lines[1], lines[2], lines[3]},
		"a long line":   {lines[0], bytes.Repeat([]byte(" "), MaxLine+1), []byte("\n")},
	} {
		disktest.Write(t, path, bytes.Join(changed, nil))
		var broken *BrokenError
		if _, err := Verify(path, nil); !errors.As(err, &broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	disktest.Write(t, path, bytes.Join(lines[:3], nil)) // the end alone is not found out, except by a head
	if s, err := Verify(path, nil); err != nil || s.Head != heads[2] || s.Head == heads[3] {
		t.Errorf("%+v, %v", s, err)
	}
}

// A crash in the middle of a line leaves a part of it; the daemon's next line says so.
func TestAnUnfinishedLine(t *testing.T) {
	path, heads := written(t, 2)
	whole := disktest.Read(t, path)
	part := `{"number":3,"ti` + strings.Repeat("x", 2000) // longer than the line that replaces it
	disktest.Write(t, path, append(bytes.Clone(whole), part...))
	if s, err := Verify(path, nil); err != nil || s.Lines != 2 || s.Torn != len(part) || s.Head != heads[1] {
		t.Errorf("%+v, %v", s, err)
	}
	if got := disktest.Read(t, path); len(got) != len(whole)+len(part) {
		t.Error("to verify a record has changed it")
	}
	l, err := Open(path)
	if err != nil || l.Torn() != len(part) {
		t.Fatalf("%v, %d", err, l.Torn())
	}
	if err := l.Append(Event{Kind: Started}); err != nil {
		t.Fatal(err)
	}
	last := Event{}
	s, err := Verify(path, func(e Event, _ string) error { last = e; return nil })
	if err != nil || s.Lines != 3 || s.Torn != 0 || last.Torn != len(part) || last.Kind != Started || l.Torn() != 0 {
		t.Errorf("%+v, %v, %+v", s, err, last)
	}
}

// A record that is shorter than the daemon left it is refused.
func TestAShortenedRecord(t *testing.T) {
	path, _ := written(t, 2)
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	disktest.Write(t, path, bytes.SplitAfter(disktest.Read(t, path), []byte("\n"))[0])
	if err := l.Append(Event{Kind: Closed}); err == nil || !strings.Contains(err.Error(), "has become shorter") {
		t.Errorf("%v", err)
	}
}

func TestTooLongAnEvent(t *testing.T) {
	path, _ := written(t, 1)
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Append(Event{Kind: Refused, Outcome: strings.Repeat("x", MaxLine)}); err == nil {
		t.Error("it was written")
	}
	if s, err := Verify(path, nil); err != nil || s.Lines != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

func appendForEver(path string) {
	l, err := Open(path)
	for err == nil {
		if err = l.Append(Event{Kind: Accepted, Outcome: strings.Repeat("x", 9000)}); err == nil {
			head := l.state.head
			fmt.Println(head)
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

// A process that is killed at any moment leaves every acknowledged line, and perhaps a part of the next one.
func TestKilledWhileItWrites(t *testing.T) {
	path, _ := written(t, 1)
	for round := range 5 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), appending+"="+path)
		out, err := child.StdoutPipe()
		if err != nil || child.Start() != nil {
			t.Fatal(err)
		}
		last, lines := "", bufio.NewScanner(out)
		for range 3 + 7*round {
			if !lines.Scan() {
				break
			}
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for last = lines.Text(); lines.Scan(); {
			last = lines.Text()
		}
		_ = child.Wait() // it was killed
		found := false
		if _, err := Verify(path, func(_ Event, hash string) error { found = found || hash == last; return nil }); err != nil || !found {
			t.Fatalf("round %d: %v; the line of hash %q is there: %t", round, err, last, found)
		}
	}
}

// Two processes add lines to one chain.
func TestTwoWriters(t *testing.T) {
	path, _ := written(t, 0)
	var wait sync.WaitGroup
	for range 2 {
		l, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			for range 20 {
				if err := l.Append(Event{Kind: Approved}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if s, err := Verify(path, nil); err != nil || s.Lines != 40 {
		t.Errorf("%+v, %v", s, err)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte(`{"number":1,"previous":""}` + "\n"))
	f.Add([]byte(`{"number":1}` + "\n" + `{"number":2,"previous":"x"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "audit")
		disktest.Write(t, path, b)
		s, err := Verify(path, nil)
		if err == nil && s.Cut == 0 && s.Lines != bytes.Count(b, []byte("\n")) {
			t.Errorf("%d lines of %d", s.Lines, bytes.Count(b, []byte("\n")))
		}
	})
}
