package journal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/protocol"
)

// small is a story that is short enough to be damaged at every byte.
func small() []Record {
	return []Record{
		{Event: protocol.Start{InputHash: [32]byte{9}}, Claims: []string{"epoch"}},
		{Event: protocol.Received{Message: message([]byte("body"))}, Sent: [][32]byte{{1}, {2}}},
		{Delivered: 2},
		{Event: protocol.Expired{Timer: "rows"}},
		{Ended: "done"},
	}
}

// recorded creates a session with records, of which the first synced have been
// on disk, and returns the log's bytes and where its records begin.
func recorded(t testing.TB, s *Store, records []Record, synced int) (log []byte, start int64) {
	t.Helper()
	j := create(t, s, idOf(1))
	appendAll(t, j, records[:synced]...)
	must(t, j.Sync())
	appendAll(t, j, records[synced:]...)
	start = j.start
	must(t, j.Close())
	log, err := os.ReadFile(logPath(s.dir(idOf(1))))
	must(t, err)
	return log, start
}

// damagedOpen opens the session over another log, with the mark as it was.
func damagedOpen(t testing.TB, s *Store, log []byte, mark state) ([]Record, Note, error) {
	t.Helper()
	must(t, os.WriteFile(logPath(s.dir(idOf(1))), log, 0o600))
	must(t, os.WriteFile(s.markPath(idOf(1)), []byte(mark.String()), 0o600))
	j, note, err := s.Open(idOf(1), build)
	if err != nil {
		return nil, note, err
	}
	defer func() { must(t, j.Close()) }()
	got, err := contents(j)
	must(t, err)
	// The journal goes on from there.
	must(t, j.Append(Record{Event: protocol.Resumed{}}))
	must(t, j.Sync())
	if more, err := contents(j); err != nil || len(more) != len(got)+1 {
		t.Fatalf("%d records after one more on %d, %v", len(more), len(got), err)
	}
	return got, note, nil
}

// ends returns where each record ends.
func ends(log []byte, start int64) []int64 {
	var list []int64
	for at := start; at < int64(len(log)); {
		at += frameHead + int64(binary.LittleEndian.Uint32(log[at:]))
		list = append(list, at)
	}
	return list
}

// whole returns how many records lie in the first n bytes.
func whole(ends []int64, n int) int {
	k := 0
	for k < len(ends) && ends[k] <= int64(n) {
		k++
	}
	return k
}

func TestTruncatedAtEveryByte(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, synced := range []int{0, 3} {
		s := openStore(t, memoryDir(t))
		log, start := recorded(t, s, small(), synced)
		stops := ends(log, start)
		for n := int(start); n <= len(log); n++ {
			got, note, err := damagedOpen(t, s, log[:n], state{records: uint64(synced)})
			want := whole(stops, n)
			if want < synced {
				if !errors.Is(err, ErrLost) {
					t.Fatalf("%d bytes, %d of %d synced records: %v, want ErrLost", n, want, synced, err)
				}
				continue
			}
			if diff := diffRecords(small()[:want], got); err != nil || diff != "" {
				t.Fatalf("%d bytes: %v\n%s", n, err, diff)
			}
			edge := start
			if want > 0 {
				edge = stops[want-1]
			}
			if torn := int64(n) - edge; note.TornBytes != torn || note.Records != want {
				t.Fatalf("%d bytes: note %+v, want %d records and %d torn bytes", n, note, want, torn)
			}
		}
	}
}

// After a power cut some file systems leave zeros in the place of what was
// not flushed.
func TestZeroedFromEveryByte(t *testing.T) {
	const synced = 2
	s := openStore(t, memoryDir(t))
	log, start := recorded(t, s, small(), synced)
	stops := ends(log, start)
	for n := int(stops[synced-1]); n < len(log); n++ {
		cut := append(bytes.Clone(log[:n]), make([]byte, len(log)-n+4096)...)
		got, _, err := damagedOpen(t, s, cut, state{records: synced})
		changed := n // zeros that were zeros change nothing
		for changed < len(log) && log[changed] == 0 {
			changed++
		}
		// Up to its last 16 bytes a frame cannot be told from damage.
		want := whole(stops, changed)
		inTag := want < len(stops) && int64(changed) > stops[want]-16
		if inTag && err != nil {
			if !errors.Is(err, ErrLost) {
				t.Fatalf("zeros from byte %d: %v", n, err)
			}
			continue
		}
		if diff := diffRecords(small()[:want], got); err != nil || diff != "" {
			t.Fatalf("zeros from byte %d: %v\n%s", n, err, diff)
		}
	}
}

// Any other damage is an error that names the file and the byte where the
// damaged record begins.
func TestEveryChangedByteIsFound(t *testing.T) {
	s := openStore(t, memoryDir(t))
	log, start := recorded(t, s, small(), 0)
	stops := ends(log, start)
	for i := range log {
		bad := bytes.Clone(log)
		bad[i] ^= 0x41
		_, _, err := damagedOpen(t, s, bad, state{})
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || !errors.Is(err, ErrLost) || !strings.HasSuffix(corrupt.File, "log") {
			t.Fatalf("byte %d: %v, want a *CorruptError", i, err)
		}
		want := int64(0)
		if int64(i) >= start {
			want = start
			if k := whole(stops, i); k > 0 {
				want = stops[k-1]
			}
		}
		if corrupt.Offset != want {
			t.Fatalf("byte %d: the error names byte %d, the record begins at %d", i, corrupt.Offset, want)
		}
	}
}

// Whole records that are left out, doubled or exchanged do not open.
func TestMovedRecordsAreFound(t *testing.T) {
	s := openStore(t, memoryDir(t))
	log, start := recorded(t, s, small(), 0)
	stops := append([]int64{start}, ends(log, start)...)
	part := func(k int) []byte { return log[stops[k]:stops[k+1]] }
	join := func(order ...int) []byte {
		b := bytes.Clone(log[:start])
		for _, k := range order {
			b = append(b, part(k)...)
		}
		return b
	}
	for _, order := range [][]int{{1, 2, 3, 4}, {0, 2, 3, 4}, {0, 1, 1, 2}, {0, 2, 1, 3, 4}, {0, 1, 2, 3, 4, 4}} {
		if _, _, err := damagedOpen(t, s, join(order...), state{}); !errors.Is(err, ErrLost) {
			t.Errorf("order %v: %v, want ErrLost", order, err)
		}
	}
}

func TestDamagedSideFiles(t *testing.T) {
	records := []Record{
		{Event: protocol.Start{}},
		{Event: protocol.Received{Message: message(pattern(1, inlineBytes+1))}},
		{Event: protocol.Received{Message: message(pattern(2, inlineBytes+2))}},
		{Event: protocol.Resumed{}},
	}
	for _, c := range []struct {
		name string
		harm func(path string) error
	}{
		{"gone", os.Remove},
		{"cut", func(path string) error { return os.Truncate(path, 100) }},
		{"empty", func(path string) error { return os.Truncate(path, 0) }},
		{"changed", func(path string) error {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b[len(b)/2]++
			return os.WriteFile(path, b, 0o600)
		}},
	} {
		for _, synced := range []int{0, 1, 2, 3, 4} {
			t.Run(fmt.Sprintf("%s/%d synced", c.name, synced), func(t *testing.T) {
				s := openStore(t, memoryDir(t))
				recorded(t, s, records, synced)
				b := bodies{dir: bodyPath(s.dir(idOf(1)))}
				must(t, c.harm(b.path(2)))
				j, note, err := s.Open(idOf(1), build)
				if err == nil {
					defer func() { must(t, j.Close()) }()
					var got []Record
					got, err = contents(j)
					if synced <= 2 { // the body was never flushed: a torn end
						if diff := diffRecords(records[:2], got); err != nil || diff != "" || note.TornBytes == 0 {
							t.Fatalf("%v, note %+v\n%s", err, note, diff)
						}
						return
					}
				}
				var corrupt *CorruptError
				if synced <= 2 || !errors.As(err, &corrupt) || corrupt.File != b.path(2) {
					t.Fatalf("got %v, want an error that names %s", err, b.path(2))
				}
			})
		}
	}
}

// A side file whose record was torn off must not stand in the way of the next
// record of that number.
func TestOrphanedBodyIsRemoved(t *testing.T) {
	s := openStore(t, memoryDir(t))
	records := []Record{{Event: protocol.Start{}}, {Event: protocol.Received{Message: message(pattern(1, inlineBytes+1))}}}
	log, _ := recorded(t, s, records, 0)
	must(t, os.WriteFile(logPath(s.dir(idOf(1))), log[:len(log)-1], 0o600))
	j, note := reopen(t, s, idOf(1))
	if note.Records != 1 || note.LostBodies != 1 || note.TornBytes == 0 {
		t.Errorf("note %+v, want one record, one lost body", note)
	}
	other := Record{Event: protocol.Received{Message: message(pattern(2, inlineBytes+9))}}
	appendAll(t, j, other)
	if got, err := contents(j); err != nil || diffRecords([]Record{records[0], other}, got) != "" {
		t.Errorf("%d records, %v", len(got), err)
	}
}

func TestManyBodiesBetweenSyncs(t *testing.T) {
	s := openStore(t, memoryDir(t))
	j := create(t, s, idOf(1))
	for i := range 2*maxPending + 3 {
		appendAll(t, j, Record{Event: protocol.Received{Message: message(pattern(byte(i), inlineBytes+i+1))}})
		if len(j.bodies.pending) > maxPending {
			t.Fatalf("%d files are open", len(j.bodies.pending))
		}
	}
	must(t, j.Close())
	j, note := reopen(t, s, idOf(1))
	if got, err := contents(j); err != nil || len(got) != 2*maxPending+3 || note.TornBytes != 0 {
		t.Errorf("%d records, note %+v, %v", len(got), note, err)
	}
}

const childRoot = "JOURNAL_TEST_CHILD_ROOT"

func TestMain(m *testing.M) {
	if root := os.Getenv(childRoot); root != "" {
		child(root)
		return
	}
	disktest.InMemory()
	os.Exit(m.Run())
}

// numbered is the n-th record that the child writes.
func numbered(n int) Record {
	size := 40
	if n%7 == 3 {
		size = inlineBytes + n%100 + 1
	}
	return Record{Event: protocol.Received{Message: message(pattern(byte(n), size))}, Sent: [][32]byte{{byte(n), byte(n >> 8)}}}
}

// child appends records without end and says how many are on disk, until it is
// killed.
func child(root string) {
	die := func(err error) {
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
	s, err := OpenStore(root)
	die(err)
	j, _, err := s.Open(idOf(1), build)
	if errors.Is(err, ErrUnknown) {
		j, err = s.Create(idOf(1), seedOf(1), build)
	}
	die(err)
	for {
		for range 1 + j.Len()%5 {
			die(j.Append(numbered(j.Len())))
		}
		die(j.Sync())
		fmt.Println(j.Len())
	}
}

func TestKilledProcess(t *testing.T) {
	root := t.TempDir()
	for round := range 3 {
		promised := runAndKill(t, root, 5+3*round)
		s, err := OpenStore(root)
		must(t, err)
		j, note, err := s.Open(idOf(1), build)
		must(t, err)
		got, err := contents(j)
		must(t, err)
		if len(got) < promised {
			t.Fatalf("round %d: %d records survived of the %d that Sync had promised", round, len(got), promised)
		}
		for i, r := range got {
			if diff := diffRecords([]Record{numbered(i)}, []Record{r}); diff != "" {
				t.Fatalf("round %d: record %d:\n%s", round, i, diff)
			}
		}
		t.Logf("round %d: promised %d, note %+v", round, promised, note)
		must(t, j.Close())
		must(t, s.Close())
	}
}

// runAndKill starts the child, kills it once it has made some promises, and
// returns the last.
func runAndKill(t *testing.T, root string, promises int) (last int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRoot+"="+root)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		if _, err := fmt.Sscan(lines.Text(), &last); err != nil {
			t.Fatalf("the child says %q", lines.Text())
		}
		if n == promises {
			must(t, cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the child was not killed: %v", err)
	}
	return last
}
