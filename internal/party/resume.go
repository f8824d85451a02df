package party

import (
	"context"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/driver"
	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/internal/stage"
	"github.com/mercer-fl/mercer/internal/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// resume takes up the sessions that an earlier process left open. Sessions
// that had ended are replayed, because later stages of the job need what they
// computed; the journal is the only place where that is kept.
func (p *Party) resume(ctx context.Context) error {
	open, lost, err := p.Vault.Open()
	if err != nil {
		return fmt.Errorf("party: %w", err)
	}
	for _, l := range lost {
		p.lose(ctx, l)
	}
	var found []*running
	for _, v := range open {
		r, err := p.reopen(v)
		if err != nil {
			return fmt.Errorf("party: session %v cannot be resumed: %w", v.ID(), err)
		}
		if r.proposal.Stage == session.StagePredict {
			// Its rows were in a request to the process that is gone.
			if err := v.Destroy("the party was restarted"); err != nil {
				return fmt.Errorf("party: %w", err)
			}
			continue
		}
		found = append(found, r)
	}
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

// lose tells the coordinator that a session cannot be run on, so that nobody
// waits for it. What is wrong with the files is for the log only.
func (p *Party) lose(ctx context.Context, l vault.Lost) {
	p.Logger.Error("a session was open and is lost; its secrets are destroyed", "session", l.ID.String(), "error", l.Err)
	report := session.Report{Code: session.CodeFailed, Reason: "the party lost its journal of the session; submit the job again"}
	if err := p.tell(ctx, l.ID, session.KindReport, report.Encode()); err != nil {
		p.Logger.Warn("could not report a lost session", "session", l.ID.String(), "error", err)
	}
}

// reopen reads what a session in the vault is.
func (p *Party) reopen(v vault.Session) (*running, error) {
	body, err := v.Get(vault.Proposal)
	if err != nil {
		return nil, err
	}
	prop, err := session.DecodeProposal(body)
	if err != nil {
		return nil, err
	}
	s, err := protocol.NewSession(prop.Descriptor)
	if err != nil || prop.Stage == session.StagePredict {
		return &running{Session: v, proposal: prop, session: s}, err
	}
	w, err := p.work(prop)
	if err != nil {
		return nil, err
	}
	p.jobs[w.id] = w // the job's other sessions share it
	report, err := v.Get(vault.Report)
	return &running{Session: v, work: w, proposal: prop, session: s, report: report}, err
}

// continueSession brings one session to where it was. A fault in the data or
// the journal ends the session, not the party.
func (p *Party) continueSession(ctx context.Context, r *running) error {
	var err error
	if r.stage, err = p.restage(r); err != nil {
		return p.conclude(ctx, finished{r: r, err: err})
	}
	if r.report != nil {
		p.exchange.Forget(r.ID()) // whatever still comes for it is a repetition
		if err := p.relive(r); err != nil {
			return p.conclude(ctx, finished{r: r, err: err})
		}
		return nil
	}
	body, err := r.Get(vault.Directory)
	if err != nil || body == nil {
		return err // not begun: the coordinator will ask again
	}
	d, err := p.directory(r, body)
	if err != nil {
		return p.conclude(ctx, finished{r: r, err: err})
	}
	return p.start(ctx, r, d)
}

// restage finds out again what a resumed session is.
func (p *Party) restage(r *running) (*stage.Session, error) {
	if err := p.prepare(r.work); err != nil {
		return nil, err
	}
	return p.describe(r.work, r.proposal)
}

// relive takes over the result of a session that had ended well; one that had
// failed has none.
func (p *Party) relive(r *running) error {
	report, err := session.DecodeReport(r.report)
	if err != nil || report.Code != session.CodeDone {
		return err
	}
	run, err := r.stage.Party(r.work.state, protocol.Setup{Session: r.session, Self: p.Name, Seed: r.Seed()})
	if err != nil {
		return err
	}
	if err := driver.Replay(run.Machine, run.InputHash, r.Records()); err != nil {
		return err
	}
	r.done = true
	return run.Finish()
}
