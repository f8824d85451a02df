package party

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/consent"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/protocol"
)

// Consents stores the operator's decisions about single jobs: a [consent.Decisions].
type Consents interface {
	Put(one consent.Decision) error
	Find(job, spec string) (one consent.Decision, ok bool, err error)
	Remove(job string) error
}

// These are the values of a policy's key "approve".
const (
	approveEach  = "each"  // the operator decides about each job
	approveStudy = "study" // only jobs of approved studies begin
)

// maxAwaiting bounds the jobs that await approval. Their proposals stay in the broker's queue of control messages,
// in which a sender has 64 places. The bound leaves room for the messages that end these and other jobs.
const maxAwaiting = 16

// awaiting is a job that awaits the operator's approval. Its proposal stays with the broker, which delivers
// it again and again.
type awaiting struct {
	id    job.ID
	job   *job.Job
	since time.Time
	file  string // the job's file in its canonical form; kept, because Run needs it at every turn
	hash  string // SHA-256 of the file in hexadecimal
	over  bool   // the coordinator has closed the job

	submitter access.Person // who submitted the job, as the coordinator says
}

// described returns the overview's part of the job.
func (a *awaiting) described() overview.Job {
	return overview.Job{ID: a.id.String(), Name: a.job.Name, State: overview.AwaitsApproval, Submitted: a.since, Parties: a.job.Parties(), Submitter: known(a.submitter)}
}

// errAwaiting says that a job awaits the operator's approval.
var errAwaiting = errors.New("party: the job awaits its operator's approval")

// operatorConsents checks that the operator has approved a job, if its table's policy says
// "approve: each". It returns errAwaiting if the operator has not decided. It runs after the other checks of a
// proposal, so that an operator sees only jobs that would be accepted otherwise.
func (p *Party) operatorConsents(w *work) error {
	if each, err := p.asksOperator(w); err != nil || !each {
		return err
	}
	if p.Consents == nil {
		return errors.New(`party: the policy says "approve: each", and this process keeps no decisions`)
	}
	one, decided, err := p.Consents.Find(w.id.String(), specHash(w.job))
	switch {
	case err != nil:
		return fault.Disk.Of(err)
	case decided && one.Approved:
		return nil
	case decided:
		return control.Rejected(one.Reason)
	case p.awaits[w.id] == nil && p.countAwaiting() >= maxAwaiting:
		return refuse("%d jobs await approval here, and no more are allowed", maxAwaiting)
	}
	// The id belongs to this file from now on. Otherwise the coordinator could close the job while the
	// operator reads its file, and propose another file under the id that the operator then approves.
	return cmp.Or(p.bind(w), errAwaiting)
}

// countAwaiting returns the number of jobs that await approval, without those that are closed.
func (p *Party) countAwaiting() (n int) {
	for _, a := range p.awaits {
		if !a.over {
			n++
		}
	}
	return n
}

// asksOperator reports whether the operator decides about a job that is not open here.
func (p *Party) asksOperator(w *work) (bool, error) {
	if w.inquiry != nil || p.jobs[w.id] != nil || w.job.Study != nil { // the operator has approved the study
		return false, nil
	}
	policy, err := p.Policy(w.table())
	return policy.Approve == approveEach, errUnusable(err)
}

// specHash returns the hash of a job's file.
func specHash(j *job.Job) string { return hashOf(j.Encode()) }

// await leaves a proposal with the broker until the operator has decided. It tells the coordinator once
// why the answer is late.
func (p *Party) await(ctx context.Context, m protocol.Message) error {
	prop, err := control.DecodeProposal(m.Body)
	if err != nil {
		return err
	}
	j, err := p.Reader.Parse("proposal", prop.Spec)
	if err != nil {
		return err
	}
	p.awaits[prop.Job] = &awaiting{id: prop.Job, job: j, since: overview.Now(), file: string(prop.Spec), hash: specHash(j), submitter: prop.Submitter}
	p.Logger.Warn("a job awaits this operator's approval: mercer job list, mercer job approve, mercer job reject", "job", prop.Job.String(), "name", j.Name, "parties", j.Parties(), "submitter", prop.Submitter.String())
	return errors.Join(notNow(errAwaiting), p.tellStall(ctx, m.Session, fault.Approval))
}

// stillAwaits reports whether a proposal is of a job that awaits approval, or did so until the
// coordinator closed it. Then over is true, and nobody needs an answer.
func (p *Party) stillAwaits(m protocol.Message) (awaits, over bool) {
	prop, err := control.DecodeProposal(m.Body)
	if err != nil || p.awaits[prop.Job] == nil {
		return false, false
	}
	a := p.awaits[prop.Job]
	if a.over {
		return true, true // there may be more proposals, of a coordinator that was restarted
	}
	if _, decided, err := p.Consents.Find(prop.Job.String(), a.hash); !decided && err == nil {
		return true, false
	}
	return false, false
}

// useDecision ends the operator's decision about a job, and tells the coordinator that the wait is
// over.
func (p *Party) useDecision(ctx context.Context, m protocol.Message) {
	prop, err := control.DecodeProposal(m.Body)
	if err != nil || p.Consents == nil {
		return
	}
	if p.awaits[prop.Job] != nil {
		delete(p.awaits, prop.Job)
		err = p.tellStall(ctx, m.Session, fault.NoTrouble)
	}
	if err = errors.Join(err, p.Consents.Remove(prop.Job.String())); err != nil {
		p.Logger.Warn("could not end a decision about a job", "job", prop.Job.String(), "error", err)
	}
}

// closeAwaiting notes that the coordinator has closed a job that has not begun here. A decision that the
// job has not used ends, also one that was made before a restart.
func (p *Party) closeAwaiting(id job.ID) error {
	if a := p.awaits[id]; a != nil {
		a.over, a.job, a.file = true, nil, ""
	}
	if p.Consents == nil {
		return nil
	}
	return p.Consents.Remove(id.String())
}

// forgetClosed removes closed jobs. As a rule their proposals have come again meanwhile, each of them several times in
// a second.
func (p *Party) forgetClosed() {
	maps.DeleteFunc(p.awaits, func(_ job.ID, a *awaiting) bool { return a.over })
}

// Approve lets a job begin that awaits approval. It refuses a person who may have submitted the job, unless
// Config.Alone allows that.
func (p *Party) Approve(ctx context.Context, id job.ID, by access.Person) error {
	return p.decide(ctx, audit.Approved, consent.Decision{Job: id.String(), Approved: true, By: by})
}

// Reject refuses a job that awaits approval. The coordinator and the submitter read the reason.
func (p *Party) Reject(ctx context.Context, id job.ID, by access.Person, reason string) error {
	if reason = fault.Printable(reason); reason == "" {
		return fault.BadInputf("a rejection needs a reason, which the coordinator reads")
	}
	return p.decide(ctx, audit.Rejected, consent.Decision{Job: id.String(), Reason: reason, By: by})
}

// decide stores a decision, first in the audit record. It takes effect when the broker delivers the proposal
// again, within some seconds.
func (p *Party) decide(ctx context.Context, kind audit.Kind, d consent.Decision) error {
	return p.inRun(ctx, func(context.Context) error {
		id, err := job.ParseID(d.Job)
		a := p.awaits[id]
		if err != nil || a == nil || a.over {
			return fault.BadInputf("no job %s awaits approval here; see mercer job list", d.Job)
		}
		e := p.jobEvent(kind, &work{id: id, job: a.job, submitter: a.submitter})
		e.By, e.Outcome, e.Alone = &d.By, d.Reason, d.Approved && d.By.MayBe(a.submitter)
		if e.Alone && (p.Alone == nil || !p.Alone()) {
			return errOwnJob(a.submitter)
		}
		if err := p.Audit.Append(e); err != nil {
			return err
		}
		d.Spec, d.Name, d.Time = a.hash, a.job.Name, time.Now().UTC()
		return p.Consents.Put(d)
	})
}

// errOwnJob says why a person cannot approve a job.
func errOwnJob(submitter access.Person) error {
	return fault.Forbiddenf("you may be %v, who submitted this job, and nobody approves an own job; let another person with the role \"approver\" decide, or, if this home has nobody else, write \"alone: true\" under \"roles\" in its config.yaml", submitter)
}

// known returns the submitter of a job, or nil if the coordinator has not said who it was.
func known(submitter access.Person) *access.Person {
	if submitter.Member == "" {
		return nil
	}
	return &submitter
}
