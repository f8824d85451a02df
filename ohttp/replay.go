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

// ReplayCache remembers the sealed requests of the last one to two windows: section 6.5.1.
// An entry takes some 20 bytes. It is safe for concurrent use.
type ReplayCache struct {
	window   time.Duration
	capacity int
	key      [32]byte

	mu       sync.Mutex
	turned   time.Time
	now, old map[uint64]struct{}
}

// Errors of a replay cache.
var (
	ErrReplayed = errors.New("ohttp: this sealed request was sent before; seal it again to repeat it")
	ErrCrowded  = errors.New("ohttp: too many requests at the moment; try again later")
)

// NewReplayCache returns a cache of at most capacity requests for each window. It may
// accept a repeated request after two windows; the gateway's service must then refuse it
// for another reason, such as its date.
func NewReplayCache(window time.Duration, capacity int) (*ReplayCache, error) {
	if window <= 0 || capacity < 1 {
		return nil, fmt.Errorf("ohttp: the replay cache is for %d requests in a window of %v; both must be above 0", capacity, window)
	}
	c := &ReplayCache{window: window, capacity: capacity, now: map[uint64]struct{}{}}
	if _, err := rand.Read(c.key[:]); err != nil {
		return nil, fmt.Errorf("ohttp: replay cache: %w", err)
	}
	return c, nil
}

// Admit returns nil the first time that it is called with a sealed request, [ErrReplayed]
// afterwards, and [ErrCrowded] if the cache is full: dropping entries would allow replays.
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
