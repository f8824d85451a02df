package kpca

import (
	"context"
	"errors"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
)

// A decomposition whose context ends multiplies the matrix no more.
func TestFitUntil(t *testing.T) {
	source := kernel.Of(kernel.LinearGram(noise(denseRows, 6, 1)), rbf(t, 0.1))
	const after = 3
	for _, end := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		asked := 0
		m, err := FitUntil(source, 4, func() error {
			if asked++; end && asked == after {
				cancel()
			}
			return ctx.Err()
		})
		cancel()
		switch {
		case !end && (err != nil || asked < 2*after):
			t.Errorf("%d questions: %v", asked, err)
		case end && (m != nil || !errors.Is(err, context.Canceled) || asked != after):
			t.Errorf("error %v after %d questions, want the context's", err, asked)
		}
	}
}
