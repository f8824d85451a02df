package coordinator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// Forgotten lists what was erased of a job, and where.
type Forgotten struct {
	Here    []string            // at the coordinator, now
	Parties map[string][]string // at those that have confirmed, now
	Silent  []string            // parties that have not confirmed
}

// Forget destroys what a finished job left, here and at every party: its model, its
// decisions and everything that questions need. The result stays, until [Coordinator.Delete].
// A party that does not answer is told by the broker when it comes back and, if that
// fails, when it asks what has become of its jobs.
func (c *Coordinator) Forget(ctx context.Context, id job.ID) (*Forgotten, error) {
	j, unreadable, err := c.over(id)
	if err != nil {
		return nil, err
	}
	note := func(change func(*Status)) error {
		if unreadable {
			return nil // it stays as it is
		}
		return c.set(j, func(s *Status) error { change(s); return nil })
	}
	gone, err := c.Artifacts.Erase(id)
	if err != nil {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	f := &Forgotten{Here: names(gone), Parties: make(map[string][]string)}
	if err := note(func(s *Status) { s.Forgotten = true }); err != nil {
		return nil, err
	}
	if unreadable {
		j = c.toAll(id)
	}
	forget := control.Forget{Job: id}
	f.Silent, err = c.announce(ctx, j, notice{control.KindForget, forget.Encode(), control.KindForgotten}, func(m protocol.Message) {
		if said, err := control.DecodeForgotten(m.Body); err == nil && said.Job == id {
			f.Parties[m.Sender] = said.Gone
		}
	})
	silent := note(func(s *Status) { s.Silent = f.Silent })
	c.Logger.Info("forgot what a job left", "job", id.String(), "here", f.Here, "parties", f.Parties, "silent", f.Silent)
	return f, errors.Join(err, silent)
}

// toAll stands for a job of which nobody can read who took part.
func (c *Coordinator) toAll(id job.ID) *Job {
	all := &job.Job{Timeout: job.Timeout{Join: partingTime}}
	all.Data.Partition.Parties = c.parties()
	return &Job{ID: id, Spec: all}
}

func names(items []vault.Item) []string {
	list := []string{}
	for _, item := range items {
		list = append(list, string(item))
	}
	return list
}

// over finds a job that is over.
func (c *Coordinator) over(id job.ID) (j *Job, unreadable bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	j, known := c.jobs[id]
	switch {
	case !known:
		return nil, false, fault.BadInputf("coordinator: %w: %v", ErrNoJob, id)
	case !j.Over():
		return nil, false, fault.BadInputf("coordinator: job %v is %s and not over; wait for its end, or abort it", id, j.State)
	}
	return j, j.State == Unreadable, nil
}

// Delete forgets a job and removes what is left of it here: its file, its status and
// its result. That there was one is remembered, so that parties are told of it.
func (c *Coordinator) Delete(ctx context.Context, id job.ID) (*Forgotten, error) {
	f, err := c.Forget(ctx, id)
	if err != nil {
		return f, err
	}
	if err := disk.MakeDir(c.graves()); err != nil {
		return f, fmt.Errorf("coordinator: %w", err)
	}
	if err := disk.Replace(c.grave(id), nil); err != nil {
		return f, fmt.Errorf("coordinator: %w", err)
	}
	if err := c.bury(id); err != nil {
		return f, fmt.Errorf("coordinator: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.jobs, id)
	c.order = slices.DeleteFunc(c.order, func(other job.ID) bool { return other == id })
	c.deleted[id] = true
	return f, nil
}

func (c *Coordinator) grave(id job.ID) string { return filepath.Join(c.graves(), id.String()) }

// bury removes a deleted job's folder.
func (c *Coordinator) bury(id job.ID) error {
	if err := os.RemoveAll(c.folder(id)); err != nil {
		return err
	}
	return disk.SyncDir(c.Jobs)
}

// keepRetaining deletes jobs when their time is over.
func (c *Coordinator) keepRetaining(ctx context.Context) {
	often := time.NewTicker(retainEvery)
	defer often.Stop()
	for {
		c.retain(ctx)
		select {
		case <-ctx.Done():
			return
		case <-often.C:
		}
	}
}

const retainEvery = time.Hour

// retain deletes the jobs that have been over for longer than the operator keeps
// them, but fits, by which later jobs prepare their rows.
func (c *Coordinator) retain(ctx context.Context) {
	if c.Retention <= 0 {
		return
	}
	for _, j := range c.List() {
		if !j.Over() || j.Spec.IsFit() || j.Ended.IsZero() || time.Since(j.Ended) < c.Retention || ctx.Err() != nil {
			continue
		}
		if _, err := c.Delete(ctx, j.ID); err != nil && ctx.Err() == nil {
			c.Logger.Error("a job whose time is over could not be deleted", "job", j.ID.String(), "error", err)
			continue
		}
		c.Logger.Info("deleted a job whose time was over", "job", j.ID.String(), "retention", c.Retention.String())
	}
}
