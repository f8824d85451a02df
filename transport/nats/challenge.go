package nats

import (
	"crypto/rand"
	"maps"
	"time"
)

const (
	// maxChallenges bounds the open challenges of a process.
	maxChallenges = 64
	// challengeLife is the time after which an answer is too old.
	challengeLife = 10 * time.Second
)

// challenges holds a process's challenges to others with its identity, with their times.
type challenges map[string]time.Time

// draw returns a new challenge.
func (q challenges) draw(now time.Time) string {
	q.prune(now)
	fresh := rand.Text()
	q[fresh] = now
	return fresh
}

// room reports whether another challenge may be opened.
func (q challenges) room(now time.Time) bool {
	q.prune(now)
	return len(q) < maxChallenges
}

func (q challenges) prune(now time.Time) {
	maps.DeleteFunc(q, func(_ string, drawn time.Time) bool { return now.Sub(drawn) > challengeLife })
}

// open reports whether s is a challenge that others may answer.
func (q challenges) open(s string, now time.Time) bool {
	q.prune(now)
	_, ok := q[s]
	return ok
}
