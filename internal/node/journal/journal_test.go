package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/protocol"
	"pgregory.net/rapid"
)

const build = "mercer v0 linux/amd64 avx2"

func idOf(b byte) protocol.SessionID { return protocol.SessionID{b, 1, 2, 3} }

func seedOf(b byte) (seed [SeedSize]byte) {
	for i := range seed {
		seed[i] = b ^ byte(37*i+11)
	}
	return seed
}

func openStore(t testing.TB, root string) *Store {
	t.Helper()
	s, err := OpenStore(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// memoryDir is a temporary folder in memory where there is one: the tests that
// call Sync hundreds of times check the logic, not the disk.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "journal-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	return dir
}

func create(t testing.TB, s *Store, id protocol.SessionID) *Journal {
	t.Helper()
	j, err := s.Create(id, seedOf(id[0]), build)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func reopen(t testing.TB, s *Store, id protocol.SessionID) (*Journal, Note) {
	t.Helper()
	j, note, err := s.Open(id, build)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j, note
}

func appendAll(t testing.TB, j *Journal, records ...Record) {
	t.Helper()
	for _, r := range records {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// contents reads all records.
func contents(j *Journal) ([]Record, error) {
	var list []Record
	for r, err := range j.Records() {
		if err != nil {
			return list, err
		}
		list = append(list, r)
	}
	return list, nil
}

func message(body []byte) protocol.Message {
	return protocol.Message{Header: protocol.Header{Session: idOf(1), Protocol: "okra", Round: 2, Kind: "Rows",
		Sender: "north", Receiver: "hub", Sequence: 3, Chunk: 1, Chunks: 9}, Body: body}
}

// pattern is n bytes that differ everywhere.
func pattern(tag byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = tag ^ byte(i) ^ byte(i>>8)*31 ^ byte(i>>16)*7
	}
	return b
}

// story is a session in which everything occurs.
func story() []Record {
	return []Record{
		{Event: protocol.Start{InputHash: [32]byte{9, 8, 7}}, Claims: []string{"okra/epoch/1", "naïve \x00\xff"}},
		{Event: protocol.Received{Message: message([]byte("a small body"))}, Sent: [][32]byte{{1}, {2}}},
		{Delivered: 2},
		{Event: protocol.Received{Message: message(pattern(1, inlineBytes))}},
		{Event: protocol.Received{Message: message(pattern(2, inlineBytes+1))}, Sent: [][32]byte{{3}}},
		{Event: protocol.Expired{Timer: "rows"}},
		{Event: protocol.Resumed{}, Sent: [][32]byte{{4}}},
		{Event: protocol.Received{Message: message(nil)}},
		{Event: protocol.Received{Message: message(pattern(3, protocol.MaxChunkBytes))}},
		{Delivered: 1 << 30},
		{Ended: "done"},
	}
}

// diffRecords compares bodies and digests whole; cmp by itself takes seconds
// for them.
func diffRecords(want, got []Record) string {
	if len(want) == 0 && len(got) == 0 {
		return ""
	}
	return cmp.Diff(want, got, cmp.Comparer(bytes.Equal), cmp.Comparer(func(a, b [32]byte) bool { return a == b }))
}

func TestAppendReopenReplay(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := create(t, s, idOf(1))
	appendAll(t, j, story()...)
	check := func(j *Journal) {
		t.Helper()
		got, err := contents(j)
		if diff := diffRecords(story(), got); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
	}
	check(j)
	must(t, j.Sync())
	must(t, j.Close())
	again, note := reopen(t, s, idOf(1))
	if want := (Note{Records: len(story())}); note != want {
		t.Errorf("note %+v, want %+v", note, want)
	}
	check(again)
	if again.Size() != j.Size() || again.Len() != len(story()) {
		t.Errorf("%d bytes and %d records, before %d and %d", again.Size(), again.Len(), j.Size(), len(story()))
	}
	if seed, err := again.Seed(); err != nil || seed != seedOf(1) {
		t.Errorf("seed %x, %v", seed, err)
	}
	if h := again.Header(); h.Session != idOf(1) || h.Build != build || h.Created.IsZero() {
		t.Errorf("header %+v", h)
	}
}

// A model of the journal is a slice; what both are asked to do is drawn.
func TestJournalIsASlice(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	root := memoryDir(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		s, err := OpenStore(filepath.Join(root, fmt.Sprint(n)))
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		j, err := s.Create(idOf(1), seedOf(1), build)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = j.Close() }()
		var model []Record
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) {
				r := drawRecord(rt)
				if err := j.Append(r); err != nil {
					rt.Fatal(err)
				}
				model = append(model, r)
			},
			"sync": func(rt *rapid.T) {
				if err := j.Sync(); err != nil {
					rt.Fatal(err)
				}
			},
			"crash": func(rt *rapid.T) {
				if err := j.Close(); err != nil {
					rt.Fatal(err)
				}
				if j, _, err = s.Open(idOf(1), build); err != nil {
					rt.Fatal(err)
				}
			},
			"": func(rt *rapid.T) {
				got, err := contents(j)
				if diff := diffRecords(model, got); err != nil || diff != "" {
					rt.Fatalf("%v\n%s", err, diff)
				}
			},
		})
	})
}

func drawRecord(t *rapid.T) Record {
	size := rapid.SampledFrom([]int{0, 1, 100, inlineBytes, inlineBytes + 1}).Draw(t, "size")
	r := rapid.SampledFrom([]Record{
		{Event: protocol.Start{InputHash: [32]byte{1}}}, {Event: protocol.Resumed{}}, {Delivered: 3}, {Ended: "stopped"},
		{Event: protocol.Expired{Timer: "t"}}, {Event: protocol.Received{Message: message(pattern(byte(size), size))}},
	}).Draw(t, "record")
	if r.Event != nil {
		for range rapid.IntRange(0, 5).Draw(t, "sent") {
			r.Sent = append(r.Sent, [32]byte{byte(len(r.Sent))})
		}
		for range rapid.IntRange(0, 3).Draw(t, "claims") {
			r.Claims = append(r.Claims, rapid.StringN(1, 20, MaxClaimBytes).Draw(t, "claim"))
		}
	}
	return r
}

func TestAppendRefuses(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := create(t, s, idOf(1))
	long := message(nil)
	long.Kind = strings.Repeat("k", 65)
	noChunks := message(nil)
	noChunks.Chunk, noChunks.Chunks = 0, 0
	received := func(m protocol.Message) Record { return Record{Event: protocol.Received{Message: m}} }
	for _, c := range []struct {
		name string
		r    Record
		want string
	}{
		{"nothing", Record{}, "the record must have an event, a count of deliveries or an outcome"},
		{"event and marker", Record{Event: protocol.Resumed{}, Delivered: 1}, "the record must have an event, a count of deliveries or an outcome"},
		{"two markers", Record{Delivered: 1, Ended: "x"}, "the record must have an event, a count of deliveries or an outcome"},
		{"count beyond all bounds", Record{Delivered: math.MaxInt32 + 1}, "the record must have an event, a count of deliveries or an outcome"},
		{"negative count", Record{Delivered: -1}, "the record must have an event, a count of deliveries or an outcome"},
		{"marker that sends", Record{Delivered: 1, Sent: [][32]byte{{}}}, "but no event"},
		{"body too large", received(message(make([]byte, protocol.MaxChunkBytes+1))), "the body has 524289 bytes"},
		{"header with a long name", received(long), "a name in a header has 65 bytes"},
		{"header without chunks", received(noChunks), "chunk index 0, but the message has only 0 chunks"},
		{"long timer", Record{Event: protocol.Expired{Timer: protocol.Timer(strings.Repeat("t", 257))}}, "the timer's name has 257 bytes"},
		{"long claim", Record{Event: protocol.Resumed{}, Claims: []string{strings.Repeat("c", 257)}}, "a claimed name has 257 bytes"},
		{"empty claim", Record{Event: protocol.Resumed{}, Claims: []string{""}}, "a claimed name has 0 bytes"},
		{"many claims", Record{Event: protocol.Resumed{}, Claims: make([]string, MaxClaims+1)}, "4097 claims"},
		{"many messages", Record{Event: protocol.Resumed{}, Sent: make([][32]byte, MaxSent+1)}, "65537 messages"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := j.Append(c.r)
			if err == nil || !strings.HasPrefix(err.Error(), "journal: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
	appendAll(t, j, Record{Event: protocol.Resumed{}}) // the journal lives on
	if got, err := contents(j); err != nil || len(got) != 1 {
		t.Errorf("%d records, %v; want only the good one", len(got), err)
	}
}

func TestTheLargestRecordFits(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	claims := make([]string, MaxClaims)
	for i := range claims {
		claims[i] = strings.Repeat("c", MaxClaimBytes)
	}
	want := Record{Event: protocol.Received{Message: message(pattern(1, inlineBytes))}, Sent: make([][32]byte, MaxSent), Claims: claims}
	s := openStore(t, t.TempDir())
	j := create(t, s, idOf(1))
	appendAll(t, j, want)
	must(t, j.Close())
	j, _ = reopen(t, s, idOf(1))
	got, err := contents(j)
	if err != nil || diffRecords([]Record{want}, got) != "" {
		t.Errorf("%d records, %v", len(got), err)
	}
}

func TestLongOutcomeIsCut(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := create(t, s, idOf(1))
	appendAll(t, j, Record{Ended: strings.Repeat("x", MaxOutcomeBytes)}, Record{Ended: strings.Repeat("y", 1<<20)})
	got, err := contents(j)
	must(t, err)
	if got[0].Ended != strings.Repeat("x", MaxOutcomeBytes) {
		t.Error("an outcome within the bound was changed")
	}
	if want := strings.Repeat("y", MaxOutcomeBytes-3) + "..."; got[1].Ended != want {
		t.Errorf("an outcome beyond the bound became %d bytes", len(got[1].Ended))
	}
}

// Neither bodies nor claims nor anything else of a record lies in clear.
func TestRecordsAreSealed(t *testing.T) {
	root := t.TempDir()
	s := openStore(t, root)
	j := create(t, s, idOf(1))
	appendAll(t, j, story()...)
	must(t, j.Sync())
	needles := [][]byte{[]byte("a small body"), []byte("okra"), []byte("north"), []byte("Rows"), []byte("done"),
		pattern(1, 32), pattern(2, 32), pattern(3, 32)}
	for path, content := range files(t, root) {
		for _, needle := range needles {
			if bytes.Contains(content, needle) {
				t.Errorf("%s holds %q in clear", path, needle)
			}
		}
	}
}

// files reads every file below root.
func files(t testing.TB, root string) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	must(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		all[path], err = os.ReadFile(path)
		return err
	}))
	return all
}

// A failed write must leave a journal that continues, or one that returns an error.
func TestFailedWrites(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := create(t, s, idOf(1))
	appendAll(t, j, story()[:2]...)
	must(t, j.log.Close())
	if err := j.Append(story()[4]); !errors.Is(err, os.ErrClosed) {
		t.Fatalf("Append on a closed file: %v", err)
	}
	if err := j.Append(Record{Event: protocol.Resumed{}}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the journal goes on after it could not take back half a record: %v", err)
	}
	if err := j.Sync(); err == nil {
		t.Error("Sync succeeds on a broken journal")
	}
	_ = j.Close()
	again, note := reopen(t, s, idOf(1))
	if got, err := contents(again); err != nil || diffRecords(story()[:2], got) != "" || note.LostBodies != 0 {
		t.Errorf("%d records, note %+v, %v", len(got), note, err)
	}
}

func TestUseAfterClose(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := create(t, s, idOf(1))
	must(t, j.Close())
	must(t, j.Close())
	if err := j.Append(Record{Ended: "x"}); err == nil {
		t.Error("Append after Close")
	}
	if _, err := contents(j); err == nil {
		t.Error("Records after Close")
	}
}

func TestPrintingAJournalShowsNoSeed(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := create(t, s, idOf(1))
	seed := seedOf(1)
	for _, verb := range []string{"%v", "%+v", "%#v", "%x"} {
		text := fmt.Sprintf(verb, j)
		if strings.Contains(text, fmt.Sprintf("%x", seed[:8])) || strings.Contains(text, strings.Trim(fmt.Sprintf("%d", seed[:8]), "[]")) {
			t.Errorf("%s prints the seed", verb)
		}
	}
}
