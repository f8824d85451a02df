// Package tally counts what a log must not tell one by one, since others decide how often it
// happens.
package tally

import "sync"

// told is the number of equal things that a log tells one by one; after them it tells when their
// number has doubled.
const told = 16

// Tally counts by kind and by who does it. The zero value is ready, and for concurrent use. Kinds
// and names are to be of closed lists, since each takes its place for good.
type Tally struct {
	mu     sync.Mutex
	counts map[[2]string]int
}

// Count enters one more, and returns how many there are and whether the log should say so.
func (t *Tally) Count(kind, who string) (n int, tell bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = make(map[[2]string]int)
	}
	key := [2]string{kind, who}
	t.counts[key]++
	n = t.counts[key]
	return n, n <= told || n&(n-1) == 0
}
