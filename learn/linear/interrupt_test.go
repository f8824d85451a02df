package linear

import (
	"context"
	"errors"
	"testing"
)

// A training whose context ends moves no further block, wherever it is: at the
// factors, the first gradient, a pass or the last gradient.
func TestInterrupt(t *testing.T) {
	z, y := small(16, 60, 1, 1)
	p := Params{Loss: Logistic{}, Lambda: 1e-3, Block: 4, Tol: 1e-6}
	run := func(after int) (asked int, f *Fitted, err error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p.Interrupt = func() error {
			if asked++; asked == after {
				cancel()
			}
			return ctx.Err()
		}
		f, err = Fit(z, y, p)
		return asked, f, err
	}
	whole, _, err := run(0)
	if err != nil || whole < 16 {
		t.Fatalf("%d questions: %v", whole, err)
	}
	for _, after := range []int{2, 6, 11, whole} {
		asked, f, err := run(after)
		if asked != after || f != nil || !errors.Is(err, context.Canceled) || errors.Is(err, ErrNotConverged) {
			t.Errorf("error %v after %d questions, want the context's after %d", err, asked, after)
		}
	}
}
