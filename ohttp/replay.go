package ohttp

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ReplayCache records the sealed requests of the current and the previous time window (RFC 9458,
// section 6.5.1). A request takes about 20 bytes. It is safe for concurrent use.
type ReplayCache struct {
	window   time.Duration
	capacity int
	key      [32]byte

	mu       sync.Mutex
	turned   time.Time
	now, old map[uint64]struct{}
}

// Admit returns these errors. A [Relay] that has too many pending requests answers with the text of
// ErrCrowded.
var (
	ErrReplayed = errors.New("ohttp: the gateway has received this sealed request before; seal it again to repeat it")
	ErrCrowded  = errors.New("ohttp: this server has received too many requests; try again later")
)

// NewReplayCache returns a cache that holds at most capacity requests for each window. When more
// than one window has passed, it can accept a repeated request. So the gateway's service must
// refuse an old request for another reason, such as the request's date.
func NewReplayCache(window time.Duration, capacity int) (*ReplayCache, error) {
	if window <= 0 || capacity < 1 {
		return nil, fmt.Errorf("ohttp: the replay cache has capacity %d and window %v; both must be above 0", capacity, window)
	}
	c := &ReplayCache{window: window, capacity: capacity, now: map[uint64]struct{}{}}
	if _, err := rand.Read(c.key[:]); err != nil {
		return nil, fmt.Errorf("ohttp: cannot draw the key of the replay cache: %w", err)
	}
	return c, nil
}

// Admit returns nil at the first call with a sealed request and [ErrReplayed] at later calls in this
// and the next window. It returns [ErrCrowded] for a new request if the window's part of the cache is
// full, because removing entries would allow replays.
func (c *ReplayCache) Admit(sealed []byte, at time.Time) error {
	print := c.fingerprint(sealed)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn(at)
	_, now := c.now[print]
	_, old := c.old[print]
	switch {
	case now || old:
		return ErrReplayed
	case len(c.now) >= c.capacity:
		return ErrCrowded
	}
	c.now[print] = struct{}{}
	return nil
}

// fingerprint returns a keyed hash of a request. Without the key, no sender can construct two
// requests that collide.
func (c *ReplayCache) fingerprint(sealed []byte) uint64 {
	h := sha256.New()
	h.Write(c.key[:])
	h.Write(sealed)
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

func (c *ReplayCache) turn(at time.Time) {
	switch age := at.Sub(c.turned); {
	case age >= 2*c.window:
		c.old, c.now, c.turned = nil, map[uint64]struct{}{}, at
	case age >= c.window:
		c.old, c.now, c.turned = c.now, map[uint64]struct{}{}, at
	}
}
