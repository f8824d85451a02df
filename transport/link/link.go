package link

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/transport"
)

// Line describes the network line between a member and all other members.
type Line struct {
	Rate    float64       // bytes per second in each direction
	Latency time.Duration // delay of every message
	Loss    float64       // share of bytes that are lost and sent again, from 0 to below 1
}

// validate returns an error if a setting of the line is out of range.
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

// occupancy returns how long a message of the given number of bytes occupies the line.
func (l Line) occupancy(bytes int) time.Duration {
	return time.Duration(float64(bytes) / (l.Rate * (1 - l.Loss)) * float64(time.Second))
}

// Clock holds the virtual clocks of all members. It is safe for concurrent use.
type Clock struct {
	line Line

	mu       sync.Mutex
	members  map[string]*member
	due      map[letter]time.Duration // virtual time at which each message arrives
	bytes    uint64
	messages uint64
}

// letter identifies a message by its content, because a network can deliver it repeatedly.
// Equal messages arrive at the time of the last one.
type letter struct {
	from, to string
	lane     transport.Lane
	hash     [sha256.Size]byte // SHA-256 of the message
}

// member holds one member's virtual clock, and the times from which its line is free in each
// direction.
type member struct{ now, up, down time.Duration }

// NewClock returns virtual clocks at time 0 for members that all have the line l.
func NewClock(l Line) (*Clock, error) {
	if err := l.validate(); err != nil {
		return nil, err
	}
	return &Clock{line: l, members: make(map[string]*member), due: make(map[letter]time.Duration)}, nil
}

// Elapsed returns the largest time of any member's clock.
func (c *Clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	var last time.Duration
	for _, m := range c.members {
		last = max(last, m.now)
	}
	return last
}

// Sent returns the numbers of bytes and of messages that members have sent. A message that is
// delivered repeatedly counts once.
func (c *Clock) Sent() (bytes, messages uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes, c.messages
}

// memberCalled returns a member's clock. The caller holds the lock.
func (c *Clock) memberCalled(name string) *member {
	m := c.members[name]
	if m == nil {
		m = new(member)
		c.members[name] = m
	}
	return m
}

// send records the virtual time at which a message will arrive. The message occupies the lines of
// sender and receiver for some time.
func (c *Clock) send(l letter, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sender, receiver, holds := c.memberCalled(l.from), c.memberCalled(l.to), c.line.occupancy(bytes)
	c.bytes, c.messages = c.bytes+uint64(bytes), c.messages+1
	begins := max(sender.now, sender.up)
	sender.up = begins + holds
	receiver.down = max(begins+c.line.Latency, receiver.down) + holds
	c.due[l] = receiver.down
}

// arrive advances the receiver's clock to the arrival of a message. It reports whether send has
// recorded the message.
func (c *Clock) arrive(l letter) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, sent := c.due[l]
	m := c.memberCalled(l.to)
	m.now = max(m.now, at)
	return sent
}

// Conn wraps a member's connection and records the connection's messages in the clock. All members
// of a network must use connections of one clock.
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
		err = fmt.Errorf("link: %q received a message from %q, whose connection does not use this clock", c.name, d.From)
	}
	return d, err
}
