package driver

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mercer-fl/mercer/protocol"
)

// clockwork is a session under a fake clock.
type clockwork struct {
	*testbed
	began  time.Time
	events []happening
}

type happening struct {
	what string // kind of the message or name of the timer
	at   time.Duration
}

const round = time.Minute

// underClock runs a machine in a bubble whose clock stands still while anybody
// works. The machine's events are noted with their time.
func underClock(t *testing.T, step func(c *clockwork, s *protocol.Session, e protocol.Event) (protocol.Effects, error), test func(c *clockwork)) {
	synctest.Test(t, func(t *testing.T) {
		c := &clockwork{began: time.Now()}
		c.testbed = scripted(t, func(s *protocol.Session, e protocol.Event) (protocol.Effects, error) {
			what := kindOf(e)
			if x, ok := e.(protocol.Expired); ok {
				what = string(x.Timer)
			}
			if what != "" {
				c.events = append(c.events, happening{what, time.Since(c.began)})
			}
			return step(c, s, e)
		})
		c.timeout = round
		test(c)
	})
}

func (c *clockwork) want(events ...happening) {
	c.t.Helper()
	if len(events) != len(c.events) {
		c.t.Fatalf("%v, want %v", c.events, events)
	}
	for i := range events {
		if events[i] != c.events[i] {
			c.t.Fatalf("%v, want %v", c.events, events)
		}
	}
}

var armed = protocol.Effects{Arm: []protocol.Timer{"round"}}

// armAlways arms its timer at every event and ends when it expires.
func armAlways(_ *clockwork, _ *protocol.Session, e protocol.Event) (protocol.Effects, error) {
	if _, ok := e.(protocol.Expired); ok {
		return over, nil
	}
	return armed, nil
}

func TestTimerExpiresAfterItsTime(t *testing.T) {
	underClock(t, armAlways, func(c *clockwork) {
		if err := c.run(c.t.Context(), nil); err != nil {
			c.t.Fatal(err)
		}
		c.want(happening{"round", round})
	})
}

func TestArmingAgainBeginsAnew(t *testing.T) {
	underClock(t, armAlways, func(c *clockwork) {
		go func() {
			for n := range 3 {
				time.Sleep(round * 2 / 3)
				c.broker.post(c.incoming("Word", n))
			}
		}()
		if err := c.run(c.t.Context(), nil); err != nil {
			c.t.Fatal(err)
		}
		c.want(happening{"Word", round * 2 / 3}, happening{"Word", round * 4 / 3}, happening{"Word", 2 * round}, happening{"round", 3 * round})
	})
}

// The timer runs out while the machine works on the very message that arms it
// again: the peer is not silent.
func TestTimerThatFiresDuringAStepIsNotBelieved(t *testing.T) {
	step := func(c *clockwork, s *protocol.Session, e protocol.Event) (protocol.Effects, error) {
		if kindOf(e) != "" {
			time.Sleep(round / 2) // a long computation
		}
		return armAlways(c, s, e)
	}
	underClock(t, step, func(c *clockwork) {
		go func() {
			time.Sleep(round * 3 / 4)
			c.broker.post(c.incoming("Word", 0))
		}()
		if err := c.run(c.t.Context(), nil); err != nil {
			c.t.Fatal(err)
		}
		c.want(happening{"Word", round * 3 / 4}, happening{"round", round * 9 / 4})
	})
}

// Messages that wait are read before a timer is believed, whichever of them
// select would have taken.
func TestWaitingMessagesComeBeforeTheTimer(t *testing.T) {
	for range 20 {
		step := func(_ *clockwork, _ *protocol.Session, e protocol.Event) (protocol.Effects, error) {
			switch kindOf(e) {
			case "Slow":
				time.Sleep(2 * round)
			case "Word":
				return over, nil
			}
			return armed, nil
		}
		// Slow does not arm the timer, so that its clock is the present one.
		slow := func(c *clockwork, s *protocol.Session, e protocol.Event) (protocol.Effects, error) {
			effects, err := step(c, s, e)
			if kindOf(e) == "Slow" {
				effects.Arm = nil
			}
			return effects, err
		}
		underClock(t, slow, func(c *clockwork) {
			c.broker.post(c.incoming("Slow", 0))
			go func() {
				time.Sleep(round)
				c.broker.post(c.incoming("Word", 0))
			}()
			if err := c.run(c.t.Context(), nil); err != nil {
				c.t.Fatal(err)
			}
			c.want(happening{"Slow", 0}, happening{"Word", 2 * round})
		})
	}
}

func TestTimersBeginAnewAfterARestart(t *testing.T) {
	underClock(t, armAlways, func(c *clockwork) {
		ctx, stop := context.WithTimeout(c.t.Context(), round/2)
		defer stop()
		if err := c.run(ctx, nil); !errors.Is(err, ErrInterrupted) {
			c.t.Fatal(err)
		}
		time.Sleep(10 * round) // the process is down
		if err := c.run(c.t.Context(), nil); err != nil {
			c.t.Fatal(err)
		}
		c.want(happening{"round", round/2 + 11*round})
	})
}

// A timer that had expired before the crash does not run again.
func TestExpiredTimerStaysExpired(t *testing.T) {
	step := func(_ *clockwork, _ *protocol.Session, e protocol.Event) (protocol.Effects, error) {
		switch e.(type) {
		case protocol.Start:
			return armed, nil
		case protocol.Received:
			return over, nil
		}
		return protocol.Effects{}, nil
	}
	underClock(t, step, func(c *clockwork) {
		ctx, stop := context.WithTimeout(c.t.Context(), 2*round)
		defer stop()
		if err := c.run(ctx, nil); !errors.Is(err, ErrInterrupted) {
			c.t.Fatal(err)
		}
		c.events = nil
		go func() {
			time.Sleep(5 * round)
			c.broker.post(c.incoming("Word", 0))
		}()
		if err := c.run(c.t.Context(), nil); err != nil {
			c.t.Fatal(err)
		}
		c.want(happening{"round", 2 * round}, happening{"Word", 7 * round}) // the first is the replay's
	})
}

// gate is a mail whose network takes nothing until it is opened.
type gate struct {
	*broker
	open chan struct{}
	sent atomic.Int64
}

func (g *gate) Send(ctx context.Context, m protocol.Message) error {
	select {
	case <-g.open:
		g.sent.Add(1)
		return g.broker.Send(ctx, m)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// gated runs a session over a network that is slow until release is called.
func (c *clockwork) gated() (g *gate, ended <-chan error) {
	c.broker.connect()
	g = &gate{broker: c.broker, open: make(chan struct{})}
	config := c.config(c.log, c.log.Records())
	config.Mail = g
	done := make(chan error, 1)
	go func() {
		_, err := Run(c.t.Context(), config)
		done <- err
	}()
	return g, done
}

func TestNothingHappensAfterTheEnd(t *testing.T) {
	step := func(_ *clockwork, s *protocol.Session, _ protocol.Event) (protocol.Effects, error) {
		return protocol.Effects{
			Send: []protocol.Message{numbered(s, self, peer, "Bye", 0, nil), numbered(s, self, peer, "Bye", 1, nil)},
			Arm:  []protocol.Timer{"round"}, Resume: true, End: &protocol.End{},
		}, nil
	}
	underClock(t, step, func(c *clockwork) {
		g, ended := c.gated()
		c.broker.post(c.incoming("Word", 0))
		time.Sleep(5 * round)
		synctest.Wait()
		select {
		case err := <-ended:
			c.t.Fatalf("ended with %v before its last messages were taken", err)
		default:
		}
		close(g.open)
		if err := <-ended; err != nil {
			c.t.Fatal(err)
		}
		c.want() // no timer, no message
		if len(c.broker.sent) != 2 || len(c.broker.queue) != 0 {
			c.t.Fatalf("%d of 2 messages sent, %d not acknowledged", len(c.broker.sent), len(c.broker.queue))
		}
		// Start, two deliveries, outcome.
		if len(c.log.records) != 4 {
			c.t.Fatalf("journal: %+v", c.log.records)
		}
	})
}

const megabyte = 1 << 20

// While the network takes nothing, the driver stops taking messages in.
func TestSlowNetworkBoundsTheOutbox(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const words = 40
	step := func(c *clockwork, s *protocol.Session, e protocol.Event) (protocol.Effects, error) {
		if kindOf(e) == "" {
			return protocol.Effects{}, nil
		}
		n := len(c.events) - 1
		effects := protocol.Effects{Send: []protocol.Message{numbered(s, self, peer, "Bulk", n, make([]byte, megabyte))}}
		if n == words-1 {
			effects.End = &protocol.End{}
		}
		return effects, nil
	}
	underClock(t, step, func(c *clockwork) {
		g, ended := c.gated()
		for n := range words {
			c.broker.post(c.incoming("Word", n))
		}
		time.Sleep(round)
		synctest.Wait()
		if most := maxOutboxBytes / megabyte; len(c.events) != most {
			c.t.Fatalf("%d messages of 1 MiB wait for the network, want %d", len(c.events), most)
		}
		if len(c.broker.queue) != words-len(c.events) {
			c.t.Fatalf("%d messages are not acknowledged, want the %d that were not read", len(c.broker.queue), words-len(c.events))
		}
		close(g.open)
		if err := <-ended; err != nil {
			c.t.Fatal(err)
		}
		if got := g.sent.Load(); got != words {
			c.t.Fatalf("%d of %d messages sent", got, words)
		}
	})
}

// A long output is made as the network takes it, one step ahead.
func TestResumeWaitsForRoom(t *testing.T) {
	const steps = 10
	made := 0
	step := func(_ *clockwork, s *protocol.Session, e protocol.Event) (protocol.Effects, error) {
		if _, ok := e.(protocol.Resumed); !ok {
			return protocol.Effects{Resume: true}, nil
		}
		made++
		effects := protocol.Effects{Resume: made < steps}
		for i := range 8 {
			effects.Send = append(effects.Send, numbered(s, self, peer, "Rows", 8*made+i, make([]byte, protocol.MaxChunkBytes)))
		}
		if made == steps {
			effects.End = &protocol.End{}
		}
		return effects, nil
	}
	underClock(t, step, func(c *clockwork) {
		g, ended := c.gated()
		synctest.Wait()
		if made != 1 {
			c.t.Fatalf("%d steps of 4 MiB wait for the network, want 1", made)
		}
		close(g.open)
		if err := <-ended; err != nil {
			c.t.Fatal(err)
		}
		if got := g.sent.Load(); got != 8*steps {
			c.t.Fatalf("%d of %d messages sent", got, 8*steps)
		}
	})
}

// A machine that computes for long hears its peers and its timers meanwhile.
func TestLongWorkDoesNotStarveMessages(t *testing.T) {
	worked := 0
	step := func(_ *clockwork, _ *protocol.Session, e protocol.Event) (protocol.Effects, error) {
		switch e.(type) {
		case protocol.Resumed:
			worked++
			time.Sleep(100 * time.Millisecond)
		case protocol.Received:
			return over, nil
		}
		return protocol.Effects{Resume: true}, nil
	}
	underClock(t, step, func(c *clockwork) {
		go func() {
			time.Sleep(time.Second)
			c.broker.post(c.incoming("Word", 0))
		}()
		if err := c.run(c.t.Context(), nil); err != nil {
			c.t.Fatal(err)
		}
		if worked > 100 {
			c.t.Fatalf("the message was read after %d further steps", worked-10)
		}
	})
}
