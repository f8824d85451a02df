package coordinator

import (
	"context"
	"errors"
	"sync"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// Rotate begins a new epoch: it has everybody forget each job that a later one could continue, so
// that nobody keeps a seed of rows that the coordinator has. It returns the erased items of each
// job. Jobs that were forgotten before are among them: a crash may have come before all parties
// were told.
func (c *Coordinator) Rotate(ctx context.Context) (map[job.ID]*Forgotten, error) {
	var ended []job.ID
	for _, j := range c.List() {
		switch {
		case j.State == Unreadable || !c.lasts(j):
		case !j.Over():
			return nil, fault.BadInputf("coordinator: job %v is %s, and a later job could continue it; wait for its end, or abort it", j.ID, j.State)
		default:
			ended = append(ended, j.ID)
		}
	}
	done, errs := make([]*Forgotten, len(ended)), make([]error, len(ended))
	var forgetting sync.WaitGroup // at once, since each waits for absent parties
	for i, id := range ended {
		forgetting.Go(func() { done[i], errs[i] = c.Forget(ctx, id) })
	}
	forgetting.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	all := make(map[job.ID]*Forgotten)
	for i, id := range ended {
		all[id] = done[i]
	}
	c.Logger.Info("rotated the epoch: no earlier job can be continued", "jobs", len(all))
	return all, nil
}

// lasts reports whether a later job may continue a job.
func (c *Coordinator) lasts(j Job) bool {
	m, err := method.Of(j.Spec)
	if err != nil {
		return false
	}
	s, err := m.Server(c.cast(j.ID, j.Spec))
	if err != nil {
		return false
	}
	l := s.Later
	return l != nil && l.Lasts()
}
