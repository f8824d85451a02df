package link

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/transport"
)

// Line describes the line between a member and all others.
type Line struct {
	Rate    float64       // bytes a second in each direction
	Latency time.Duration // of every message
	Loss    float64       // share of bytes that are sent again, from 0 to below 1
}

// validate refuses a line that carries nothing.
func (l Line) validate() error {
	switch {
	case !(l.Rate > 0):
		return fmt.Errorf("link: the rate is %g bytes a second; use a number above 0", l.Rate)
	case l.Latency < 0:
		return fmt.Errorf("link: the latency is %v; use 0 or more", l.Latency)
	case !(l.Loss >= 0 && l.Loss < 1):
		return fmt.Errorf("link: the loss is %g; use a share from 0 to below 1", l.Loss)
	}
	return nil
}

// holds returns the time for which a message holds a line.
func (l Line) holds(bytes int) time.Duration {
	return time.Duration(float64(bytes) / (l.Rate * (1 - l.Loss)) * float64(time.Second))
}

// Clock holds the virtual clocks of all members. It is safe for concurrent use.
type Clock struct {
	line Line

	mu       sync.Mutex
	members  map[string]*member
	due      map[letter]time.Duration // when each message has arrived
	bytes    uint64
	messages uint64
}

// letter identifies a message by its content: a network may deliver it often, and equal
// messages arrive at the time of the last.
type letter struct {
	from, to string
	lane     transport.Lane
	hash     [sha256.Size]byte
}

// member is one member's clock, and the times when its line is free in each direction.
type member struct{ now, up, down time.Duration }

// NewClock returns the clocks of members with equal lines, at 0.
func NewClock(l Line) (*Clock, error) {
	if err := l.validate(); err != nil {
		return nil, err
	}
	return &Clock{line: l, members: make(map[string]*member), due: make(map[letter]time.Duration)}, nil
}

// Elapsed returns the time of the latest clock.
func (c *Clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	var last time.Duration
	for _, m := range c.members {
		last = max(last, m.now)
	}
	return last
}

// Sent returns the number of bytes and of messages, each message counted once however often it
// was delivered.
func (c *Clock) Sent() (bytes, messages uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes, c.messages
}

// of returns a member's clock. The caller holds the lock.
func (c *Clock) of(name string) *member {
	m := c.members[name]
	if m == nil {
		m = new(member)
		c.members[name] = m
	}
	return m
}

// send puts a message on the lines of its sender and its receiver.
func (c *Clock) send(l letter, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sender, receiver, holds := c.of(l.from), c.of(l.to), c.line.holds(bytes)
	c.bytes, c.messages = c.bytes+uint64(bytes), c.messages+1
	begins := max(sender.now, sender.up)
	sender.up = begins + holds
	receiver.down = max(begins+c.line.Latency, receiver.down) + holds
	c.due[l] = receiver.down
}

// arrive moves the receiver's clock to a message's arrival. It reports whether the message
// was on the lines.
func (c *Clock) arrive(l letter) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, sent := c.due[l]
	m := c.of(l.to)
	m.now = max(m.now, at)
	return sent
}

// Conn returns a member's connection, with its messages on the member's line. All members
// of a network must have such a connection, of one clock.
func (c *Clock) Conn(name string, inner transport.Conn) transport.Conn {
	return &conn{Conn: inner, name: name, clock: c}
}

type conn struct {
	transport.Conn
	name  string
	clock *Clock
}

func (c *conn) Send(ctx context.Context, to string, lane transport.Lane, data []byte) error {
	c.clock.send(letter{c.name, to, lane, sha256.Sum256(data)}, len(data))
	return c.Conn.Send(ctx, to, lane, data)
}

func (c *conn) Receive(ctx context.Context, lane transport.Lane) (transport.Delivery, error) {
	d, err := c.Conn.Receive(ctx, lane)
	if err == nil && !c.clock.arrive(letter{d.From, c.name, lane, sha256.Sum256(d.Data)}) {
		err = fmt.Errorf("link: %q got a message from %q, which has no line", c.name, d.From)
	}
	return d, err
}
