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

// Send copies data, as a wire would: the sender may use its buffer again.
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
		if err := c.alive(ctx); err != nil {
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
		if err := c.alive(ctx); err != nil {
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

// wait returns when the queue changed, when its next letter is due, or with
// the reason to give up.
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

// alive comes before any work, so that a closed connection or an ended context
// never wins a race against a letter.
func (c *conn) alive(ctx context.Context) error {
	select {
	case <-c.closed:
		return transport.ErrClosed
	default:
		return ctx.Err()
	}
}

// Close gives back what this connection had taken and not settled.
func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.box.leave(c)
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

// settle refuses what a closed connection says: its letters belong to the next
// one by then.
func (r receipt) settle(f func(*letter)) error {
	if err := r.conn.alive(context.Background()); err != nil {
		return fmt.Errorf("mem: %q cannot settle a delivery: %w", r.conn.name, err)
	}
	f(r.letter)
	return nil
}
