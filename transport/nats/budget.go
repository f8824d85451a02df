package nats

import (
	"sync"
	"time"
)

// budget bounds the lines of a log about what strangers do: some at once, then one in a
// while.
type budget struct {
	most  int           // at once
	every time.Duration // one more

	mu     sync.Mutex
	spent  int
	since  time.Time // of the last refill
	unsaid int
}

// allow reports whether one more line may be written, and how many were not since the
// last one.
func (b *budget) allow(now time.Time) (ok bool, unsaid int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if back := now.Sub(b.since) / b.every; back > 0 || b.since.IsZero() {
		b.spent = max(0, b.spent-int(min(back, time.Duration(b.most))))
		b.since = now
	}
	if b.spent >= b.most {
		b.unsaid++
		return false, 0
	}
	b.spent++
	unsaid, b.unsaid = b.unsaid, 0
	return true, unsaid
}
