// Package tally limits the number of log lines about events that others can cause. It counts the
// events.
package tally

import "sync"

// reportedSingly is the number of events, of one kind and name, that a log reports one by one. From
// then on, the log reports an event whenever the number has doubled.
const reportedSingly = 16

// Tally counts events by kind and by name. The zero value is ready for use. It is safe for
// concurrent use. Kinds and names must be from closed lists, because each takes memory permanently.
type Tally struct {
	mu     sync.Mutex
	counts map[[2]string]int
}

// Count counts one event and returns the number of such events so far. It also returns whether the
// log should report this event.
func (t *Tally) Count(kind, who string) (n int, tell bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = make(map[[2]string]int)
	}
	key := [2]string{kind, who}
	t.counts[key]++
	n = t.counts[key]
	return n, n <= reportedSingly || n&(n-1) == 0
}
