package coordinator

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// perform runs a prepared session and waits for every party's report.
func (c *Coordinator) perform(ctx context.Context, d *conducted) error {
	directory, err := c.directory(ctx, d)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	own := make(chan error, 1)
	if d.run == nil {
		own <- nil
	} else {
		mail, err := c.router.Open(d.session, d.keys, directory)
		if err != nil {
			return err
		}
		go func() { own <- c.drive(ctx, d, mail) }()
	}
	return c.awaitReports(ctx, d, own, cancel)
}

// awaitReports waits for the parties' reports and for the coordinator's own machine. The first
// failure of a party stops the machine, since no party will answer it. The time limit for reports
// begins when the machine has ended, because the machine itself names silent peers.
func (c *Coordinator) awaitReports(ctx context.Context, d *conducted, own <-chan error, cancel context.CancelCauseFunc) error {
	var patience <-chan time.Time
	for patience == nil || !c.allReported(d) {
		select {
		case err := <-own:
			if err != nil {
				return d.withReport(err)
			}
			timer := time.NewTimer(c.reportTime(d))
			defer timer.Stop()
			patience = timer.C
		case in := <-d.inbox:
			err := c.note(d, in.Message)
			c.acknowledge(in)
			if err != nil && patience == nil {
				cancel(protocol.Blame(in.Message.Sender, protocol.KindAborted, err))
				err = graver(err, <-own) // wait until the machine ends, because the caller destroys the session
			}
			if err != nil {
				return err
			}
		case <-ctx.Done():
			err := interrupted(ctx)
			if patience == nil {
				err = errors.Join(err, <-own)
			}
			return err
		case <-patience:
			if d.plan.Absent > 0 {
				return nil // a party without a report counts as absent
			}
			return c.missing(d)
		}
	}
	return nil
}

// allReported reports whether every party that must report has reported.
func (c *Coordinator) allReported(d *conducted) bool {
	names := c.otherMembers(d)
	switch {
	case d.plan.Absent > 0 && d.run.Stayed != nil:
		names = d.run.Stayed()
	case d.plan.Absent > 0:
		names = slices.Collect(maps.Keys(d.accepted))
	}
	return !slices.ContainsFunc(names, func(name string) bool { return name != c.name && d.reports[name] == nil })
}

// withReport adds a party's report to an error that blames the party for its silence.
func (d *conducted) withReport(err error) error {
	var blame *protocol.BlameError
	if !errors.As(err, &blame) || blame.Kind != protocol.KindSilent {
		return err
	}
	if r := d.reports[blame.Party]; r != nil && r.Code != fault.CodeDone {
		return fmt.Errorf("%w; %w", reported(blame.Party, r), err)
	}
	return err
}

// graver chooses the more informative of two errors: a party's report and the machine's error. A
// machine that found a misbehaving party knows more than a party that was stopped.
func graver(report, own error) error {
	var blame *protocol.BlameError
	if errors.As(own, &blame) && blame.Kind != protocol.KindAborted && blame.Kind != protocol.KindSilent {
		return own
	}
	return report
}

// reportTime returns how long the coordinator waits for reports after its own machine has ended.
// Most machines report silent peers after one round, so a member without a report after three rounds
// counts as gone.
func (c *Coordinator) reportTime(d *conducted) time.Duration { return 3 * d.job.Spec.Timeout.Round }

func (c *Coordinator) missing(d *conducted) error {
	for _, name := range c.otherMembers(d) {
		if d.reports[name] == nil {
			return protocol.Blame(name, protocol.KindSilent, fmt.Errorf("the party sent no report for %v", c.reportTime(d)))
		}
	}
	return errors.New("coordinator: all parties have reported, but the session has not ended")
}

// directory sends all parties the signed session keys of the present members.
func (c *Coordinator) directory(ctx context.Context, d *conducted) (control.Directory, error) {
	var list control.Directory
	for _, m := range d.session.Members {
		a := d.accepted[m.Name]
		if m.Name == c.name {
			a = control.Accept(d.session.ID(), c.name, d.keys.Public().Bytes(), c.Identity.SigningKey())
		}
		if a.Member = m.Name; a.Absent() {
			c.Logger.Info("absent", "party", m.Name, "session", d.session.ID().String())
		}
		list = append(list, a)
	}
	if d.plan.Absent > 0 {
		if err := d.kept.Put(vault.Directory, list.Encode()); err != nil {
			return nil, fmt.Errorf("%w: %w", driver.ErrInterrupted, err)
		}
	}
	return list, c.sendDirectory(ctx, d, list)
}

// sendDirectory sends all parties the directory of session keys. It limits the wait for a party
// whose queue is full because the party receives no messages.
func (c *Coordinator) sendDirectory(ctx context.Context, d *conducted, list control.Directory) error {
	limited, cancel := context.WithTimeout(ctx, d.joinTime())
	defer cancel()
	names := c.otherMembers(d)
	for i, err := range c.tellEach(limited, names, d.session.ID(), control.KindDirectory, list.Encode()) {
		switch {
		case err != nil && ctx.Err() != nil:
			return interrupted(ctx)
		case err != nil && limited.Err() != nil && d.plan.Absent == 0:
			return protocol.Blame(names[i], protocol.KindSilent, fmt.Errorf("the party receives no messages: %w", err))
		case err != nil && limited.Err() == nil:
			return err
		}
	}
	return nil
}

// drive runs the coordinator's machine in the session.
func (c *Coordinator) drive(ctx context.Context, d *conducted, mail driver.Mail) error {
	if err := driver.AllowAnew(d.kept, d.run.Machine, d.run.InputHash); err != nil {
		return err
	}
	_, err := driver.Run(ctx, driver.Config{
		Session: d.session, Machine: d.run.Machine, InputHash: d.run.InputHash, Records: d.kept.Records(),
		Log: d.kept, Ledger: c.Vault, Mail: mail, Logger: c.Logger,
		Timeout:  func(t protocol.Timer) time.Duration { return d.plan.Timeout(t, d.job.Spec.Timeout.Round) },
		Progress: func(p protocol.Progress) { c.report(d.job, p) },
	})
	if err != nil {
		return err
	}
	return d.run.Finish()
}

// callOff tells the parties that a session has failed. It does nothing after an interruption: the
// session waits for the next process.
func (c *Coordinator) callOff(ctx context.Context, d *conducted, why error) error {
	if errors.Is(why, driver.ErrInterrupted) {
		return why
	}
	c.router.Forget(d.session.ID())
	if cause := context.Cause(ctx); errors.Is(cause, errAborted) || errors.Is(cause, errDeadline) || errors.Is(cause, errOvertaken) {
		return why // the parties receive the closing of the job or query, so they need no abort of the session
	}
	ctx, cancel := context.WithTimeout(ctx, partingTime)
	defer cancel()
	body := control.Refuse(why).Encode()
	if err := c.tellAll(ctx, c.otherMembers(d), d.session.ID(), control.KindAbort, body); err != nil {
		c.Logger.Warn("could not tell every party that the session has failed", "error", err)
	}
	return why
}

// encodeReports encodes the reports of an ended session.
func encodeReports(reports map[string]*control.Report) []byte {
	var w wire.Writer
	w.Uint32(uint32(len(reports)))
	for name, r := range sortedByKey(reports) {
		w.String(name)
		w.Bytes32(r.Encode())
	}
	return w.Bytes()
}

// sortedByKey returns an iterator over a map in the order of its keys.
func sortedByKey[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

func decodeReports(b []byte) (map[string]*control.Report, error) {
	r := wire.NewReader(b)
	reports := make(map[string]*control.Report)
	for range r.Count(protocol.MaxMembers, 6) {
		name := r.String(protocol.MaxNameBytes)
		report, err := control.DecodeReport(r.Bytes32(1 << 16))
		if err != nil {
			return nil, err
		}
		reports[name] = report
	}
	return reports, r.Close("coordinator: reports of a session")
}
