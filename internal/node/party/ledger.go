package party

import (
	"context"
	"crypto/sha256"
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
	"github.com/mercer-fl/mercer/protocol"
)

// admission is a release that the ledger has admitted.
type admission struct {
	kind       method.ReleaseKind
	id         string
	out        method.Release
	directions int // the most random directions over all jobs
}

func (a admission) same(b admission) bool { return a.kind == b.kind && a.id == b.id }

// letOut makes the ledger note that a release is sent. If the approval was withdrawn meanwhile, or
// the ledger was moved away, letOut asks the ledger to admit the release again.
func (p *Party) letOut(a admission) error {
	err := p.Releases.Release(a.kind, a.id)
	if !errors.Is(err, disclosure.ErrNotAdmitted) {
		return err
	}
	id, err := p.Releases.Admit(a.out, a.directions)
	if err != nil {
		return p.ledgerSays(err)
	}
	return p.Releases.Release(a.kind, id)
}

// admit asks the ledger before anything is released. With the first session of a job it asks for all
// releases of the job that can be described by then, so that a job that awaits approval has revealed
// nothing.
func (p *Party) admit(r *running) ([]admission, error) {
	w := r.work
	policy, err := p.Policy(w.table())
	if err != nil {
		return nil, errUnusable(err)
	}
	if err := p.expect(w, r.stage, r.session.ID(), policy.idsTotal()); err != nil {
		return nil, p.ledgerSays(err)
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
		err = p.unentered(w, control.Place(r.proposal.Stage), policy)
	}
	return list, err
}

// unentered refuses a step that reveals something beside a release if the ledger has no release of the
// job, because no entry would record the disclosure.
func (p *Party) unentered(w *work, step int, policy Policy) error {
	releases, err := w.holder().Releases(step)
	if err != nil || policy.plays(w.job) || len(releases) == 0 {
		return errUnusable(err)
	}
	return fault.Ledger.Of(fmt.Errorf("party: step %s reveals %s, but the ledger has no release of the job that covers it", w.plan[step].Name, releases[0].Kind))
}

// enter asks the ledger to admit the releases of one step of the plan. What is released beside the
// job's releases is disclosed with them.
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
	if policy.Own {
		out.Split = "" // this operator need not be asked
	}
	entry, err := p.Releases.Admit(out, policy.directionsTotal())
	if err != nil {
		return admission{}, p.ledgerSays(err)
	}
	return admission{out.Kind, entry, out, policy.directionsTotal()}, nil
}

// withOne adds a release to a list. It replaces an earlier description of the same release.
func withOne(list []admission, a admission) []admission {
	if i := slices.IndexFunc(list, a.same); i >= 0 {
		list[i] = a
		return list
	}
	return append(list, a)
}

// ledgerSays turns a refusal by the ledger into a refusal by the operator.
func (p *Party) ledgerSays(err error) error {
	var held *disclosure.HeldError
	var ids *disclosure.IDsError
	var directions *disclosure.DirectionsError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &held):
		return fault.Forbidden(err)
	case errors.As(err, &ids), errors.As(err, &directions): // from counts over jobs, and the policy
		return fault.Public(fault.Forbidden(err))
	}
	return fault.Ledger.Of(err)
}

// expect makes the ledger note how many ids other parties may look up in this party's table.
func (p *Party) expect(w *work, st *method.Session, id protocol.SessionID, total int) error {
	if st.Seeks == 0 {
		return nil
	}
	var peers []string
	for _, name := range w.parties() {
		if name != p.Name {
			peers = append(peers, name)
		}
	}
	return p.Releases.Expect(id.String(), peers, st.Seeks, total)
}

// modelOf names the job that releases rows, or whose model predicts them, if rows may be queried later
// or uses are counted. The name covers the job file, because one id may come with two files.
func (w *work) modelOf(kind method.ReleaseKind) string {
	id := w.id
	if w.inquiry != nil {
		id = w.inquiry.Job
	}
	counted := kind == method.ReleaseSums || kind == method.ReleasePhases
	if !counted && (kind != method.ReleaseProducts || w.job.Prediction != job.Open) {
		return ""
	}
	h := sha256.New()
	h.Write(id[:])
	h.Write(w.job.Encode())
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// disclosing is a session's mail. Before the first message that reveals something, the ledger notes the
// session's admitted releases as disclosed.
type disclosing struct {
	driver.Mail
	kinds []string // of messages that reveal something; nil: all
	note  func() error
	noted bool
}

// Send implements [driver.Mail]. If the ledger cannot be written to, the session stays to be resumed.
func (d *disclosing) Send(ctx context.Context, m protocol.Message) error {
	if !d.noted && (d.kinds == nil || slices.Contains(d.kinds, m.Kind)) {
		switch err := d.note(); {
		case fault.CodeOf(err) == fault.CodePolicy: // an approval was taken back
			return err
		case err != nil:
			return fmt.Errorf("%w: %w", driver.ErrInterrupted, err)
		}
		d.noted = true
	}
	return d.Mail.Send(ctx, m)
}

// settle tells the ledger, when a session has ended, how many ids each peer has looked up.
func (p *Party) settle(r *running) error {
	if r.stage == nil || r.stage.Seeks == 0 {
		return nil
	}
	return p.announced(r)
}

// announced tells the ledger how many ids each peer has looked up. For a session that began and cannot
// be rebuilt the number is unknown, and the largest number counts.
func (p *Party) announced(r *running) error {
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

// abandon forgets the releases that were admitted for a job and not disclosed, unless another job has
// an equal release.
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

// needed reports whether another job may disclose a release.
func (p *Party) needed(a admission, but *work) bool {
	for _, other := range p.jobs {
		if other != but && slices.ContainsFunc(other.admission, a.same) {
			return true
		}
	}
	return false
}

// forgetSession makes the ledger forget the name of a session that never runs again.
func (p *Party) forgetSession(r *running) error {
	if r.stage == nil || r.stage.Seeks == 0 {
		return nil
	}
	return p.Releases.Closed(r.session.ID().String())
}

// maxRefused bounds the proposals a day that a party refuses after it has read the table for them. A
// coordinator can make any number, and some refusals reveal something about the rows: a job whose range
// is too narrow for them is refused, so sixteen ranges find the greatest value.
const maxRefused = 60

// refusals are the times of the last such refusals.
type refusals []time.Time

// full reports whether maxRefused proposals were refused within a day, so that no new job is
// considered.
func (f *refusals) full(now time.Time) bool {
	*f = slices.DeleteFunc(*f, func(t time.Time) bool { return now.Sub(t) > 24*time.Hour })
	return len(*f) >= maxRefused
}
