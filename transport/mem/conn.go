package mem

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/transport"
)

type conn struct {
	network *Network
	name    string
	box     *box
	once    sync.Once
	closed  chan struct{}
}

// Send copies data, so that the sender can reuse its buffer.
func (c *conn) Send(ctx context.Context, to string, lane transport.Lane, data []byte) error {
	if err := c.send(ctx, to, lane, data); err != nil {
		return fmt.Errorf("mem: %q cannot send to %q: %w", c.name, to, err)
	}
	return nil
}

func (c *conn) send(ctx context.Context, to string, lane transport.Lane, data []byte) error {
	if err := transport.CheckSize(data); err != nil {
		return err
	}
	q, err := c.network.lookup(to, lane)
	if err != nil {
		return err
	}
	l := &letter{from: c.name, data: bytes.Clone(data)}
	for {
		if err := c.checkOpen(ctx); err != nil {
			return err
		}
		changed, ok := q.push(l)
		if ok {
			return nil
		}
		if err := c.wait(ctx, changed, nil); err != nil {
			return err
		}
	}
}

func (c *conn) Receive(ctx context.Context, lane transport.Lane) (transport.Delivery, error) {
	q := c.box.queue(lane)
	l, err := c.receive(ctx, q)
	if err != nil {
		return transport.Delivery{}, fmt.Errorf("mem: %q cannot receive: %w", c.name, err)
	}
	return transport.Delivery{Data: l.data, From: l.from, Receipt: receipt{c, q, l}}, nil
}

func (c *conn) receive(ctx context.Context, q *queue) (*letter, error) {
	for {
		if err := c.checkOpen(ctx); err != nil {
			return nil, err
		}
		l, next, changed := q.take(time.Now())
		if l != nil {
			return l, nil
		}
		if err := c.wait(ctx, changed, next); err != nil {
			return nil, err
		}
	}
}

// wait returns nil when the queue has changed or its next message is due. It returns an error
// if the connection is closed or ctx ends.
func (c *conn) wait(ctx context.Context, changed <-chan struct{}, next *time.Duration) error {
	var due <-chan time.Time
	if next != nil {
		timer := time.NewTimer(*next)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-changed:
		return nil
	case <-due:
		return nil
	case <-c.closed:
		return transport.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// checkOpen returns an error if the connection is closed or ctx has ended. Callers check this
// first, so that a closed connection delivers no message.
func (c *conn) checkOpen(ctx context.Context) error {
	select {
	case <-c.closed:
		return transport.ErrClosed
	default:
		return ctx.Err()
	}
}

// Close puts the unsettled messages of this connection back into their queues.
func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.box.disconnect(c)
	})
	return nil
}

type receipt struct {
	conn   *conn
	queue  *queue
	letter *letter
}

func (r receipt) Ack() error { return r.settle(r.queue.ack) }

func (r receipt) Later(delay time.Duration) error {
	return r.settle(func(l *letter) { r.queue.putBack(l, time.Now().Add(delay)) })
}

// settle applies f to the delivered message. It returns an error on a closed connection, whose
// messages belong to the member's next connection.
func (r receipt) settle(f func(*letter)) error {
	if err := r.conn.checkOpen(context.Background()); err != nil {
		return fmt.Errorf("mem: %q cannot settle a delivery: %w", r.conn.name, err)
	}
	f(r.letter)
	return nil
}

// These are the defaults of a Network.
const (
	DefaultAckWait = 30 * time.Second
	DefaultShare   = 256
)

// Network connects members within one process. Its fields must be set before the first Join.
// The zero value uses the defaults.
type Network struct {
	AckWait time.Duration // time after which an unsettled delivery is repeated
	Share   int           // largest number of unacknowledged messages of one sender in one queue

	mu    sync.Mutex
	boxes map[string]*box
}

// NewNetwork returns a network with default settings and no members.
func NewNetwork() *Network {
	return &Network{AckWait: DefaultAckWait, Share: DefaultShare}
}

// Join connects the member called name. The member receives again the messages that it had
// not acknowledged before it left. A name that is already connected is an error.
func (n *Network) Join(name string) (transport.Conn, error) {
	if name == "" {
		return nil, fmt.Errorf("mem: the member's name is empty; every member requires a name")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.boxes[name]
	if b == nil {
		b = n.newBox()
		if n.boxes == nil {
			n.boxes = make(map[string]*box)
		}
		n.boxes[name] = b
	}
	c := &conn{network: n, name: name, box: b, closed: make(chan struct{})}
	if !b.open(c) {
		return nil, fmt.Errorf("mem: %q is connected already; give each member its own name", name)
	}
	return c, nil
}

func (n *Network) newBox() *box {
	b := &box{queues: make([]*queue, len(transport.Lanes()))}
	for i := range b.queues {
		b.queues[i] = &queue{ackWait: n.AckWait, share: n.Share, held: make(map[string]int), changed: make(chan struct{})}
		if n.AckWait <= 0 {
			b.queues[i].ackWait = DefaultAckWait
		}
		if n.Share <= 0 {
			b.queues[i].share = DefaultShare
		}
	}
	return b
}

func (n *Network) lookup(name string, lane transport.Lane) (*queue, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if b, ok := n.boxes[name]; ok {
		return b.queue(lane), nil
	}
	return nil, fmt.Errorf("%w: %q never joined", transport.ErrNoMember, name)
}
