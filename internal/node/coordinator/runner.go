package coordinator

import (
	"context"
	"slices"
	"sync"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// A runner conducts one job, from its first stage until the job is closed. Jobs without a common party run side
// by side; jobs that share a party run in the order of submission. So at a party one job follows the other, as if
// there were a single runner, and two runners share only what is named here:
//
//   - A party's ledger of releases, editions, approvals and audit record. No two running jobs have a party in
//     common, so a job finds there what all earlier jobs of the party have written.
//   - The vault, with its journals and claims. Each session has its own folder, under an id that covers the
//     job's id. One goroutine at a time creates a session, and the ledger of claims has a lock.
//   - The jobs' folders and artifacts. Each job has its own, and setStatus changes one status at a time.
//   - The fit of a dictionary, and alignments. The job that makes one has a party in common with each job that uses
//     it, so it has ended before these begin. A job that continues an earlier job waits for all earlier jobs.
//   - The router and the inboxes, by session. A full inbox puts a message back, and delays no other session.
//   - The lists of jobs, sessions and events, under locks.
//   - Other processes that compute cells of grids. They work for one job at a time: see learner.Turns.
//   - Processor time and memory. Each job holds matrices of its own, so MaxRunning bounds the memory. A result's
//     processor time is that of whole processes, and includes other jobs that ran meanwhile.
type runner struct {
	stop context.CancelCauseFunc // ends the job; nil before the job's stages begin, and after they have ended
}

// DefaultMaxRunning is the default of Config.MaxRunning.
const DefaultMaxRunning = 4

// startRunners starts a runner for each job that may run now. The function failed receives the error of a
// runner that cannot go on.
func (c *Coordinator) startRunners(ctx context.Context, running *sync.WaitGroup, failed func(error)) {
	for ctx.Err() == nil {
		j := c.takeNext()
		if j == nil {
			return
		}
		running.Go(func() {
			err := c.run(ctx, j)
			c.endRunner(j.ID)
			if err != nil {
				failed(err)
			}
			c.nudge()
		})
	}
}

// takeNext registers a runner for the first job that may run now, and returns the job. It returns nil if no job
// may. A job that an earlier process began is resumed even above the limit, because its parties have begun to wait.
func (c *Coordinator) takeNext() *Job {
	c.mu.Lock()
	defer c.mu.Unlock()
	needed := make(map[string]bool) // the parties of earlier jobs that have not ended
	for _, id := range c.order {
		j := c.jobs[id]
		if j.Over() {
			continue
		}
		free := !slices.ContainsFunc(j.Spec.Parties(), func(party string) bool { return needed[party] })
		if len(needed) > 0 && j.Spec.Protocol.Demands().Continues {
			free = false // the job that it continues may be among the earlier ones, with other parties
		}
		for _, party := range j.Spec.Parties() {
			needed[party] = true
		}
		if free && c.runners[id] == nil && (j.State != overview.Queued || len(c.runners) < c.MaxRunning) {
			c.runners[id] = &runner{}
			return j
		}
	}
	return nil
}

func (c *Coordinator) endRunner(id job.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.runners, id)
}

// stoppable lets [Coordinator.Abort] and the job's deadline stop a job until the returned function is called. The
// returned context ends when the job is stopped.
func (c *Coordinator) stoppable(ctx context.Context, id job.ID) (context.Context, func()) {
	ctx, stop := context.WithCancelCause(ctx)
	c.setStop(id, stop)
	cancel := c.startDeadline(id, stop)
	return ctx, func() {
		cancel()
		c.setStop(id, nil)
		stop(nil)
	}
}

func (c *Coordinator) setStop(id job.ID, stop context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runners[id].stop = stop
}

// stopRunner stops a job whose stages run.
func (c *Coordinator) stopRunner(id job.ID, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.runners[id]; r != nil && r.stop != nil {
		r.stop(why)
	}
}
