package nats

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/mercer-fl/mercer/transport"
)

// One request to the queue asks for at most these many deliveries, and the
// server says that it lives while there are none. A batch must get through well
// within AckWait: 2 MiB in 30 s are half a megabit per second.
const (
	batchMessages = 256
	batchBytes    = 2 << 20
	requestLimit  = 30 * time.Second
	heartbeat     = 5 * time.Second
	resetLimit    = 2 * time.Second
)

// inbox is where deliveries of one era arrive. Those that are still here when
// the era ends are dropped: the reset at the next era's start repeats them.
type inbox struct {
	era     context.Context
	sub     *natsgo.Subscription
	name    string // drawn, so that no two connections of a member share an inbox
	request int    // the present one's number
	left    int    // deliveries that it may still bring; 0: ask again
}

// present tells the present request from others in subjects.
func (i *inbox) present() string { return i.name + "." + strconv.Itoa(i.request) }

// Receive serves one caller at a time; others wait for their turn.
func (c *conn) Receive(ctx context.Context) (transport.Delivery, error) {
	d, err := c.receive(ctx)
	if err != nil {
		return transport.Delivery{}, fmt.Errorf("nats: %q cannot receive: %w", c.name, err)
	}
	return d, nil
}

func (c *conn) receive(ctx context.Context) (transport.Delivery, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return transport.Delivery{}, ctx.Err()
	}
	for failures := 0; ; {
		era, err := c.link.wait(ctx)
		if err != nil {
			return transport.Delivery{}, err
		}
		d, ok, err := c.next(ctx, era)
		if ok {
			return d, nil
		}
		if err == nil {
			failures = 0
			continue
		}
		c.log.Debug("no delivery, asking again", "member", c.name, "error", err)
		pause(ctx, era, failures)
		failures++
	}
}

// next waits for one message of the inbox. It may be no delivery, which is no
// error.
func (c *conn) next(ctx, era context.Context) (d transport.Delivery, ok bool, err error) {
	if c.inbox.era != era {
		if err := c.open(ctx, era); err != nil {
			return d, false, err
		}
	}
	if c.inbox.left == 0 {
		if err := c.ask(); err != nil {
			return d, false, err
		}
	}
	quiet, cancel := within(ctx, era, c.silence)
	defer cancel()
	m, err := c.inbox.sub.NextMsgWithContext(quiet)
	switch {
	case err != nil && quiet.Err() != nil: // given up, disconnected, or a request that got lost
		c.inbox.left = 0
		return d, false, nil
	case err != nil:
		c.inbox.left = 0
		return d, false, err
	case m.Reply == "": // the server speaks; deliveries say where to acknowledge
		return d, false, c.heed(m)
	}
	c.inbox.left--
	d, ok = c.accept(m)
	return d, ok, nil
}

// open begins the inbox of an era. A reset of the queue makes the server
// repeat at once what the last connection had left unsettled. It is a matter
// of speed only: without it the same happens when AckWait is over.
func (c *conn) open(ctx, era context.Context) error {
	if err := c.alone(ctx, era); err != nil {
		return err
	}
	if old := c.inbox.sub; old != nil {
		c.inbox = inbox{}
		if err := old.Unsubscribe(); err != nil {
			return err
		}
	}
	name := rand.Text()
	sub, err := c.nc.SubscribeSync(boxSubject(c.name, name+".*"))
	if err != nil {
		return err
	}
	c.inbox = inbox{sub: sub, name: name}
	limited, cancel := within(ctx, era, resetLimit)
	defer cancel()
	if _, err := c.js.ResetConsumer(limited, stream, c.name); err != nil {
		if ctx.Err() != nil || era.Err() != nil {
			return err
		}
		c.log.Debug("unsettled deliveries come again later", "member", c.name, "error", err)
	}
	c.inbox.era = era
	return nil
}

// ask sends the request for the next deliveries.
func (c *conn) ask() error {
	request, err := json.Marshal(map[string]int64{
		"batch": batchMessages, "max_bytes": batchBytes,
		"expires": int64(requestLimit), "idle_heartbeat": int64(heartbeat),
	})
	if err != nil {
		return err
	}
	c.inbox.request++
	if err := c.nc.Publish(askSubject(c.name, c.inbox.present()), request); err != nil {
		return err
	}
	c.inbox.left = batchMessages
	return nil
}

// heed reads what the server says about the present request: that it waits
// (100), or that it is over, because of time (408) or of the limits it set
// (409, with what is left of them). Any other end is a reason not to ask again
// at once.
func (c *conn) heed(m *natsgo.Msg) error {
	status, text := m.Header.Get("Status"), m.Header.Get("Description")
	if status == "100" || m.Subject != boxSubject(c.name, c.inbox.present()) {
		return nil
	}
	c.inbox.left = 0
	if status == "408" || m.Header.Get("Nats-Pending-Messages") != "" {
		return nil
	}
	return fmt.Errorf("the server ended the request: %s %s", status, text)
}

// accept makes a delivery of what the queue sent. The server is not trusted:
// what is not addressed to this member, or would have it acknowledge something
// else than a delivery, is left alone.
func (c *conn) accept(m *natsgo.Msg) (transport.Delivery, bool) {
	from, ours := sender(m.Subject, c.name)
	times, ackable := deliveries(m.Reply, c.name)
	if !ours || !ackable || len(m.Data) > transport.MaxMessageBytes {
		c.log.Warn("ignored a delivery that is not for this member", "member", c.name, "subject", m.Subject, "bytes", len(m.Data))
		return transport.Delivery{}, false
	}
	return transport.Delivery{Data: m.Data, From: from, Receipt: receipt{c, m.Reply, times}}, true
}

// receipt settles over the subject that came with a delivery.
type receipt struct {
	conn  *conn
	reply string
	times int // it was delivered
}

func (r receipt) Ack() error { return r.settle("+ACK") }

func (r receipt) Later(delay time.Duration) error {
	if delay = slower(delay, r.times); delay > 0 {
		return r.settle(fmt.Sprintf(`-NAK {"delay": %d}`, delay.Nanoseconds()))
	}
	return r.settle("-NAK")
}

// slower doubles a delay with every delivery after the first, up to a second:
// a bulk message that a busy receiver puts back costs its whole length each
// time.
func slower(delay time.Duration, times int) time.Duration {
	const most = time.Second
	for n := 1; n < times && 0 < delay && delay < most; n++ {
		delay = min(2*delay, most)
	}
	return delay
}

func (r receipt) settle(word string) error {
	err := r.conn.nc.Publish(r.reply, []byte(word))
	if errors.Is(err, natsgo.ErrConnectionClosed) {
		err = transport.ErrClosed
	}
	if err != nil {
		return fmt.Errorf("nats: %q cannot settle a delivery: %w", r.conn.name, err)
	}
	return nil
}
