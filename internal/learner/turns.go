package learner

import (
	"context"
	"sync"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/learn/tune"
)

// Turns lets one job at a time use the processes that compute cells of grids. The job has them from its first grid
// until it is closed. The coordinator computes the cells of all other jobs itself, to the same results, so that no
// job waits for another one. Turns is safe for concurrent use.
type Turns struct {
	workers Workers

	mu     sync.Mutex
	ended  *sync.Cond // signals that a call has ended
	holder job.ID     // zero: no job has the processes
	busy   bool       // the holder's Trials or Discard is running
}

// NewTurns returns the turns of jobs at workers, which can be nil.
func NewTurns(w Workers) *Turns {
	t := &Turns{workers: w}
	t.ended = sync.NewCond(&t.mu)
	return t
}

// turn is the share of one job in Turns.
type turn struct {
	*Turns
	id job.ID
}

var _ Workers = turn{}

// Of returns the workers of a job. It returns nil if there are none.
func (t *Turns) Of(id job.ID) Workers {
	if t.workers == nil {
		return nil
	}
	return turn{t, id}
}

// Trials implements [Workers].
func (t turn) Trials(ctx context.Context, v *Validation, progress func(done, total int) error) ([][][]tune.Trial, error) {
	if !t.begin() {
		return nil, nil
	}
	if err := ctx.Err(); err != nil { // if the job is closed already, nobody else would give the processes back
		t.end(job.ID{})
		return nil, err
	}
	defer t.end(t.id)
	return t.workers.Trials(ctx, v, progress)
}

// Discard implements [Workers]. It leaves the files of another job alone. It waits for the job's own Trials,
// which an abort has interrupted.
func (t turn) Discard() error {
	if !t.begin() {
		return nil
	}
	defer t.end(job.ID{})
	return t.workers.Discard()
}

// begin waits for an earlier call of the same job. It reports whether the job is allowed to use the processes.
func (t turn) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.busy && t.holder == t.id {
		t.ended.Wait()
	}
	if t.holder != (job.ID{}) && t.holder != t.id {
		return false
	}
	t.holder, t.busy = t.id, true
	return true
}

// end leaves the processes to the job holder, or, if holder is zero, to the first job that asks.
func (t turn) end(holder job.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.holder, t.busy = holder, false
	t.ended.Broadcast()
}
