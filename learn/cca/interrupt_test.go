package cca

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
)

// A fit whose context ends goes no further, wherever it is.
func TestInterrupt(t *testing.T) {
	x, y := noise(150, 3, 1), noise(150, 3, 2)
	p := Params{Components: 2, Regularization: 0.1}
	run := func(after int) (asked int, err error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p.Interrupt = func() error {
			if asked++; asked == after {
				cancel()
			}
			return ctx.Err()
		}
		_, err = Fit(kernel.Dense{K: rbf(x, x)}, kernel.Dense{K: rbf(y, y)}, p)
		return asked, err
	}
	whole, err := run(0)
	if err != nil || whole < 20 {
		t.Fatalf("%d questions: %v", whole, err)
	}
	for _, after := range []int{1, 5, whole} {
		asked, err := run(after)
		if asked != after || !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "too small") {
			t.Errorf("error %v after %d questions, want the context's after %d", err, asked, after)
		}
	}
}
