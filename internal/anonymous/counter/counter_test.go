package counter

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mercer-fl/mercer/protocol/secvm"
)

func smallParams(t testing.TB) secvm.Params {
	t.Helper()
	p, err := secvm.NewParams(secvm.Spec{Name: "toy", Bins: 16, Packages: 8, Cohort: 10})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func numbered(n int) (id Nonce) {
	binary.LittleEndian.PutUint64(id[:], uint64(n)*0x9e3779b97f4a7c15)
	return id
}

// training is the n-th of a series of packages.
func training(n int) secvm.Package {
	return secvm.Package{Tag: 7, Iteration: 3, Kind: secvm.Training, Index: uint32(n) % 17, Value: int8(1 - 2*(n%2))}
}

// dumb counts the first n packages one after the other.
func dumb(t *testing.T, n int) *secvm.Tally {
	t.Helper()
	tally := secvm.NewTally(smallParams(t))
	for i := range n {
		if err := tally.Add(training(i)); err != nil {
			t.Fatal(err)
		}
	}
	return tally
}

func openTest(t *testing.T, path string, least int) *Counter {
	t.Helper()
	c, err := Open(smallParams(t), path, least)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func sameTally(t *testing.T, got, want *secvm.Tally) {
	t.Helper()
	if d := cmp.Diff(got, want, cmpopts.IgnoreUnexported(secvm.Tally{})); d != "" {
		t.Errorf("counts differ (-got +want):\n%s", d)
	}
}

// Many goroutines count, each package twice, while records are written. After a crash at
// any point the devices send the unacknowledged packages again: every package is counted
// once.
func TestCountsOnce(t *testing.T) {
	const packages, least, lives = 600, 32, 4
	path := filepath.Join(t.TempDir(), "packages")
	acknowledged := make([]bool, packages)
	for life := range lives {
		c := openTest(t, path, least)
		upTo := packages * (life + 1) / lives
		flushes := make([]*Flush, packages)
		var counting sync.WaitGroup
		for lane := range 4 {
			counting.Go(func() {
				for i := lane; i < upTo; i += 4 {
					f, again, err := c.Count(numbered(i), training(i))
					f2, second, err2 := c.Count(numbered(i), training(i))
					if err := errors.Join(err, err2); err != nil || again != (acknowledged[i] || f == nil) || !second || f2 != f && f2 != nil {
						t.Errorf("package %d: again %t, second %t, %v", i, again, second, err)
					}
					flushes[i] = f
					if i%100 == 99 {
						if _, err := c.Record(false); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		counting.Wait()
		if life == lives-1 {
			if _, err := c.Record(true); err != nil {
				t.Fatal(err)
			}
			sameTally(t, c.Tally(), dumb(t, packages))
			if _, _, err := c.Count(numbered(packages), training(0)); !errors.Is(err, ErrOver) {
				t.Errorf("after the end: %v", err)
			}
		}
		for i, f := range flushes[:upTo] {
			acknowledged[i] = f == nil || isDone(f)
		}
		if err := c.Close(); err != nil { // unrecorded packages are gone
			t.Fatal(err)
		}
	}
	for i, ok := range acknowledged {
		if !ok {
			t.Errorf("package %d was never acknowledged", i)
		}
	}
}

// A bin that one device has is counted exactly, whatever the record has besides, and so it is after a
// restart.
func TestRareBinsAreCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "packages")
	c := openTest(t, path, 1)
	for i := range 20 {
		p := secvm.Package{Kind: secvm.Training, Index: 2, Value: 1}
		if i == 7 {
			p.Index, p.Value = 11, -1
		}
		if _, _, err := c.Count(numbered(i), p); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Record(true); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if tally := c.Tally(); tally.Minus[11] != 1 || tally.Plus[11] != 0 || tally.Plus[2] != 19 || tally.Minus[2] != 0 {
			t.Errorf("the rare bin shows %d and %d, the common one %d and %d", tally.Minus[11], tally.Plus[11], tally.Minus[2], tally.Plus[2])
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		c = openTest(t, path, 1)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// A token that comes again while its record is written is spent, and so is it afterwards, in another
// window of the iteration, too.
func TestTokenIsSpentWhileItsRecordIsWritten(t *testing.T) {
	c := openTest(t, filepath.Join(t.TempDir(), "packages"), 1)
	first, again, err := c.Count(numbered(1), training(1))
	if err != nil || again {
		t.Fatalf("first: again %t, %v", again, err)
	}
	if nonces, _ := c.gather(false); len(nonces) != 1 {
		t.Fatalf("%d tokens leave, want 1", len(nonces))
	}
	if f, again, err := c.Count(numbered(1), training(1)); f != first || !again || err != nil {
		t.Errorf("while it is written: again %t, %v, and waits for the same record: %t", again, err, f == first)
	}
	c.settle(nil)
	for range 2 { // the second time in another window of the iteration
		if f, again, err := c.Count(numbered(1), training(1)); f != nil || !again || err != nil {
			t.Errorf("once it is written: again %t, %v, and waits: %t", again, err, f != nil)
		}
		c.Reopen()
	}
	if n, _ := c.gather(false); len(n) != 0 {
		t.Errorf("%d tokens leave a second time", len(n))
	}
}

func isDone(f *Flush) bool {
	select {
	case <-f.Done():
		return f.Err() == nil
	default:
		return false
	}
}

// If the disk fails, nothing is acknowledged.
func TestDiskFails(t *testing.T) {
	c := openTest(t, filepath.Join(t.TempDir(), "packages"), 1)
	f, _, err := c.Count(numbered(1), training(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Record(false); err == nil || isDone(f) || f.Err() == nil {
		t.Errorf("%v, %v", err, f.Err())
	}
}

// Attack: read from the disk which package came with which token, or when. A record of
// equal packages does not depend on the order of their arrival.
func TestAttackRecords(t *testing.T) {
	var files [2][]byte
	for run, step := range []int{1, 7} {
		path := filepath.Join(t.TempDir(), "packages")
		c := openTest(t, path, 1000)
		for k := range 100 {
			i := k * step % 100
			if _, _, err := c.Count(numbered(i), training(i)); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := c.Record(false); n != 100 || err != nil {
			t.Fatal(n, err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		var err error
		if files[run], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if string(files[0]) != string(files[1]) {
		t.Error("the record shows the order of the packages")
	}
}

// A package that comes between a signal and its record causes another signal, although the record has the
// package. The next record does not write the few packages that have come since.
func TestAttackRecordOfFewPackages(t *testing.T) {
	const least = 3
	c := openTest(t, filepath.Join(t.TempDir(), "packages"), least)
	count := func(from, to int) {
		for i := from; i < to; i++ {
			if _, _, err := c.Count(numbered(i), training(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	due := func() {
		t.Helper()
		select {
		case <-c.Due():
		default:
			t.Fatal("no record is due")
		}
	}
	count(0, least)
	due()
	count(least, least+1)
	if n, err := c.RecordDue(); n != least+1 || err != nil {
		t.Fatal(n, err)
	}
	count(least+1, least+2)
	due()
	if n, err := c.RecordDue(); n != 0 || err != nil {
		t.Errorf("a record of %d packages, %v", n, err)
	}
	count(least+2, 2*least+1)
	due()
	if n, err := c.RecordDue(); n != least || err != nil {
		t.Errorf("a record of %d packages, %v, want %d", n, err, least)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// A package of an open window takes at most 64 bytes besides the counts.
func TestMemoryOfPackages(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const packages = 200_000
	c := openTest(t, filepath.Join(t.TempDir(), "packages"), 1024)
	before := heapBytes()
	for i := range packages {
		var id Nonce
		if _, err := rand.Read(id[:]); err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.Count(id, training(i)); err != nil {
			t.Fatal(err)
		}
		if i%1024 == 1023 {
			if _, err := c.Record(false); err != nil {
				t.Fatal(err)
			}
		}
	}
	if each := float64(heapBytes()-before) / packages; each > 64 {
		t.Errorf("%.1f bytes for each package", each)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

func heapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add(encodeRecord([]Nonce{numbered(1), numbered(2)}, sums{training(0): 1, training(1): 1}))
	f.Fuzz(func(t *testing.T, b []byte) {
		nonces, all, err := decodeRecord(b)
		if err != nil {
			return
		}
		again, sums, err := decodeRecord(encodeRecord(nonces, all))
		if err != nil || len(again) != len(nonces) || !cmp.Equal(all, sums) {
			t.Errorf("written again it is read otherwise: %v", err)
		}
	})
}
