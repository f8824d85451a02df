package cli

import (
	"context"
	"io"

	"github.com/mercer-fl/mercer/internal/demo"
)

// leashed returns a context that also ends with standard input, where the
// program that started this one asks for it: what a demonstration has started
// stops even if the demonstration cannot tell it to.
func (a *app) leashed(ctx context.Context) context.Context {
	if a.env(demo.Leash) == "" {
		return ctx
	}
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer stop()
		_, _ = io.Copy(io.Discard, a.stdin) // an error is an end too
	}()
	return ctx
}
