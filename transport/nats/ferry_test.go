package nats

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/transport"
)

// A member that sends the longest messages without waiting for answers, as fast as its
// connection allows, fills the room of its own ferry: others' messages arrive soon, and
// none is refused. The attack represents a member with its own program and one connection.
func TestFloodOfBulkDelaysNobodyElse(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	var log told
	f := newFederation(t, func(c *Config) { c.Center, c.Logger = "server", slog.New(slog.NewTextHandler(&log, nil)) })
	east, south := f.join("east"), f.join("south")
	nc, _ := f.raw("north")
	ctx, stop := context.WithCancel(t.Context())
	var sent atomic.Int32
	var flooding sync.WaitGroup
	flooding.Go(func() {
		body := make([]byte, transport.MaxMessageBytes)
		for ctx.Err() == nil {
			for _, to := range []string{"south", "east", "server"} {
				if nc.Publish(subject(transport.Bulk, "north", to), body) != nil {
					time.Sleep(time.Millisecond)
				}
				sent.Add(1)
			}
		}
	})
	defer flooding.Wait()
	defer stop()
	f.eventually("the flood comes", func() bool { return sent.Load() > 200 })
	const messages = 20
	slowest := time.Duration(0)
	for range messages {
		began := time.Now()
		f.send(east, "south", "rows")
		slowest = max(slowest, time.Since(began))
	}
	if slowest > 3*time.Second {
		t.Errorf("one message took %v to be accepted", slowest)
	}
	for got := 0; got < messages; {
		d := f.receive(south)
		if d.From == "east" {
			got++
		}
		if err := d.Ack(); err != nil {
			t.Fatal(err)
		}
	}
	const line = "a member sends faster than the server answers"
	f.eventually("a line tells of the flood", func() bool { return log.count(line) > 0 }) // a busy machine floods slowly
	if n := log.count(line); n > 40 {
		t.Errorf("%d lines tell of it", n)
	}
	if log.has("excessive stream ingest rate") {
		t.Error("the flood has reached the queues, which drop what others send")
	}
}

// told collects a log.
type told struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *told) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *told) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), what)
}

func (l *told) has(what string) bool { return l.count(what) > 0 }
