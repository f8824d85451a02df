package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
)

// maxOutboxBytes bounds the bytes that may wait for a slow network before the driver stops reading
// messages.
const maxOutboxBytes = 4 * protocol.MaxStepBytes

// headBytes estimates the memory that a message without a body takes.
const headBytes = 256

// outbox sends messages in order, one at a time, while the machine continues.
type outbox struct {
	queue   []protocol.Message // queue[0] is being sent
	bytes   int
	pending chan protocol.Message // to the sender; holds at most one
	sent    chan error            // from the sender: one answer a message
	done    sync.WaitGroup
	running bool
	busy    bool
}

// start runs the sender until ctx ends.
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
		return interrupt(err) // the process is about to stop
	}
	if err != nil {
		return fmt.Errorf("driver: %v could not be sent: %w", m.Header, err)
	}
	return nil
}

// wait returns when the sender has stopped.
func (o *outbox) wait() { o.done.Wait() }

func (o *outbox) empty() bool { return len(o.queue) == 0 }
func (o *outbox) full() bool  { return o.bytes >= maxOutboxBytes }

// room reports whether the machine may continue a long output. The machine computes the next part while
// the last one is being sent.
func (o *outbox) room() bool { return o.bytes < protocol.MaxStepBytes }

func (o *outbox) push(messages []protocol.Message) {
	for _, m := range messages {
		o.queue = append(o.queue, m)
		o.bytes += headBytes + len(m.Body)
	}
	o.feed()
}

// feed gives the sender the next message, if it is idle.
func (o *outbox) feed() {
	if o.running && !o.busy && len(o.queue) > 0 {
		o.busy = true
		o.pending <- o.queue[0]
	}
}

// pop forgets the message that has been delivered and returns its body's size.
func (o *outbox) pop() int64 {
	n := o.drop()
	o.busy = false
	o.feed()
	return n
}

// drop forgets the oldest message.
func (o *outbox) drop() int64 {
	if len(o.queue) == 0 {
		return 0
	}
	n := len(o.queue[0].Body)
	o.queue[0] = protocol.Message{} // let the body go
	o.queue = o.queue[1:]
	o.bytes -= headBytes + n
	return int64(n)
}
