package party

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// finished says how a session's driver ended, or why a session ends without its driver.
type finished struct {
	r       *running
	traffic driver.Traffic
	err     error
}

// directory decodes and verifies the session keys of all members.
func (p *Party) directory(r *running, body []byte) (control.Directory, error) {
	d, err := control.DecodeDirectory(body)
	if err != nil {
		return nil, fault.Public(err)
	}
	return d, fault.Public(d.Verify(r.session, p.signer, p.Name, r.keys.Public().Bytes(), r.stage.Absent))
}

// signer returns a member's identity key, or nil for a stranger.
func (p *Party) signer(member string) ed25519.PublicKey {
	key, _ := p.roster().SigningKey(member)
	return key
}

// setup returns the parameters with which the party builds the session's machine.
func (p *Party) setup(ctx context.Context, r *running) method.Setup {
	return method.Setup{
		Setup: protocol.Setup{Session: r.session, Self: p.Name, Seed: r.Seed(), Anew: r.Anew()}, Announced: r.proposal.Announced,
		Sign: func(message []byte) []byte { return ed25519.Sign(p.Identity.SigningKey(), message) },
		Key:  p.signer,

		Interrupt: ctx.Err,
	}
}

// start runs the session in a new goroutine. Until the session has finished, the goroutine owns the
// work's state.
func (p *Party) start(ctx context.Context, r *running, d control.Directory) {
	r.begun, r.active = true, true
	ctx, r.cancel = context.WithCancelCause(ctx)
	p.running.Go(func() {
		traffic, err := p.drive(ctx, r, d)
		p.finished <- finished{r, traffic, err}
	})
}

// drive builds the machine and runs its driver.
func (p *Party) drive(ctx context.Context, r *running, d control.Directory) (driver.Traffic, error) {
	var err error
	if r.run, err = p.build(ctx, r); err != nil {
		return driver.Traffic{}, err
	}
	if err := driver.AllowAnew(r, r.run.Machine, r.run.InputHash); err != nil {
		return driver.Traffic{}, err
	}
	mail, err := p.router.Open(r.session, r.keys, d)
	if err != nil {
		return driver.Traffic{}, err
	}
	return driver.Run(ctx, driver.Config{
		Session: r.session, Machine: r.run.Machine, InputHash: r.run.InputHash, Records: r.Records(),
		Log: r, Ledger: p.Vault, Mail: p.disclose(r, mail), Logger: p.Logger,
		Timeout: func(t protocol.Timer) time.Duration { return r.stage.Timeout(t, r.work.job.Timeout.Round) },
	})
}

// disclose makes the ledger and the audit record note the session's releases before the session sends them.
func (p *Party) disclose(r *running, mail driver.Mail) driver.Mail {
	if len(r.admission) == 0 {
		return mail
	}
	return &disclosing{Mail: mail, kinds: r.stage.Discloses, note: func() error {
		if err := p.drawOnce(r); err != nil {
			return err
		}
		for _, a := range r.admission {
			if err := p.letOut(a); err != nil {
				return err
			}
		}
		return p.Audit.Append(p.sessionEvent(audit.Released, r))
	}}
}

// build builds the session's machine. The party may first have to train for minutes.
func (p *Party) build(ctx context.Context, r *running) (*method.Run, error) {
	run, err := r.work.holder().Build(control.Place(r.proposal.Stage), p.setup(ctx, r))
	if err != nil && ctx.Err() != nil {
		return nil, driver.Interrupted(ctx)
	}
	return run, err
}

// conclude stores the result of a session that has ended, and reports the end to the coordinator. An interruption does
// not end the session: conclude then returns nil if the party stops, and otherwise an error that wraps [ErrStalled].
func (p *Party) conclude(ctx context.Context, f finished) error {
	f.r.active = false
	if f.r.cancel != nil {
		f.r.cancel(nil) // ends the context, because the driver has ended
	}
	if errors.Is(f.err, driver.ErrInterrupted) {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the next process continues the session
		}
		return p.stall(ctx, f)
	}
	f.err = f.r.stalls.Explain(f.err, p.boss, time.Now(), f.r.work.job.Timeout.Round)
	p.router.Forget(f.r.ID()) // drops later messages of the session, which nobody needs any more
	if f.r.question != nil {
		return p.answered(ctx, f)
	}
	if f.err == nil {
		f.err = p.finish(f.r)
	}
	f.r.done, f.r.failed = f.err == nil, f.err
	p.recordEnd(f)
	if f.err != nil {
		p.failed(f.err)
	}
	if err := p.settle(f.r); err != nil {
		p.Logger.Error("the ledger of releases could not note how a session ended", "session", f.r.ID().String(), "error", err)
	}
	p.auditEnd(f)
	f.r.report = p.report(f).Encode()
	// The party sends even a report that it could not store. A restart can derive the report again
	// from the journal.
	return errors.Join(f.r.Put(vault.Report, f.r.report), p.tell(ctx, f.r.ID(), control.KindReport, f.r.report))
}

// finish stores the session's result and logs the notices about this party's table.
func (p *Party) finish(r *running) error {
	before := noticesOf(r.work)
	err := r.run.Finish()
	if now := noticesOf(r.work); len(now) > len(before) {
		for _, line := range now[len(before):] {
			p.Logger.Warn("notice about this party's table", "job", r.work.id.String(), "notice", line)
		}
	}
	return err
}

// noticesOf returns a job's notices about this party's own table, or nil if there are none.
func noticesOf(w *work) []string {
	if notices := w.holder().Notices; notices != nil {
		return notices()
	}
	return nil
}

// answered ends a session that answers this party's question, and replies to the caller.
func (p *Party) answered(ctx context.Context, f finished) error {
	q := f.r.question
	if f.err == nil {
		f.err = f.r.run.Finish()
	}
	var a *method.Prediction
	if f.err == nil {
		a, f.err = answer(q.party)
	}
	outcome := "done"
	if f.err != nil {
		outcome = f.err.Error()
	}
	p.reply(q, a, f.err)
	p.auditEnd(f)
	report := p.report(f).Encode()
	p.router.Forget(f.r.ID())
	delete(p.sessions, f.r.ID())
	if err := f.r.Destroy(outcome); err != nil {
		return err
	}
	return p.tell(ctx, f.r.ID(), control.KindReport, report)
}

// logOwn logs a fault that a failed session found in this party's own data. Nobody else learns of
// it, unless it ended the session.
func (p *Party) logOwn(f finished) {
	if f.r.run == nil || f.r.run.Own == nil {
		return
	}
	if own := f.r.run.Own(); own != nil && !errors.Is(f.err, own) {
		p.Logger.Error("this party's table does not match the tables of the other parties", "session", f.r.ID().String(), "error", own)
	}
}

// failed passes the cause of a failure to Config.Failed, unless another member or this party's operator stopped the
// session.
func (p *Party) failed(cause error) {
	var blame *protocol.BlameError
	if p.Failed != nil && !(errors.As(cause, &blame) && blame.Kind == protocol.KindAborted) {
		p.Failed(cause)
	}
}

func (p *Party) report(f finished) *control.Report {
	cpu, rss := p.Usage()
	report := &control.Report{
		Notice: fault.NoticeOf(f.err), PID: uint32(os.Getpid()),
		Sent: uint64(f.traffic.Sent), Received: uint64(f.traffic.Received),
		CPU: cpu - f.r.work.cpu, PeakRSS: rss,
	}
	report.Facts = f.r.work.holder().Facts()
	report.Word = p.figurePermission(f.r.work)
	if f.err != nil {
		report.Blamed = blamed(f.err)
	}
	return report
}

// blamed returns the name of the member that an error blames, or "".
func blamed(err error) string {
	var coded *fault.Error
	var blame *protocol.BlameError
	switch {
	case errors.As(err, &coded) && coded.Blamed != "":
		return coded.Blamed
	case errors.As(err, &blame):
		return blame.Party
	}
	return ""
}

// ErrStalled ends [Party.Run] when this process or its disk cannot continue a session. The session
// is still open: another Party on the same vault continues it.
var ErrStalled = errors.New("party: a session cannot continue here for now")

// tellTime bounds the time for sending the message that this party cannot continue, or continues.
const tellTime = 5 * time.Second

// stall tells the coordinator that this party delays a session, so that the coordinator blames no
// other member. stall returns the error that ends Run.
func (p *Party) stall(ctx context.Context, f finished) error {
	why := fault.Unsaid
	if disk.Failed(f.err) {
		why = fault.Disk
	}
	p.Logger.Error("a session cannot continue here for now", "session", f.r.ID().String(), "error", f.err)
	if err := p.tellStall(ctx, f.r.ID(), why); err != nil {
		p.Logger.Warn("could not report this to the coordinator", "session", f.r.ID().String(), "error", err)
	}
	return fmt.Errorf("%w: %w", ErrStalled, f.err)
}

// postpone puts back a proposal or a directory because of an error of the disk, which may be full. It
// tells the coordinator why the answer is late. The broker delivers the message again until the
// coordinator gives up.
func (p *Party) postpone(ctx context.Context, id protocol.SessionID, why error) error {
	if err := p.tellStall(ctx, id, fault.Disk); err != nil {
		return errors.Join(notNow(why), err)
	}
	return notNow(why)
}

func (p *Party) tellStall(ctx context.Context, id protocol.SessionID, why fault.Trouble) error {
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	return p.tell(ctx, id, control.KindStall, (&control.Stall{Member: p.Name, Trouble: why}).Encode())
}

// stalled notes that another party reports a stall of a session, or the end of a stall.
func (p *Party) stalled(m protocol.Message) error {
	s, err := control.DecodeStall(m.Body)
	r, known := p.sessions[m.Session]
	if err != nil || !known {
		return err
	}
	if r.session.Index(s.Member) < 0 {
		return fmt.Errorf("party: the stall names %q, which is not a member of the session", fault.Printable(s.Member))
	}
	if !r.stalls.Note(s, time.Now()) || s.Trouble == fault.NoTrouble {
		return nil
	}
	if n, tell := p.stalls.Count("", s.Member); tell {
		p.Logger.Warn("another party cannot continue a session for now", "party", s.Member, "so far", n, "session", m.Session.String(), "reason", s.Trouble.Sentence())
	}
	return nil
}
