package linalg_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/linalg"
)

func TestForCutsTheSameOnAnyNumberOfCores(t *testing.T) {
	want := [][2]int{{0, 3}, {3, 6}, {6, 9}, {9, 10}}
	for _, cores := range []int{1, 2, 5} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		var mu sync.Mutex
		var got [][2]int
		linalg.For(10, 3, func(lo, hi int) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, [2]int{lo, hi})
		})
		slices.SortFunc(got, func(a, b [2]int) int { return a[0] - b[0] })
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d cores: blocks (-want +got)\n%s", cores, d)
		}
	}
}

func TestForVisitsEveryIndexOnce(t *testing.T) {
	for _, n := range []int{-1, 0, 1, 2, 63, 64, 65, 1000} {
		for _, grain := range []int{1, 7, 64, 1 << 40} {
			visits := make([]int, max(n, 0))
			linalg.For(n, grain, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					visits[i]++ // the race detector checks that blocks are apart
				}
			})
			if i := slices.IndexFunc(visits, func(v int) bool { return v != 1 }); i >= 0 {
				t.Errorf("For(%d, %d): index %d visited %d times", n, grain, i, visits[i])
			}
		}
	}
}

func TestForNests(t *testing.T) {
	var sum atomic.Int64
	linalg.For(20, 1, func(i, _ int) {
		linalg.For(20, 1, func(j, _ int) { sum.Add(int64(i * j)) })
	})
	if got := sum.Load(); got != 190*190 {
		t.Errorf("sum = %d, want %d", got, 190*190)
	}
}

func TestForPanicsInTheCallerWithTheLowestBlock(t *testing.T) {
	for _, n := range []int{1, 50} {
		var done atomic.Int64
		got := recovered(func() {
			linalg.For(n, 1, func(lo, _ int) {
				done.Add(1)
				if lo%10 == 3 || n == 1 {
					panic(fmt.Errorf("block %d", lo))
				}
			})
		})
		want := map[int]string{1: "block 0", 50: "block 3"}[n]
		if err, ok := got.(error); !ok || err.Error() != want {
			t.Errorf("n = %d: recovered %v, want %q", n, got, want)
		}
		if done.Load() != int64(n) {
			t.Errorf("n = %d: %d blocks ran", n, done.Load())
		}
	}
}

func TestForRaisesRuntimeErrors(t *testing.T) {
	var err runtime.Error
	got := recovered(func() {
		linalg.For(8, 1, func(lo, _ int) { _ = make([]int, 4)[lo] })
	})
	if e, ok := got.(error); !ok || !errors.As(e, &err) {
		t.Errorf("recovered %v, want a runtime error", got)
	}
}

func TestForRefusesAGrainOfZero(t *testing.T) {
	if recovered(func() { linalg.For(3, 0, func(int, int) {}) }) == nil {
		t.Error("a grain of 0 was accepted")
	}
}

// recovered returns what f panics with, or nil.
func recovered(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}
