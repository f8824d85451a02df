package learner

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/learn/tune"
)

// folder counts the calls of workers. A call of Trials lasts until ctx ends, if it waits.
type folder struct {
	trials, discards int
	waits            bool
}

func (f *folder) Trials(ctx context.Context, _ *Validation, _ func(done, total int) error) ([][][]tune.Trial, error) {
	f.trials++
	if f.waits {
		<-ctx.Done()
	}
	return [][][]tune.Trial{}, ctx.Err()
}

func (f *folder) Discard() error { f.discards++; return nil }

// offered reports whether a job has the processes.
func offered(t *testing.T, w Workers) bool {
	t.Helper()
	trials, err := w.Trials(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return trials != nil
}

// One job at a time has the processes, until it is closed. The end of another job removes none of its files.
func TestTurns(t *testing.T) {
	f := &folder{}
	turns := NewTurns(f)
	first, second := turns.Of(job.ID{1}), turns.Of(job.ID{2})
	if !offered(t, first) || offered(t, second) || !offered(t, first) {
		t.Error("the processes do not work for the first job alone")
	}
	if err := second.Discard(); err != nil || f.discards != 0 {
		t.Errorf("the end of another job removed the first job's files %d times, %v", f.discards, err)
	}
	if err := first.Discard(); err != nil || f.discards != 1 {
		t.Errorf("the end of the job removed its files %d times, %v", f.discards, err)
	}
	if !offered(t, second) || offered(t, first) {
		t.Error("the processes do not work for the second job alone")
	}
	if NewTurns(nil).Of(job.ID{1}) != nil {
		t.Error("a job has workers of a coordinator that has none")
	}
}

// The end of an aborted job waits for its computation, and gives the processes to other jobs for good.
func TestTurnsAfterAnAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &folder{waits: true}
		turns := NewTurns(f)
		aborted := turns.Of(job.ID{1})
		ctx, abort := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := aborted.Trials(ctx, nil, nil)
			ended <- err
		}()
		closed := make(chan error, 1)
		synctest.Wait()
		go func() { closed <- aborted.Discard() }()
		synctest.Wait()
		if len(closed) > 0 {
			t.Error("the job is closed while its computation runs")
		}
		abort()
		if err := <-closed; err != nil || f.discards != 1 {
			t.Errorf("files removed %d times, %v", f.discards, err)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the computation ends with %v", err)
		}
		if _, err := aborted.Trials(ctx, nil, nil); !errors.Is(err, context.Canceled) || f.trials != 1 {
			t.Errorf("a computation that begins too late: %v, %d calls", err, f.trials)
		}
		f.waits = false
		if !offered(t, turns.Of(job.ID{2})) {
			t.Error("the aborted job keeps the processes")
		}
	})
}
