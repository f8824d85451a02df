package tally

import (
	"sync"
	"testing"
)

// A million events of one kind are reported some thirty times, however many count at once,
// and each kind and each name is counted separately.
func TestCountsAreToldByDoubling(t *testing.T) {
	var tally Tally
	var mu sync.Mutex
	lines := 0
	var counting sync.WaitGroup
	for range 4 {
		counting.Go(func() {
			for range 1 << 16 {
				if _, tell := tally.Count("asks too often", "north"); tell {
					mu.Lock()
					lines++
					mu.Unlock()
				}
			}
		})
	}
	counting.Wait()
	if want := reportedSingly + 18 - 4; lines != want { // 2^5 to 2^18
		t.Errorf("%d lines for %d asks, want %d", lines, 4<<16, want)
	}
	for _, key := range [][2]string{{"asks too often", "south"}, {"sends junk", "north"}} {
		if n, tell := tally.Count(key[0], key[1]); n != 1 || !tell {
			t.Errorf("%v: the first is number %d, told: %t", key, n, tell)
		}
	}
}
