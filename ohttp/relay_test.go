package ohttp

import (
	"testing"
	"time"
)

// A timer that has gone off while its batch was leaving does not send off those
// who wait for the next one.
func TestRelayTimerOfAnotherBatch(t *testing.T) {
	newPassage := func() *passage { return &passage{ctx: t.Context(), done: make(chan struct{})} }
	r := &Relay{Batch: 2, Wait: time.Millisecond}
	first, second := newPassage(), newPassage()
	r.board(first)
	r.mu.Lock()
	time.Sleep(20 * time.Millisecond) // the timer goes off and waits for the lock
	r.depart()
	r.waiting, r.timer = []*passage{second}, time.NewTimer(time.Hour)
	r.mu.Unlock()
	<-first.done
	time.Sleep(20 * time.Millisecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) != 1 {
		t.Error("a passage left alone, before its batch was full")
	}
}
