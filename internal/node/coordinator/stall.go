package coordinator

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/protocol"
)

// relayTime limits how long the coordinator tries to send a stall message to the other parties.
const relayTime = 2 * time.Second

// relayEvery is the minimum time between two batches of stall messages to a session's parties.
const relayEvery = time.Second

// noteStall records a party's message that it cannot continue for now, or that it continues again.
// It tells the other parties, which would otherwise blame a member that waits.
func (c *Coordinator) noteStall(d *conducted, m protocol.Message) error {
	s, err := control.DecodeStall(m.Body)
	if err == nil && s.Member != m.Sender {
		err = fmt.Errorf("the stall names %q, which did not send it", fault.Printable(s.Member))
	}
	if err != nil {
		return protocol.Blame(m.Sender, protocol.KindMalformed, err)
	}
	if !d.stalls.Note(s, time.Now()) {
		return nil
	}
	const back = "a party continues a session"
	if s.Trouble != fault.NoTrouble {
		c.complain("a party cannot continue a session for now", m.Sender, "session", d.session.ID().String(), "reason", s.Trouble.Sentence())
	} else if n, tell := c.complaints.Count(back, m.Sender); tell {
		c.Logger.Info(back, "party", m.Sender, "so far", n, "session", d.session.ID().String())
	}
	d.herald.enter(s)
	return nil
}

// herald tells the parties of a session when another member cannot continue for now. It runs in its
// own goroutine, so that a party that receives nothing delays nobody. For each member it sends the
// latest message, at most once a second.
type herald struct {
	wake chan struct{} // channel with a buffer of one signal

	mu   sync.Mutex
	news map[string]*control.Stall // the latest stall message of each member
}

// heraldFor starts a session's herald, and returns the function that ends it.
func (c *Coordinator) heraldFor(ctx context.Context, d *conducted) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	d.herald = &herald{wake: make(chan struct{}, 1), news: make(map[string]*control.Stall)}
	var running sync.WaitGroup
	running.Go(func() { c.runHerald(ctx, d) })
	return func() { cancel(); running.Wait() }
}

func (h *herald) enter(s *control.Stall) {
	h.mu.Lock()
	h.news[s.Member] = s
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default: // the herald has not yet read an earlier signal
	}
}

func (h *herald) take() map[string]*control.Stall {
	h.mu.Lock()
	defer h.mu.Unlock()
	news := h.news
	h.news = make(map[string]*control.Stall)
	return news
}

func (c *Coordinator) runHerald(ctx context.Context, d *conducted) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.herald.wake:
		}
		for _, s := range d.herald.take() {
			c.relay(ctx, d, s)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(relayEvery):
		}
	}
}

// relay sends one member's stall message to the session's other parties.
func (c *Coordinator) relay(ctx context.Context, d *conducted, s *control.Stall) {
	var others []string
	for _, name := range c.otherMembers(d) {
		if name != s.Member {
			others = append(others, name)
		}
	}
	telling, cancel := context.WithTimeout(ctx, relayTime)
	defer cancel()
	if err := c.tellAll(telling, others, d.session.ID(), control.KindStall, s.Encode()); err != nil && ctx.Err() == nil {
		c.complain("could not tell every party that another one cannot continue for now", s.Member, "error", err)
	}
}
