package nats

import (
	"crypto/rand"
	"maps"
	"time"
)

const (
	// maxChallenges limits the open challenges of a process.
	maxChallenges = 64
	// challengeLife is the time after which a challenge can no longer be answered.
	challengeLife = 10 * time.Second
)

// challenges maps each challenge that this process has sent to other processes with its
// identity to the time of drawing.
type challenges map[string]time.Time

// draw returns a new random challenge and records it.
func (q challenges) draw(now time.Time) string {
	q.prune(now)
	fresh := rand.Text()
	q[fresh] = now
	return fresh
}

// room reports whether the process may draw another challenge.
func (q challenges) room(now time.Time) bool {
	q.prune(now)
	return len(q) < maxChallenges
}

func (q challenges) prune(now time.Time) {
	maps.DeleteFunc(q, func(_ string, drawn time.Time) bool { return now.Sub(drawn) > challengeLife })
}

// open reports whether s is a recorded challenge that is not too old.
func (q challenges) open(s string, now time.Time) bool {
	q.prune(now)
	_, ok := q[s]
	return ok
}
