package nats

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// link knows whether the connection stands. The callbacks of the NATS client
// write it, senders and the receiver wait for it.
type link struct {
	mu      sync.Mutex
	era     context.Context // lasts as long as the present connection; nil while there is none
	end     context.CancelFunc
	last    error // why the last attempt failed
	dead    error // why there will be no other
	changed chan struct{}
}

func newLink() *link { return &link{changed: make(chan struct{})} }

// up begins an era.
func (l *link) up() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead != nil {
		return
	}
	l.endEra()
	l.era, l.end = context.WithCancel(context.Background())
	l.announce()
}

// down ends an era, or notes why none began.
func (l *link) down(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endEra()
	if err != nil {
		l.last = err
	}
	l.announce()
}

// kill ends the link for good, for the first reason given.
func (l *link) kill(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endEra()
	if l.dead == nil {
		l.dead = err
	}
	l.announce()
}

func (l *link) endEra() {
	if l.era != nil {
		l.end()
		l.era, l.end = nil, nil
	}
}

func (l *link) announce() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// wait returns the era of a standing connection. Its errors are final: ctx
// ended, or the link is dead.
func (l *link) wait(ctx context.Context) (context.Context, error) {
	for {
		l.mu.Lock()
		era, last, dead, changed := l.era, l.last, l.dead, l.changed
		l.mu.Unlock()
		switch {
		case dead != nil:
			return nil, dead
		case ctx.Err() != nil && era == nil && last != nil:
			return nil, fmt.Errorf("%w while the server is out of reach: %w", ctx.Err(), last)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case era != nil:
			return era, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// within returns a context that ends with ctx, with the era, and after limit.
func within(ctx, era context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(era, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// pause lets time pass before another try, unless the connection was lost,
// which is a reason to wait for the next one instead.
func pause(ctx, era context.Context, attempt int) {
	ctx, cancel := within(ctx, era, backoff(attempt))
	defer cancel()
	<-ctx.Done()
}
