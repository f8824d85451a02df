package kmeans

import (
	"context"
	"errors"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
)

// A clustering whose context ends makes no further round.
func TestInterrupt(t *testing.T) {
	k := kernel.Dense{K: kernel.LinearGram(blobs(200, 2, 0.5, 1))}
	p := Params{Clusters: 6, Restarts: 4, Seed: 1}
	whole, err := Fit(k, p)
	if err != nil {
		t.Fatal(err)
	}
	const after = 3
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := 0
	p.Interrupt = func() error {
		if asked++; asked == after {
			cancel()
		}
		return ctx.Err()
	}
	m, err := Fit(k, p)
	if m != nil || !errors.Is(err, context.Canceled) || asked != after {
		t.Errorf("error %v after %d questions, want the context's", err, asked)
	}
	if whole.Iterations <= after {
		t.Errorf("%d rounds; too few for this test", whole.Iterations)
	}
}
