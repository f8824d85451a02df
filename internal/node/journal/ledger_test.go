package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"pgregory.net/rapid"
)

func openLedger(t testing.TB, path string) *Ledger {
	t.Helper()
	l, err := OpenLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestClaimsAreForEver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claims")
	l := openLedger(t, path)
	must(t, l.Claim(idOf(1), "epoch/1", "token\x00\xff\n\"'"))
	must(t, l.Claim(idOf(1))) // nothing
	must(t, l.Claim(idOf(2), "epoch/2"))
	check := func(l *Ledger) {
		t.Helper()
		must(t, l.Claim(idOf(1), "epoch/1", "token\x00\xff\n\"'")) // a replay
		for _, name := range []string{"epoch/1", "token\x00\xff\n\"'"} {
			err := l.Claim(idOf(2), name)
			var held *HeldError
			if !errors.As(err, &held) || held.Name != name || held.Holder != idOf(1) || !strings.Contains(err.Error(), idOf(1).String()) {
				t.Errorf("%q: %v, want a *HeldError that names session 1", name, err)
			}
		}
		if id, ok := l.Holder("epoch/2"); !ok || id != idOf(2) {
			t.Errorf("epoch/2 is held by %v, %v", id, ok)
		}
		if _, ok := l.Holder("epoch/3"); ok {
			t.Error("epoch/3 has a holder")
		}
	}
	check(l)
	must(t, l.Close())
	check(openLedger(t, path))
}

func TestClaimIsAllOrNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claims")
	l := openLedger(t, path)
	must(t, l.Claim(idOf(1), "b"))
	before, err := os.ReadFile(path)
	must(t, err)
	for _, names := range [][]string{{"a", "b"}, {"a", ""}, {"a", strings.Repeat("x", MaxClaimBytes+1)}} {
		if err := l.Claim(idOf(2), names...); err == nil {
			t.Errorf("%.20q was granted", names)
		}
	}
	if _, ok := l.Holder("a"); ok {
		t.Error("a refused claim left a name behind")
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("a refused claim changed the file: %v", err)
	}
}

func TestRepeatedClaimsDoNotGrowTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claims")
	l := openLedger(t, path)
	must(t, l.Claim(idOf(1), "a", "a"))
	first, err := os.Stat(path)
	must(t, err)
	must(t, l.Claim(idOf(1), "a"))
	if again, err := os.Stat(path); err != nil || again.Size() != first.Size() || first.Size() != int64(len(ledgerLine(idOf(1), "a"))) {
		t.Errorf("%d bytes, then %d, for one name (%v)", first.Size(), again.Size(), err)
	}
}

// Many sessions reach for the same names at once: each name has one holder,
// and the file agrees with memory.
func TestConcurrentClaims(t *testing.T) {
	path := filepath.Join(memoryDir(t), "claims")
	l := openLedger(t, path)
	var won [50]sync.Map
	var group sync.WaitGroup
	for session := byte(1); session <= 8; session++ {
		group.Go(func() {
			for i := range won {
				err := l.Claim(idOf(session), fmt.Sprint("name", i))
				var held *HeldError
				if err == nil {
					won[i].Store(session, true)
				} else if !errors.As(err, &held) {
					t.Errorf("session %d: %v", session, err)
				}
			}
		})
	}
	group.Wait()
	must(t, l.Close())
	again := openLedger(t, path)
	for i := range won {
		var winners []byte
		won[i].Range(func(k, _ any) bool { winners = append(winners, k.(byte)); return true })
		if len(winners) != 1 {
			t.Fatalf("name%d was won by %v", i, winners)
		}
		if id, _ := again.Holder(fmt.Sprint("name", i)); id != idOf(winners[0]) {
			t.Errorf("name%d was won by %d, the file says %v", i, winners[0], id)
		}
	}
}

func TestLedgerIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claims")
	l := openLedger(t, path)
	if _, err := OpenLedger(path); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("second process: %v, want ErrLocked", err)
	}
	must(t, l.Close())
	if err := l.Claim(idOf(1), "a"); err == nil {
		t.Error("a claim after Close")
	}
}

func threeClaims() (text []byte, ends []int) {
	for i, name := range []string{"alpha", "beta", "gamma"} {
		text = append(text, ledgerLine(idOf(byte(i+1)), name)...)
		ends = append(ends, len(text))
	}
	return text, ends
}

func TestTornLedger(t *testing.T) {
	text, stops := threeClaims()
	path := filepath.Join(memoryDir(t), "claims")
	for n := range len(text) + 1 {
		for _, tail := range []int{0, 1, 9000} { // zeros after it
			must(t, os.WriteFile(path, append(bytes.Clone(text[:n]), make([]byte, tail)...), 0o600))
			want := 0
			for want < len(stops) && stops[want] <= n {
				want++
			}
			l, err := OpenLedger(path)
			if err != nil {
				t.Fatalf("%d bytes and %d zeros: %v", n, tail, err)
			}
			must(t, l.Claim(idOf(9), "delta"))
			must(t, l.Close())
			l = openLedger(t, path)
			if len(l.holder) != want+1 {
				t.Fatalf("%d bytes and %d zeros: %d names, want %d", n, tail, len(l.holder), want+1)
			}
			must(t, l.Close())
		}
	}
}

func TestDamagedLedger(t *testing.T) {
	text, stops := threeClaims()
	path := filepath.Join(memoryDir(t), "claims")
	for i := range text {
		for _, mask := range []byte{1, 0x20, 0x80} {
			bad := bytes.Clone(text)
			bad[i] ^= mask
			must(t, os.WriteFile(path, bad, 0o600))
			line := 1
			for stops[line-1] <= i {
				line++
			}
			if _, err := OpenLedger(path); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("line %d", line)) || !strings.Contains(err.Error(), path) {
				t.Fatalf("byte %d, mask %x: %v, want an error that names line %d", i, mask, err, line)
			}
		}
	}
	two := ledgerLine(idOf(1), "a") + ledgerLine(idOf(2), "a")
	must(t, os.WriteFile(path, []byte(two), 0o600))
	if _, err := OpenLedger(path); err == nil || !strings.Contains(err.Error(), "two sessions have claimed") {
		t.Errorf("two holders of one name: %v", err)
	}
}

// When the disk fails, the claims on it are unknown and no more are granted.
func TestLedgerAfterAFailedWrite(t *testing.T) {
	l := openLedger(t, filepath.Join(t.TempDir(), "claims"))
	must(t, l.file.Close())
	for range 2 {
		if err := l.Claim(idOf(1), "a"); !errors.Is(err, os.ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
	if _, ok := l.Holder("a"); ok {
		t.Error("a claim that failed is remembered")
	}
}

func TestLinesHaveOneReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := string(rapid.SliceOfN(rapid.Byte(), 1, MaxClaimBytes).Draw(t, "name"))
		line := ledgerLine(idOf(3), name)
		id, got, ok := parseLine(line)
		if !ok || id != idOf(3) || got != name || len(line) > maxLine || strings.Count(line, "\n") != 1 {
			t.Fatalf("%q became %q, %v", line, got, ok)
		}
	})
}

func FuzzLedger(f *testing.F) {
	text, _ := threeClaims()
	f.Add(text)
	f.Add(text[:len(text)-1])
	f.Add(append(bytes.Clone(text), make([]byte, 50)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		holder, end, err := readLedger(bytes.NewReader(b))
		if err != nil {
			return
		}
		if end > int64(len(b)) {
			t.Fatalf("%d bytes are intact of %d", end, len(b))
		}
		again, endAgain, err := readLedger(bytes.NewReader(b[:end]))
		if err != nil || endAgain != end || len(again) != len(holder) {
			t.Fatalf("the intact part reads otherwise: %v", err)
		}
	})
}
