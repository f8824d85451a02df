package party

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// running is one session at this party. It exists from the acceptance of the session until the job
// is closed, or the question answered.
type running struct {
	vault.Session
	work      *work
	proposal  *control.Proposal
	step      string
	stage     *method.Session
	session   *protocol.Session
	keys      identity.SessionKeys
	admission []admission // the session's releases that the ledger has admitted
	run       *method.Run
	cancel    context.CancelCauseFunc
	begun     bool      // the driver was started in this process
	active    bool      // the driver is running
	late      bool      // the disk was full or failed when the directory of session keys came
	done      bool      // the session ended successfully
	failed    error     // the error that ended the session, if it ended in this process
	report    []byte    // the report to the coordinator; nil before the session ends
	question  *question // the question that the session answers, or nil
	stalls    control.Stalls
}

// propose answers a proposal. A repeated proposal of an accepted session gets the same answers again.
func (p *Party) propose(ctx context.Context, m protocol.Message) error {
	if r, known := p.sessions[m.Session]; known {
		if err := r.sameJob(m.Body); err != nil {
			return p.decline(ctx, m, err)
		}
		return p.repeat(ctx, r)
	}
	if awaits, over := p.stillAwaits(m); over {
		return nil
	} else if awaits {
		return notNow(errAwaiting)
	}
	r, err := p.consider(m)
	switch {
	case disk.Failed(err):
		return p.postpone(ctx, m.Session, err)
	case errors.Is(err, errAwaiting):
		return p.await(ctx, m)
	}
	p.useDecision(ctx, m)
	if err != nil {
		return p.decline(ctx, m, err)
	}
	p.record(r.work, slog.LevelInfo, "accepted a session", overview.Event{Kind: overview.Accepted, Stage: r.step}, "session", r.ID().String(), "protocol", r.session.Protocol, "purpose", r.session.Purpose)
	return p.accept(ctx, r)
}

// decline refuses a proposal. It sends the coordinator only the public part of the reason.
func (p *Party) decline(ctx context.Context, m protocol.Message, why error) error {
	job, name := p.named(m.Body)
	refusal := control.Refuse(why)
	e := overview.Event{Kind: overview.Refused, Job: job, Name: name, Code: refusal.Code}
	p.History.Record(p.Logger, slog.LevelWarn, "refused a proposal", e, "session", m.Session.String(), "error", why)
	p.auditRefusal(m.Session.String(), m.Body, why)
	p.failed(why)
	return p.tell(ctx, m.Session, control.KindRefusal, refusal.Encode())
}

// named returns the id and the name of the job that a proposal asks for, as far as they can be read.
func (p *Party) named(proposal []byte) (id, name string) {
	prop, err := control.DecodeProposal(proposal)
	if err != nil {
		return "", ""
	}
	if j, err := p.Reader.Parse("proposal", prop.Spec); err == nil {
		name = j.Name
	}
	return prop.Job.String(), name
}

// sameJob refuses a repeated proposal of a session if it carries another job file.
func (r *running) sameJob(body []byte) error {
	prop, err := control.DecodeProposal(body)
	if err == nil && !bytes.Equal(prop.Spec, r.proposal.Spec) {
		err = refuse("the job id already belongs to another job file")
	}
	return err
}

// maxJobs bounds the jobs whose tables and secrets a party holds at a time. Without this bound, a
// coordinator that never closes its jobs could exhaust the party's memory.
const maxJobs = 16

// consider checks a proposal. If it is acceptable, consider stores the session in the vault.
func (p *Party) consider(m protocol.Message) (*running, error) {
	prop, err := control.DecodeProposal(m.Body)
	if err != nil {
		return nil, fault.Public(err)
	}
	s, err := protocol.NewSession(prop.Descriptor)
	if err != nil {
		return nil, err
	}
	if s.ID() != m.Session {
		return nil, fault.Publicf("party: the proposal describes another session than the session in the message's header")
	}
	if prop.Stage == control.StagePredict {
		return p.considerPrediction(prop, s, m.Body)
	}
	r, err := p.judge(prop, s)
	if r == nil {
		return nil, err
	}
	if err == nil {
		err = p.operatorConsents(r.work)
	}
	if err == nil {
		err = p.enterStudy(r.work)
	}
	if err == nil {
		err = p.bind(r.work)
	}
	if err == nil {
		err = p.create(r, m.Body)
	}
	if err != nil {
		return nil, p.cleanUp(r, err)
	}
	if w := r.work; w.question != nil {
		w.question.work = w
	}
	p.consented(r)
	if len(r.work.sessions) == 1 {
		p.warnOfVoids(r.work)
	}
	return r, nil
}

// judge checks a proposal of a session of a job, or of a question that several parties help to answer.
// It returns no session if the proposal left nothing to clean up.
func (p *Party) judge(prop *control.Proposal, s *protocol.Session) (*running, error) {
	w, err := p.work(prop)
	if err != nil {
		return nil, err
	}
	if err := p.notOver(w); err != nil {
		return nil, err
	}
	if p.jobs[w.id] == nil && len(p.jobs) >= maxJobs {
		return nil, fault.Publicf("party: %d jobs are open here, and no more are allowed; the coordinator must close one, or this party's operator must drop one", len(p.jobs))
	}
	if p.jobs[w.id] == nil && p.refusals.full(time.Now()) {
		return nil, fault.Publicf("party: this party has refused %d proposals within a day, and considers no more; try again later, or ask its operator to restart the daemon", maxRefused)
	}
	r := &running{work: w, proposal: prop, session: s}
	return r, p.stageOf(r)
}

// consented logs that the party lets a job continue an earlier job.
func (p *Party) consented(r *running) {
	if next := r.work.holder().Later; next != nil && next.Continues {
		earlier := next.Earlier
		p.Logger.Info("consented to continue an earlier job, as the policy of its table allows",
			"job", r.work.id.String(), "earlier", earlier.String(), "parties", r.work.job.Parties(), "session", r.ID().String(), "stage", r.step)
	}
}

// notOver refuses a job that has already ended here.
func (p *Party) notOver(w *work) error {
	if w.inquiry != nil || p.jobs[w.id] != nil {
		return nil
	}
	return refuseHeld(p.Vault.Unclaimed(protocol.SessionID{}, w.overClaim()), fmt.Sprintf("job %v has ended here, and its id is not used again", w.id))
}

// cleanUp removes everything that a refused proposal left at this party. It removes the session's
// entries from the ledger, and erases the rows that were read for the job, if the job has no other
// session.
func (p *Party) cleanUp(r *running, why error) error {
	err := errors.Join(why, p.settle(r), p.forgetSession(r))
	if p.jobs[r.work.id] == nil {
		err = errors.Join(err, p.abandon(r.work), p.eraseSnapshot(r.work.id))
	}
	return err
}

// stageOf checks a proposal against its job and the operator's policy, reads the job's
// table, and asks the ledger.
func (p *Party) stageOf(r *running) error {
	var err error
	if r.stage, err = p.describe(r.work, r.proposal); err != nil {
		return err
	}
	r.step = r.work.plan[r.proposal.Stage].Name
	if err := p.allowed(r.work); err != nil {
		return err
	}
	if err := p.approved(r.work); err != nil {
		return err
	}
	if err := p.inStudy(r.work); err != nil {
		return err
	}
	if err := p.checkClaims(r.stage, r.proposal); err != nil {
		return err
	}
	if err = p.prepare(r.work); err == nil {
		r.admission, err = p.admit(r)
	}
	if err == nil {
		err = p.roomInStudy(r.work)
	}
	if err != nil && !disk.Failed(err) {
		p.refusals = append(p.refusals, time.Now())
	}
	return err
}

// prepare reads the job's table and builds the party's side of the job. The caller checks the
// policy first, which decides whether the job may use the table.
func (p *Party) prepare(w *work) error {
	if w.side != nil {
		return nil
	}
	if w.inquiry != nil {
		return p.prepareAnswer(w)
	}
	policy, err := p.Policy(w.table())
	if err != nil {
		return errUnusable(err)
	}
	data := w.job.Data
	if !w.job.Labels(p.Name) {
		data.Label = job.NoLabel // this party may have no labels
	}
	load := p.Load
	if w.job.Traits().Streams && p.Stream != nil {
		load = p.Stream
	}
	table, err := load(w.id, data)
	if of := table.Edition; err == nil && of.ID != "" {
		p.Logger.Info("the job uses an edition of the table", "job", w.id.String(), "name", w.job.Name, "table", data.Source, "edition", of.Number)
	}
	if err == nil {
		table.Fit, err = p.keptFit(data.Fit)
	}
	if err == nil {
		table.Alignment, err = p.keptAlignment(data.Partition.AlignedBy)
	}
	if err == nil && !data.Private { // for a private job such a refusal would tell about one row; the job cuts the number instead
		err = checkNumbers(data, table)
	}
	if err != nil {
		return errUnusable(err)
	}
	instance := p.instance(w)
	instance.Limits = policy.Limits.Values()
	if w.side, err = w.method.Party(instance, p.Name, table); err == nil {
		err = p.resumeFrom(w)
	}
	if err != nil {
		w.side = nil
	}
	return errUnusable(err)
}

// checkNumbers refuses a table with numbers of which sums are inexact.
func checkNumbers(data job.Data, table method.Table) error {
	if err := fault.Magnitude.Of(dataset.CheckMagnitude(table.Set, table.HeldOut)); err != nil {
		return err
	}
	if table.Set == nil || data.Scale != job.None {
		return nil
	}
	return fault.Columns.Of(table.Set.CheckSpread())
}

// keptFit returns the fit that a job names, if this party has stored the fit, or nil.
func (p *Party) keptFit(of job.Kept) ([]byte, error) {
	if !of.Named() {
		return nil, nil
	}
	kept, err := p.Retained.Get(of.Job)
	switch {
	case errors.Is(err, vault.ErrNoState):
		return nil, nil
	case err != nil:
		return nil, fault.Kept.Of(err)
	case of.Tells(p.Name):
		return nil, fault.Public(fault.BadInputf("party: the setting \"told\" must not name %s, which keeps the fit of job %v itself; remove this party from \"told\"", p.Name, of.Job))
	}
	return kept, nil
}

// keptAlignment returns the alignment of rows that an earlier job stored here, or nil if there is
// none.
func (p *Party) keptAlignment(by job.ID) ([]byte, error) {
	if by == (job.ID{}) {
		return nil, nil
	}
	kept, err := p.Alignments.Get(by)
	if errors.Is(err, vault.ErrNoState) {
		return nil, nil
	}
	return kept, fault.Kept.Of(err)
}

// resumeFrom loads the state that this party kept of an earlier job, if job w continues that job.
func (p *Party) resumeFrom(w *work) error {
	next := w.holder().Later
	if next == nil || !next.Continues {
		return nil
	}
	rest, err := p.Retained.Get(next.Earlier)
	defer clear(rest)
	if err != nil && !errors.Is(err, vault.ErrNoState) {
		return fault.Kept.Of(err)
	}
	return next.Resume(rest)
}

// allowed checks a job against the policy of its table.
func (p *Party) allowed(w *work) error {
	policy, err := p.Policy(w.table())
	if err != nil {
		return errUnusable(err)
	}
	return policy.Check(w.job, len(w.job.Parties()))
}

// approved checks that the operator has approved the job's dictionary. A job without a dictionary
// must not itself describe the table. A question about the model of an ended job continues after
// a revocation, because its rows are read in the same way as the model's rows. A job without a
// dictionary that began with an earlier program continues, too.
func (p *Party) approved(w *work) error {
	d := w.job.Data.Dictionary
	begun := d == nil && w.job.Data.Schema == nil && p.jobs[w.id] != nil
	if w.inquiry != nil || begun {
		return nil
	}
	if policy, err := p.Policy(w.table()); err != nil || policy.Own {
		return errUnusable(err)
	}
	if why := w.job.OwnWord(); why != nil {
		return fault.Public(fault.Forbidden(why))
	}
	if d == nil {
		return nil
	}
	yes, err := p.Approved(d.Hash(), w.table())
	switch {
	case err != nil:
		return fault.Disk.Of(err)
	case !yes:
		return refuse("the operator has not approved dictionary %s for this table, or has revoked it; run mercer federation dictionary approve FILE with the same file as the other parties", d.Name)
	case w.job.NeedsFit():
		return fault.Public(fault.Forbidden(&fitError{d.Name}))
	}
	return nil
}

// fitError refuses a job that names no fit, although its dictionary leaves something to be fitted. The
// coordinator writes a fit into such a job before it proposes the job.
type fitError struct{ dictionary string }

func (e *fitError) Error() string {
	return fmt.Sprintf("the job must name a fit of dictionary %s, which prepares the job's rows; run a job of kind Fit first, and name that job here", e.dictionary)
}

// checkClaims refuses a session that repeats a contribution which this party must make only once.
// Otherwise the session would fail in its middle.
func (p *Party) checkClaims(st *method.Session, prop *control.Proposal) error {
	s, err := protocol.NewSession(prop.Descriptor)
	if err != nil {
		return err
	}
	err = p.Vault.Unclaimed(s.ID(), st.Claims...)
	var held *journal.HeldError
	switch {
	case errors.As(err, &held):
		return refuse("this party's data were already in a sum for %s, and must not be in a second one", st.Purpose)
	case err != nil:
		return fault.Ledger.Of(err)
	}
	return nil
}

// considerPrediction accepts a session for this party's own question.
func (p *Party) considerPrediction(prop *control.Proposal, s *protocol.Session, body []byte) (*running, error) {
	q := p.asked(s.ID())
	if q == nil || q.job != prop.Job {
		return nil, refuse("this party has not asked for this prediction")
	}
	j, err := p.Reader.Parse("proposal", prop.Spec)
	if err != nil {
		return nil, parseError(err)
	}
	w := &work{id: prop.Job, job: j, side: q.party, plan: q.plan}
	r := &running{work: w, proposal: prop, step: q.plan[0].Name, stage: q.plan[0].Session, session: s, question: q}
	if err := p.allowed(r.work); err != nil {
		return nil, err
	}
	if err := p.create(r, body); err != nil {
		return nil, err
	}
	q.running = r
	return r, nil
}

// create records the party's consent, draws the session's seed, stores the session in the vault and
// adds it to the party's lists.
func (p *Party) create(r *running, body []byte) error {
	if err := p.Audit.Append(p.sessionEvent(audit.Accepted, r)); err != nil {
		return fault.Disk.Of(err)
	}
	label := fmt.Sprintf("%s/%d/%d/%s", r.work.seedName(), r.proposal.Stage, r.proposal.Descriptor.Attempt, p.Name)
	v, err := p.Vault.Create(r.session.ID(), p.Seed(label), body)
	if errors.Is(err, vault.ErrUsed) {
		return err
	}
	if err != nil {
		return fault.Disk.Of(err)
	}
	return p.adopt(r, v)
}

// adopt adds a new or resumed session to the party's lists.
func (p *Party) adopt(r *running, v vault.Session) error {
	keys, err := identity.DeriveSession(v.Seed())
	if err != nil {
		return err
	}
	r.Session, r.keys = v, keys
	if r.question == nil {
		r.work.sessions = append(r.work.sessions, r)
		p.jobs[r.work.id] = r.work
	}
	p.sessions[r.session.ID()] = r
	p.router.Announce(r.session)
	return nil
}

// accept sends the coordinator the session's public key, signed by this party.
func (p *Party) accept(ctx context.Context, r *running) error {
	if err := p.tellHead(ctx); err != nil {
		return err
	}
	a := control.Accept(r.ID(), p.Name, r.keys.Public().Bytes(), p.Identity.SigningKey())
	return p.tell(ctx, r.ID(), control.KindAcceptance, a.Encode())
}

// repeat sends the earlier answer to a proposal again. A coordinator that was restarted asks again.
func (p *Party) repeat(ctx context.Context, r *running) error {
	if err := p.accept(ctx, r); err != nil || r.report == nil {
		return err
	}
	return p.tell(ctx, r.ID(), control.KindReport, r.report)
}

// A job's id belongs to exactly one job file, because releases and retained state are stored under
// the id. Permanent claims record the file, beside the ids of sessions. A question's id follows
// from its content, and each of its sessions can run only once.

// fileID returns the id under which the vault has the claims of a job. It is a hash of the job's id
// and file.
func (w *work) fileID() protocol.SessionID {
	var b wire.Writer
	b.String("mercer/v1/job-file")
	b.Fixed(w.id[:])
	b.Bytes32(w.job.Encode())
	return sha256.Sum256(b.Bytes())
}

func (w *work) idClaim() string { return "job/" + w.id.String() }

func (w *work) overClaim() string { return OverClaim(w.id.String()) }

// OverClaim returns the name that the vault claims when a job has ended at a party. A job whose name is
// claimed is refused.
func OverClaim(job string) string { return "over/" + job }

// bind records permanently that the job's id belongs to its job file.
func (p *Party) bind(w *work) error {
	if w.inquiry != nil {
		return nil
	}
	return refuseHeld(p.Vault.Claim(w.fileID(), w.idClaim()), "the job id already belongs to another job file")
}

// refuseHeld turns the error that another job holds a claim into a refusal with the given text.
func refuseHeld(err error, text string) error {
	var other *journal.HeldError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &other):
		return refuse("%s", text)
	}
	return fault.Ledger.Of(err)
}

// maxAttempts is the largest number of sessions in which a party tries to make one contribution.
// A party must make the contribution only once, so each session but the last ended before the
// contribution. Each session shows the coordinator with whom this party's secrets would be shared,
// so a coordinator that begins many sessions can choose among them (protocol/secagg).
const maxAttempts = 8

// attempt counts the session against maxAttempts for each of its claims. The count never expires.
func (p *Party) attempt(r *running) error {
	for _, name := range r.stage.Claims {
		if err := p.attemptOn(r, name); err != nil {
			return err
		}
	}
	return nil
}

func (p *Party) attemptOn(r *running, name string) error {
	for n := range maxAttempts {
		err := p.Vault.Claim(r.session.ID(), fmt.Sprintf("attempt/%d/%s", n+1, name))
		var held *journal.HeldError
		if !errors.As(err, &held) {
			return err
		}
	}
	return refuse("%d sessions for %s have begun here before, and no more are allowed; each session shows the coordinator with whom this party would share its secrets", maxAttempts, r.stage.Purpose)
}
