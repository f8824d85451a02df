package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
)

// maxOutboxBytes is the number of waiting bytes from which on the driver reads no messages.
const maxOutboxBytes = 4 * protocol.MaxStepBytes

// headBytes estimates the memory of a message without its body, in bytes.
const headBytes = 256

// outbox sends messages in order, one at a time, while the machine continues to compute.
type outbox struct {
	queue   []protocol.Message // waiting messages; the sender is sending the first
	bytes   int
	pending chan protocol.Message // passes the next message to the sender; has a buffer of one
	sent    chan error            // returns one result from the sender for each message
	done    sync.WaitGroup
	running bool
	busy    bool
}

// start starts a goroutine that sends messages until ctx ends.
func (o *outbox) start(ctx context.Context, mail Mail) {
	o.running = true
	o.done.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case m := <-o.pending:
				o.sent <- send(ctx, mail, m)
			}
		}
	})
	o.feed()
}

func send(ctx context.Context, mail Mail, m protocol.Message) error {
	err := mail.Send(ctx, m)
	if err != nil && ctx.Err() != nil {
		return Interrupted(ctx)
	}
	if errors.Is(err, transport.ErrClosed) {
		return interrupt(err) // the transport has closed, but a later process can send the message
	}
	if err != nil {
		return fmt.Errorf("driver: the message %v could not be sent: %w", m.Header, err)
	}
	return nil
}

// wait waits until the sender has stopped.
func (o *outbox) wait() { o.done.Wait() }

func (o *outbox) empty() bool { return len(o.queue) == 0 }
func (o *outbox) full() bool  { return o.bytes >= maxOutboxBytes }

// hasRoom reports whether the machine may compute more messages of a long output. It computes the
// next messages while the last ones are being sent.
func (o *outbox) hasRoom() bool { return o.bytes < protocol.MaxStepBytes }

func (o *outbox) push(messages []protocol.Message) {
	for _, m := range messages {
		o.queue = append(o.queue, m)
		o.bytes += headBytes + len(m.Body)
	}
	o.feed()
}

// feed passes the next message to the sender, if the sender is idle.
func (o *outbox) feed() {
	if o.running && !o.busy && len(o.queue) > 0 {
		o.busy = true
		o.pending <- o.queue[0]
	}
}

// pop removes the message that was sent and returns its body's size.
func (o *outbox) pop() int64 {
	n := o.drop()
	o.busy = false
	o.feed()
	return n
}

// drop removes the oldest message and returns its body's size.
func (o *outbox) drop() int64 {
	if len(o.queue) == 0 {
		return 0
	}
	n := len(o.queue[0].Body)
	o.queue[0] = protocol.Message{} // releases the body's memory
	o.queue = o.queue[1:]
	o.bytes -= headBytes + n
	return int64(n)
}
