package coordinator

import (
	"context"
	"slices"

	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/driver"
)

// admitHoldings has a party told what has become of its jobs, one message of each
// party at a time: the others are dropped, since it asks again.
func (c *Coordinator) admitHoldings(ctx context.Context, in driver.Inbound, run func(func())) {
	name := in.Message.Sender
	c.acknowledge(in)
	if len(in.Message.Body) > maxControlBytes || !c.beginNotice(name) {
		return
	}
	run(func() {
		defer c.endNotice(name)
		held, err := control.DecodeHoldings(in.Message.Body)
		if err != nil {
			c.complain("a list of jobs that cannot be read", name, "error", err)
			return
		}
		for _, h := range held {
			if err := c.tellState(ctx, name, h); err != nil {
				c.Logger.Warn("could not tell a party what has become of a job", "party", name, "job", h.Job.String(), "error", err)
				return
			}
		}
	})
}

func (c *Coordinator) beginNotice(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.notices[name] {
		return false
	}
	c.notices[name] = true
	return true
}

func (c *Coordinator) endNotice(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.notices, name)
}

// tellState repeats to a party how a job ended of which the party still has something.
// A job that is not over needs no such message.
func (c *Coordinator) tellState(ctx context.Context, party string, h control.Holding) error {
	closing, forget, err := c.fate(party, h)
	switch {
	case err != nil:
		return err
	case closing != nil:
		return c.router.Tell(ctx, party, control.Topic(h.Job), control.KindClosing, closing.Encode())
	case forget:
		return c.router.Tell(ctx, party, control.Topic(h.Job), control.KindForget, (&control.Forget{Job: h.Job}).Encode())
	}
	return nil
}

// fate returns the message that a party must hear of a job: its closing, or that it is to be forgotten.
func (c *Coordinator) fate(party string, h control.Holding) (closing *control.Closing, forget bool, err error) {
	c.mu.Lock()
	known, deleted, answering := c.jobs[h.Job], c.deleted[h.Job], c.questions.answers(h.Job)
	var j Job
	if known != nil {
		j = *known
	}
	c.mu.Unlock()
	switch {
	case known == nil && h.Open && !answering:
		// Of a question, of a job that was deleted, or lost with this machine's disk.
		return &control.Closing{Job: h.Job, Outcome: "the coordinator does not run this job any more"}, false, nil
	case known == nil:
		return nil, deleted && !h.Open, nil
	case j.State == Unreadable || !j.Over() || !slices.Contains(j.Spec.Parties(), party):
		return nil, false, nil
	case h.Open:
		closing, err = c.closing(&j)
		return closing, false, err
	}
	return nil, j.Forgotten, nil
}
