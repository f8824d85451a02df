package svm

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
)

// impatient is a context that ends when it has been asked so often for its error.
type impatient struct {
	context.Context
	cancel context.CancelFunc
	asked  atomic.Int64
	after  int64 // 0: never
}

func newImpatient(t *testing.T, after int64) *impatient {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return &impatient{Context: ctx, cancel: cancel, after: after}
}

func (i *impatient) Err() error {
	if asked := i.asked.Add(1); i.after > 0 && asked >= i.after {
		i.cancel() // a thread that counted further must not find it undone
		return context.Canceled
	}
	return i.Context.Err()
}

// hard is a problem of several classes without any structure, which takes many
// iterations.
func hard(classes int) (gram, []int, []string, []float64) {
	rng := rand.New(rand.NewPCG(61, 0))
	x, codes := blobs(61, 120, 2, classes)
	targets := make([]float64, len(codes))
	for i := range codes {
		codes[i], targets[i] = i%classes, rng.NormFloat64()
	}
	return rbf(1, x, x), codes, names(classes), targets
}

// trainings are all that this package trains, by name.
func trainings() map[string]func(interrupt func() error) error {
	k, codes, classes, targets := hard(3)
	p := Params{C: 10, Tol: 1e-3, CacheBytes: 1}
	nu := NuParams{Nu: 0.5, Tol: 1e-9, CacheBytes: 1}
	return map[string]func(interrupt func() error) error{
		"svc": func(interrupt func() error) error {
			p.Interrupt = interrupt
			_, err := TrainSVC(k, codes, classes, p, nil)
			return err
		},
		"nu-svc": func(interrupt func() error) error {
			nu.Interrupt = interrupt
			_, err := TrainNuSVC(k, codes, classes, nu, nil)
			return err
		},
		"one-class": func(interrupt func() error) error {
			nu.Interrupt = interrupt
			_, err := TrainOneClass(k, nu)
			return err
		},
		"svr": func(interrupt func() error) error {
			_, err := TrainSVR(k, targets, SVRParams{C: 10, Tol: 1e-3, CacheBytes: 1, Interrupt: interrupt})
			return err
		},
		"calibration": func(interrupt func() error) error {
			p.Interrupt = interrupt
			_, err := Calibrate(k, codes, classes, p, 1)
			return err
		},
	}
}

// A training whose context ends asks once more for each pair that is under way,
// and returns the context's error. The rows of the kernel do not fit the cache, so
// that between two questions lies the reading of one row.
func TestInterrupt(t *testing.T) {
	for name, train := range trainings() {
		whole := newImpatient(t, 0)
		if err := train(whole.Err); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		const after, pairs = 10, 3
		if whole.asked.Load() < 10*after {
			t.Errorf("%s asks %d times; too few for this test", name, whole.asked.Load())
		}
		ctx := newImpatient(t, after)
		err := train(ctx.Err)
		if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "svm: ") {
			t.Errorf("%s: error %v, want the context's", name, err)
		}
		if asked := ctx.asked.Load(); asked > after+pairs {
			t.Errorf("%s has asked %d times, %d after the context ended", name, asked, asked-after)
		}
	}
}

// With all rows in memory the solver asks too, at regular intervals of iterations.
func TestInterruptWithoutReading(t *testing.T) {
	x, codes := blobs(61, 200, 2, 2)
	for i := range codes {
		codes[i] = i % 2
	}
	ctx := newImpatient(t, 0)
	c, err := TrainSVC(rbf(0.05, x, x), codes, names(2), Params{C: 1e5, Interrupt: ctx.Err}, nil)
	if err != nil {
		t.Fatal(err)
	}
	iterations := int64(c.Pairs[0].Report.Iterations)
	if asked := ctx.asked.Load(); iterations < 10*interruptEvery || asked < iterations/interruptEvery {
		t.Errorf("%d questions in %d iterations, want one in %d", asked, iterations, interruptEvery)
	}
}

// A warm start first multiplies all rows of its coefficients, and can be
// interrupted there.
func TestInterruptOfAWarmStart(t *testing.T) {
	k, codes, classes, _ := hard(2)
	p := Params{C: 1, CacheBytes: 1}
	first, err := TrainSVC(k, codes, classes, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := newImpatient(t, 5)
	p.Interrupt = ctx.Err
	if _, err := TrainSVCFrom(first, k, codes, classes, p, nil); !errors.Is(err, context.Canceled) || ctx.asked.Load() != 5 {
		t.Errorf("error %v after %d questions", err, ctx.asked.Load())
	}
}
