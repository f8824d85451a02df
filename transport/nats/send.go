package nats

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mercer-fl/mercer/transport"
)

// ackLimit limits how long one attempt waits for the server to confirm that a message is on
// disk.
const ackLimit = 10 * time.Second

// Send repeats the message until the server has it on disk or ctx ends. The server can then
// have it more than once.
func (c *conn) Send(ctx context.Context, to string, lane transport.Lane, data []byte) error {
	if err := c.send(ctx, to, lane, data); err != nil {
		return fmt.Errorf("nats: %q cannot send to %q: %w", c.name, to, err)
	}
	return nil
}

func (c *conn) send(ctx context.Context, to string, lane transport.Lane, data []byte) error {
	if err := transport.CheckSize(data); err != nil {
		return err
	}
	if err := checkName(to); err != nil {
		return fmt.Errorf("%w: %w", transport.ErrNoMember, err)
	}
	var failure error
	var unknownSince time.Time
	for attempt := 0; ; attempt++ {
		era, err := c.link.wait(ctx)
		if err != nil {
			return withCause(err, failure)
		}
		err = c.publish(ctx, era, subject(lane, c.name, to), data)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return withCause(ctx.Err(), failure)
		}
		failure = err
		if !errors.Is(failure, jetstream.ErrNoStreamResponse) {
			unknownSince = time.Time{}
		} else if unknownSince.IsZero() {
			unknownSince = time.Now()
		}
		if err := c.permanentError(failure, unknownSince); err != nil {
			return err
		}
		pause(ctx, era, attempt)
	}
}

// permanentError returns an error if no further attempt can succeed, and nil otherwise. A server
// that is starting or stopping can lack the queue for a receiver for a moment. If the server has no
// queue for the receiver for long, there is no such member.
func (c *conn) permanentError(err error, unknownSince time.Time) error {
	var refusal *jetstream.APIError
	switch {
	case !unknownSince.IsZero() && time.Since(unknownSince) >= c.patience:
		return fmt.Errorf("%w: %w", transport.ErrNoMember, err)
	case errors.As(err, &refusal) && refusal.Code < http.StatusInternalServerError && refusal.Code != http.StatusTooManyRequests:
		return err
	}
	return nil
}

func (c *conn) publish(ctx, era context.Context, subject string, data []byte) error {
	ctx, cancel := within(ctx, era, ackLimit)
	defer cancel()
	_, err := c.js.Publish(ctx, subject, data, jetstream.WithRetryAttempts(0))
	return err
}

// withCause adds the error of the last attempt to the reason for giving up.
func withCause(err, failure error) error {
	if failure == nil {
		return err
	}
	return fmt.Errorf("%w (the last attempt failed: %w)", err, failure)
}
