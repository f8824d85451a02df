package nats

import (
	"crypto/rand"
	"maps"
	"time"
)

const (
	// maxChallenges is the number of open challenges at which a process stops replying to other processes.
	maxChallenges = 64
	// challengeLife is the time after which a challenge can no longer be answered.
	challengeLife = 10 * time.Second
)

// challenges records the time at which this process drew each challenge. The process sends its
// challenges to other processes with the same identity.
type challenges map[string]time.Time

// draw returns a new random challenge and records it.
func (q challenges) draw(now time.Time) string {
	q.prune(now)
	fresh := rand.Text()
	q[fresh] = now
	return fresh
}

// mayDraw reports whether the process has fewer open challenges than the limit.
func (q challenges) mayDraw(now time.Time) bool {
	q.prune(now)
	return len(q) < maxChallenges
}

func (q challenges) prune(now time.Time) {
	maps.DeleteFunc(q, func(_ string, drawn time.Time) bool { return now.Sub(drawn) > challengeLife })
}

// isOpen reports whether s is a recorded challenge that is not too old.
func (q challenges) isOpen(s string, now time.Time) bool {
	q.prune(now)
	_, ok := q[s]
	return ok
}
