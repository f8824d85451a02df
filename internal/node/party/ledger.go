package party

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/privacy"
	"github.com/mercer-fl/mercer/protocol"
)

// admitter decides whether a release may be disclosed: a [disclosure.Ledger], which records what it
// admits, or its preview.
type admitter interface {
	Admit(asker disclosure.Asker, r method.Release, maxDirections int) (id string, err error)
	Reserve(r method.Release, budget privacy.Guarantee, recorded []string) (id string, err error)
	Expect(session string, peers []string, most, total int) error
}

// admission is a release that the ledger has admitted.
type admission struct {
	kind       method.ReleaseKind
	id         string
	out        method.Release
	directions int               // limit on the random directions over all jobs
	budget     privacy.Guarantee // for noise: the privacy budget that all jobs on the table share
	asker      disclosure.Asker
}

func (a admission) same(b admission) bool { return a.kind == b.kind && a.id == b.id }

// letOut makes the ledger record that a release is sent. If the approval was withdrawn meanwhile,
// or the ledger was moved away, letOut asks the ledger to admit the release again.
func (p *Party) letOut(a admission) error {
	err := p.Releases.Release(a.kind, a.id)
	if !errors.Is(err, disclosure.ErrNotAdmitted) {
		return err
	}
	id, err := p.enroll(p.Releases, a)
	if err != nil {
		return p.ledgerError(err)
	}
	return p.Releases.Release(a.kind, id)
}

// enroll asks a ledger to admit a release, or to reserve the cost of noise.
func (p *Party) enroll(by admitter, a admission) (id string, err error) {
	if a.kind != method.ReleaseNoise {
		return by.Admit(a.asker, a.out, a.directions)
	}
	recorded, err := p.recordedNoise()
	if err != nil {
		return "", err
	}
	return by.Reserve(a.out, a.budget, recorded)
}

// admit asks the ledger to admit the session's releases. In the first session of a job it asks
// about all releases that can be described by then, so that a job that awaits approval has revealed
// nothing.
func (p *Party) admit(r *running) ([]admission, error) {
	w := r.work
	w.attempt = r.proposal.Descriptor.Attempt
	policy, err := p.Policy(w.table())
	if err != nil {
		return nil, errUnusable(err)
	}
	if err := p.expect(w, r.stage, r.session.ID(), policy.idsTotal()); err != nil {
		return nil, p.ledgerError(err)
	}
	if !w.asked {
		all, err := w.holder().All(p.Name)
		if err != nil {
			return nil, errUnusable(err)
		}
		w.beside = method.Beside(all)
		for i, step := range w.plan {
			if step.Session == nil || !step.Session.Has(p.Name) {
				continue
			}
			if _, err := p.enter(w, i, policy); err != nil {
				return nil, err
			}
		}
		w.asked = true
	}
	list, err := p.enter(w, control.Place(r.proposal.Stage), policy)
	if err == nil && len(list) == 0 {
		err = p.requireRelease(w, control.Place(r.proposal.Stage), policy)
	}
	return list, err
}

// requireRelease refuses a step that reveals rows if the ledger has no release of the job. Without
// a release, no entry would record the disclosure.
func (p *Party) requireRelease(w *work, step int, policy Policy) error {
	releases, err := w.holder().Releases(step)
	if err != nil || policy.plays(w.job) || len(releases) == 0 {
		return errUnusable(err)
	}
	return fault.Ledger.Of(fmt.Errorf("party: step %s reveals %s, but the ledger has no release of the job to cover it", w.plan[step].Name, releases[0].Kind))
}

// enter asks the ledger to admit the releases of one step of the plan. A release that accompanies the
// job's other releases is disclosed with them.
func (p *Party) enter(w *work, step int, policy Policy) (list []admission, err error) {
	releases, err := w.holder().Releases(step)
	if err != nil {
		return nil, errUnusable(err)
	}
	if policy.plays(w.job) {
		return nil, nil
	}
	for _, out := range releases {
		if out.Kind.Beside() {
			for _, a := range w.admission {
				list = withOne(list, a)
			}
			continue
		}
		a, err := p.enterOne(w, out, policy)
		if err != nil {
			return nil, err
		}
		list, w.admission = withOne(list, a), withOne(w.admission, a)
	}
	return list, nil
}

func (p *Party) enterOne(w *work, out method.Release, policy Policy) (admission, error) {
	out.Model, out.Also = w.modelOf(out.Kind), w.beside
	if w.job.Study != nil && w.inquiry == nil {
		out.Study = w.job.Study.Hash()
	}
	if policy.Own {
		out.Split = "" // no approval is needed, because one operator owns all parties' data
	}
	a := admission{kind: out.Kind, out: out, directions: policy.directionsTotal(), asker: disclosure.Asker{Job: w.id.String(), Submitter: w.submitter}}
	if out.Kind == method.ReleaseNoise {
		a.out.Known, a.budget = p.knownBy(w), policy.budget()
	}
	var err error
	if a.id, err = p.enroll(p.admits, a); err != nil {
		return admission{}, p.ledgerError(err)
	}
	return a, nil
}

// withOne adds a release to a list, or replaces an earlier description of the same release.
func withOne(list []admission, a admission) []admission {
	if i := slices.IndexFunc(list, a.same); i >= 0 {
		list[i] = a
		return list
	}
	return append(list, a)
}

// ledgerError marks an error of the ledger as a refusal by the operator's policy or as a failure of
// the ledger.
func (p *Party) ledgerError(err error) error {
	var held *disclosure.HeldError
	var ids *disclosure.IDsError
	var directions *disclosure.DirectionsError
	var budget *disclosure.BudgetError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &held):
		return fault.Forbidden(err)
	case errors.As(err, &ids), errors.As(err, &directions), errors.As(err, &budget): // these errors are public, because they name only counts, costs and the policy
		return fault.Public(fault.Forbidden(err))
	}
	return fault.Ledger.Of(err)
}

// expect makes the ledger note how many ids other parties may look up in this party's table.
func (p *Party) expect(w *work, st *method.Session, id protocol.SessionID, total int) error {
	if st.Seeks == 0 {
		return nil
	}
	return p.admits.Expect(id.String(), p.others(w.parties()), st.Seeks, total)
}

// modelOf names the job to which the ledger attributes a release, or "" if the ledger need not know
// it. The name covers the job file, because one id may come with two files.
func (w *work) modelOf(kind method.ReleaseKind) string {
	id := w.id
	if w.inquiry != nil {
		id = w.inquiry.Job
	}
	counted := kind.Summed() || kind == method.ReleasePhases || kind == method.ReleaseNoise
	if !counted && (kind != method.ReleaseProducts || w.job.Prediction != job.Open) {
		return ""
	}
	h := sha256.New()
	h.Write(id[:])
	h.Write(w.job.Encode())
	if kind == method.ReleaseNoise && w.attempt > 0 { // another attempt draws other noise, which is paid for again
		h.Write(binary.LittleEndian.AppendUint32([]byte("attempt"), w.attempt))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// disclosing sends a session's messages, and has the ledger record the disclosure of the session's
// releases. The record is written before the first message that reveals something.
type disclosing struct {
	driver.Mail
	kinds []string // kinds of messages that count as a disclosure; nil means all kinds
	note  func() error
	noted bool
}

// Send implements [driver.Mail]. If the ledger cannot be written, the session stays open to be
// resumed.
func (d *disclosing) Send(ctx context.Context, m protocol.Message) error {
	if !d.noted && (d.kinds == nil || slices.Contains(d.kinds, m.Kind)) {
		switch err := d.note(); {
		case fault.CodeOf(err) == fault.CodePolicy: // a refusal, for example because the operator has withdrawn an approval
			return err
		case err != nil:
			return fmt.Errorf("%w: %w", driver.ErrInterrupted, err)
		}
		d.noted = true
	}
	return d.Mail.Send(ctx, m)
}

// settle tells the ledger how many ids each peer looked up in a session that has ended.
func (p *Party) settle(r *running) error {
	if r.stage == nil || r.stage.Seeks == 0 {
		return nil
	}
	return p.reportLookups(r)
}

// reportLookups tells the ledger how many ids each peer has looked up. If a session has begun and
// cannot be rebuilt, the number is unknown and the largest possible number counts.
func (p *Party) reportLookups(r *running) error {
	var ids map[string]int
	switch {
	case r.run != nil && r.run.Announced != nil:
		ids = r.run.Announced()
	case r.Session != nil:
		if began, err := r.Get(vault.Directory); began != nil || err != nil {
			return err
		}
	}
	return p.Releases.Announced(r.session.ID().String(), ids)
}

// abandon removes a job's admitted releases from the ledger if no message has disclosed them. It
// keeps a release that another job shares.
func (p *Party) abandon(w *work) error {
	var errs error
	for _, a := range w.admission {
		if !p.needed(a, w) {
			errs = errors.Join(errs, p.Releases.Abandon(a.kind, a.id))
		}
	}
	w.admission, w.asked = nil, false
	return errs
}

// needed reports whether another open job may still disclose a release. The job but does not count.
func (p *Party) needed(a admission, but *work) bool {
	for _, other := range p.jobs {
		if other != but && slices.ContainsFunc(other.admission, a.same) {
			return true
		}
	}
	return false
}

// forgetSession removes from the ledger a session that never runs again.
func (p *Party) forgetSession(r *running) error {
	if r.stage == nil || r.stage.Seeks == 0 {
		return nil
	}
	return p.Releases.Closed(r.session.ID().String())
}

// maxRefused bounds the proposals that a party refuses in a day after it has read the table. A
// coordinator can propose any number of jobs, and some refusals reveal something about the rows: a
// job is refused if its range is too narrow for the rows, so sixteen jobs with different ranges
// find the greatest value. The audit record has at most as many lines about refusals in a day.
const maxRefused = 60

// refusals holds times at which the party refused a proposal.
type refusals []time.Time

// full removes the times that are older than a day, and reports whether maxRefused times are left.
func (f *refusals) full(now time.Time) bool {
	*f = slices.DeleteFunc(*f, func(t time.Time) bool { return now.Sub(t) > 24*time.Hour })
	return len(*f) >= maxRefused
}
