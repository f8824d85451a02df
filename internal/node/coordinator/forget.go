package coordinator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/retention"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// Forgotten lists the items of a job that were erased, here and at the parties.
type Forgotten struct {
	Here    []string            // items that the coordinator has now erased
	Parties map[string][]string // items that each confirming party has now erased, by the party's name
	Silent  []string            // names of the parties that have not confirmed, or are no longer in the roster
}

// Forget destroys a finished job's artifacts at the coordinator and at every party. The artifacts
// are the job's model, its decisions, the state from which a later job continues, and the state for
// prediction queries. The result stays, until [Coordinator.Delete]. If a party does not answer, the
// broker delivers the request when the party is back. If that fails, the coordinator repeats the
// request when the party asks about its jobs. A party that is no longer in the roster gets no
// message, and counts as silent.
func (c *Coordinator) Forget(ctx context.Context, id job.ID) (*Forgotten, error) {
	j, unreadable, err := c.endedJob(id)
	if err != nil {
		return nil, err
	}
	note := func(change func(*Status)) error {
		if unreadable {
			return nil // an unreadable job's status stays as it is
		}
		return c.setStatus(j, func(s *Status) error { change(s); return nil })
	}
	gone, err := c.Artifacts.Erase(id)
	if err != nil {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	f := &Forgotten{Here: names(gone), Parties: make(map[string][]string)}
	if err := note(func(s *Status) { s.Forgotten = true }); err != nil {
		return nil, err
	}
	c.recordErased(id, strings.Join(append([]string{"retained state at all members"}, f.Here...), ", "))
	if unreadable {
		j = c.jobOfAll(id)
	}
	removed := c.notInRoster(j.Spec.Parties())
	forget := control.Forget{Job: id}
	f.Silent, err = c.announce(ctx, j, notice{control.KindForget, forget.Encode(), control.KindForgotten}, func(m protocol.Message) {
		if said, err := control.DecodeForgotten(m.Body); err == nil && said.Job == id {
			f.Parties[m.Sender] = said.Gone
		}
	})
	f.Silent = append(f.Silent, removed...)
	silent := note(func(s *Status) { s.Silent = f.Silent })
	c.Logger.Info("erased what a job retained", "job", id.String(), "here", f.Here, "parties", f.Parties, "silent", f.Silent)
	return f, errors.Join(err, silent)
}

// jobOfAll returns a job with all parties. It replaces a job whose file cannot be read.
func (c *Coordinator) jobOfAll(id job.ID) *Job {
	all := &job.Job{Timeout: job.Timeout{Join: partingTime}}
	all.Data.Partition.Parties = c.roster().Parties()
	return &Job{ID: id, Spec: all}
}

func names(items []vault.Item) []string {
	list := []string{}
	for _, item := range items {
		list = append(list, string(item))
	}
	return list
}

// endedJob returns the job with an id, or an error if the job has not ended.
func (c *Coordinator) endedJob(id job.ID) (j *Job, unreadable bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	j, known := c.jobs[id]
	switch {
	case !known:
		return nil, false, fault.BadInputf("coordinator: %w: %v", ErrNoJob, id)
	case !j.Over():
		return nil, false, fault.BadInputf("coordinator: job %v is %s and has not ended; wait for its end, or abort it", id, j.State)
	}
	return j, j.State == overview.Unreadable, nil
}

// Delete removes a job's artifacts at all members, and its file, status and result at the
// coordinator. It keeps the id, so that the coordinator can still tell a party to erase the job.
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
	if err := c.removeFolder(id); err != nil {
		return f, fmt.Errorf("coordinator: %w", err)
	}
	c.recordErased(id, "file, status and result")
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.jobs, id)
	c.order = slices.DeleteFunc(c.order, func(other job.ID) bool { return other == id })
	c.deleted[id] = true
	return f, nil
}

func (c *Coordinator) grave(id job.ID) string { return filepath.Join(c.graves(), id.String()) }

// removeFolder removes the folder of a deleted job.
func (c *Coordinator) removeFolder(id job.ID) error {
	if err := os.RemoveAll(c.folder(id)); err != nil {
		return err
	}
	return disk.SyncDir(c.Jobs)
}

// keepRetaining regularly erases what is older than its retention time.
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

// retain erases what is older than its retention time. It keeps fits, because they prepare the rows of later jobs.
func (c *Coordinator) retain(ctx context.Context) {
	if c.Retention.IsZero() {
		return
	}
	now, trusted := time.Now(), true
	if c.Today != nil {
		now, trusted = c.Today()
	}
	if !trusted {
		return
	}
	for _, j := range c.List() {
		if !j.Over() || j.Spec.IsFit() || ctx.Err() != nil {
			continue
		}
		if err := c.retainJob(ctx, j, now); err != nil && ctx.Err() == nil {
			c.Logger.Error("could not erase what a job left after its retention time", "job", j.ID.String(), "error", err)
		}
	}
}

// retainJob erases those parts of an ended job that are older than their retention times.
func (c *Coordinator) retainJob(ctx context.Context, j Job, now time.Time) error {
	switch times := c.Retention; {
	case retention.Due(j.Ended, times.Results, now):
		_, err := c.Delete(ctx, j.ID)
		return err
	case j.Forgotten:
		return nil
	case retention.Due(j.Ended, times.Models, now):
		_, err := c.Forget(ctx, j.ID)
		return err
	case retention.Due(j.Ended, times.Predictions, now):
		gone, err := c.Artifacts.EraseItems(j.ID, vault.Decisions)
		if len(gone) > 0 {
			c.recordErased(j.ID, strings.Join(names(gone), ", "))
		}
		return err
	}
	return nil
}

// recordErased adds to the audit record that something of a job was erased. It only logs an error, because the erasure
// cannot be undone.
func (c *Coordinator) recordErased(id job.ID, what string) {
	if err := c.Audit.Append(audit.Event{Kind: audit.Erased, Job: id.String(), Outcome: what}); err != nil {
		c.Logger.Error("could not write the audit record", "event", string(audit.Erased), "job", id.String(), "error", err)
	}
}
