// Package tally limits the number of log lines about events that others can cause. It counts the
// events.
package tally

import "sync"

// told is the number of equal events that a log reports one by one. After them, it reports an event
// whenever their number has doubled.
const told = 16

// Tally counts events by kind and by name. The zero value is ready for use. It is safe for
// concurrent use. Kinds and names must be from closed lists, because each takes memory permanently.
type Tally struct {
	mu     sync.Mutex
	counts map[[2]string]int
}

// Count adds one event and returns the number so far. It also returns whether to report the event.
// It returns the number of events, and whether the log should report it.
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
