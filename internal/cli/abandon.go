package cli

import (
	"context"
	"time"
)

// grace is how long a command that was interrupted waits for what it runs.
const grace = time.Second

// orAbandon returns what f does, but does not wait for it much longer than for
// the end of ctx: what never looks up, such as the making of a large matrix, ends
// with the process.
func orAbandon[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := f()
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	select {
	case <-done:
	case <-time.After(grace):
	}
	var none T
	return none, ctx.Err()
}
