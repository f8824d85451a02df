package party

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// resume continues the sessions that an earlier process left open. It also replays ended sessions,
// because later stages of the job need their results, and only the journal has these.
func (p *Party) resume(ctx context.Context) error {
	open, lost, err := p.Vault.Open()
	if err != nil {
		return fmt.Errorf("party: %w", err)
	}
	if err := p.Releases.Restart(func(id string) bool {
		return slices.ContainsFunc(open, func(v vault.Session) bool { return v.ID().String() == id })
	}); err != nil {
		return fmt.Errorf("party: %w", err)
	}
	for _, l := range lost {
		p.Logger.Error("a session was open and is lost; its secrets are destroyed", "session", l.ID.String(), "error", l.Err)
		p.lose(ctx, l.ID, fault.Lost)
	}
	var found []*running
	for _, v := range open {
		if v.Anew() != nil {
			p.Logger.Warn("a session has lost its journal and was begun anew", "session", v.ID().String())
		}
		r, err := p.reopen(v)
		var unread *fs.PathError
		switch {
		case errors.As(err, &unread):
			return fmt.Errorf("party: session %v cannot be read: %w", v.ID(), err)
		case err == nil:
			found = append(found, r)
			continue
		}
		p.Logger.Error("a session cannot be resumed; its secrets are destroyed", "session", v.ID().String(), "error", err)
		if err := v.Destroy(err.Error()); err != nil {
			return fmt.Errorf("party: %w", err)
		}
		p.lose(ctx, v.ID(), fault.Restarted)
	}
	p.showJobs()
	slices.SortFunc(found, func(a, b *running) int { return int(a.proposal.Stage) - int(b.proposal.Stage) })
	for _, r := range found {
		if err := p.adopt(r, r.Session); err != nil {
			return fmt.Errorf("party: %w", err)
		}
		if err := p.continueSession(ctx, r); err != nil {
			return fmt.Errorf("party: session %v cannot be resumed: %w", r.ID(), err)
		}
	}
	return nil
}

// lose tells the coordinator that this party cannot continue a session, so that no member waits for
// it. The report names only the kind of trouble; the log has the details.
func (p *Party) lose(ctx context.Context, id protocol.SessionID, why fault.Trouble) {
	report := control.Report{Notice: fault.Notice{Code: fault.CodeFailed, Trouble: why}}
	if err := p.tell(ctx, id, control.KindReport, report.Encode()); err != nil {
		p.Logger.Warn("could not report a lost session", "session", id.String(), "error", err)
	}
}

// reopen reads a session from the vault. An error means that this process cannot resume the session,
// for example because the federation has changed, or because the session is a prediction, whose rows
// were in a request to the former process.
func (p *Party) reopen(v vault.Session) (*running, error) {
	body, err := v.Get(vault.Proposal)
	if err != nil {
		return nil, err
	}
	prop, err := control.DecodeProposal(body)
	if err != nil {
		return nil, err
	}
	s, err := protocol.NewSession(prop.Descriptor)
	if err != nil {
		return nil, err
	}
	if prop.Predicts() {
		return nil, errors.New("party: the rows to predict were lost with the former process; ask for the prediction again")
	}
	w, err := p.work(prop)
	if err != nil {
		return nil, err
	}
	p.jobs[w.id] = w // registers the job for its other sessions
	report, err := v.Get(vault.Report)
	return &running{Session: v, work: w, proposal: prop, session: s, report: report}, err
}

// continueSession restores a session to its last state. A fault in the data or the journal ends the
// session, not the party.
func (p *Party) continueSession(ctx context.Context, r *running) error {
	var err error
	// The checks run again: the policy may have become stricter, or the data may be gone.
	if err = p.stageOf(r); err != nil {
		return p.conclude(ctx, finished{r: r, err: err})
	}
	if r.report != nil {
		p.router.Forget(r.ID()) // drops later messages of the session, which nobody needs any more
		if err := p.replayEnded(ctx, r); err != nil {
			return p.conclude(ctx, finished{r: r, err: err})
		}
		// The former process may have crashed before it sent the report.
		return p.tell(ctx, r.ID(), control.KindReport, r.report)
	}
	body, err := r.Get(vault.Directory)
	if err == nil && body == nil && r.Anew() != nil { // the session had begun, and a coordinator that was not restarted sends the keys only once
		return p.conclude(ctx, finished{r: r, err: fault.Lost.Errorf("party: the keys of the session's members are lost with its journal")})
	}
	if err != nil || body == nil {
		return err // the session has not begun; the coordinator will propose it again
	}
	d, err := p.directory(r, body)
	if err != nil {
		return p.conclude(ctx, finished{r: r, err: err})
	}
	p.start(ctx, r, d)
	if err := p.tellStall(ctx, r.ID(), fault.NoTrouble); err != nil { // ends a stall that the former process may have reported
		p.Logger.Warn("could not report to the coordinator that a session continues", "session", r.ID().String(), "error", err)
	}
	return nil
}

// replayEnded restores the result of a session that ended successfully before the restart. A failed
// session has no result.
func (p *Party) replayEnded(ctx context.Context, r *running) error {
	report, err := control.DecodeReport(r.report)
	if err != nil || report.Code != fault.CodeDone {
		return err
	}
	run, err := p.build(ctx, r)
	if err != nil {
		return err
	}
	if err := driver.Replay(run.Machine, run.InputHash, r.Records()); err != nil {
		return err
	}
	r.done = true
	return run.Finish()
}
