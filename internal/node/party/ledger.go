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

// admission is a release that the ledger has allowed.
type admission struct {
	kind       method.ReleaseKind
	id         string
	out        method.Release
	directions int // the most that it may come to over all jobs
}

func (a admission) same(b admission) bool { return a.kind == b.kind && a.id == b.id }

// letOut notes that a release goes out. Whoever has taken its approval back since, or moved the ledger
// away, has it asked again.
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

// admit asks the ledger before anything is let out. With the first session of a job it asks for all
// releases of the job that can be described by then, so that a held job has told nothing.
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

// unentered refuses a step that tells something beside a release of which the ledger has none: nothing
// would remember that it is out.
func (p *Party) unentered(w *work, step int, policy Policy) error {
	releases, err := w.holder().Releases(step)
	if err != nil || policy.plays(w.job) || len(releases) == 0 {
		return errUnusable(err)
	}
	return fault.Ledger.Of(fmt.Errorf("party: step %s tells %s, and the job has no release that stands for it in the ledger", w.plan[step].Name, releases[0].Kind))
}

// enter asks the ledger for what one step of the plan lets out. What is let out beside the job's
// releases is out with them.
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
		out.Split = "" // whose operator need not be asked
	}
	entry, err := p.Releases.Admit(out, policy.directionsTotal())
	if err != nil {
		return admission{}, p.ledgerSays(err)
	}
	return admission{out.Kind, entry, out, policy.directionsTotal()}, nil
}

// withOne adds a release to a list that has each once, as it was described last.
func withOne(list []admission, a admission) []admission {
	if i := slices.IndexFunc(list, a.same); i >= 0 {
		list[i] = a
		return list
	}
	return append(list, a)
}

// ledgerSays makes of the ledger's no an operator's refusal.
func (p *Party) ledgerSays(err error) error {
	var held *disclosure.HeldError
	var ids *disclosure.IDsError
	var directions *disclosure.DirectionsError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &held):
		return fault.Forbidden(err)
	case errors.As(err, &ids), errors.As(err, &directions): // made of counts of jobs, and of the policy
		return fault.Public(fault.Forbidden(err))
	}
	return fault.Ledger.Of(err)
}

// expect has the ledger note that others may look for ids in this party's table.
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

// modelOf names the job whose rows are let out, or whose model they are predicted by,
// where rows may be asked about later or uses are counted. The name holds the job file:
// one id may come with two.
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

// disclosing is a session's mail, before whose first telling message the ledger notes
// that the session lets out what it was admission to.
type disclosing struct {
	driver.Mail
	kinds []string // of telling messages; nil: all
	note  func() error
	noted bool
}

// Send implements [driver.Mail]. A ledger that cannot be written to leaves the session
// to be resumed.
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

// settle tells the ledger, when a session has ended, how many ids each peer has brought.
func (p *Party) settle(r *running) error {
	if r.stage == nil || r.stage.Seeks == 0 {
		return nil
	}
	return p.announced(r)
}

// announced tells the ledger how many ids each peer has brought. The number is unknown for a
// session that began and cannot be rebuilt, which counts with the largest number.
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

// abandon forgets the releases that a job was admission to and has not let out, unless another job
// lets out an equal one.
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

// needed reports whether another job may let out a release.
func (p *Party) needed(a admission, but *work) bool {
	for _, other := range p.jobs {
		if other != but && slices.ContainsFunc(other.admission, a.same) {
			return true
		}
	}
	return false
}

// forgetSession has the ledger forget the name of a session that never runs again.
func (p *Party) forgetSession(r *running) error {
	if r.stage == nil || r.stage.Seeks == 0 {
		return nil
	}
	return p.Releases.Closed(r.session.ID().String())
}

// maxRefused bounds the proposals a day that a party refuses after it has read the table for them. A
// coordinator can make any number, and some refusals tell of the rows: a job whose range is too
// narrow for them is refused, so that sixteen ranges find the greatest value.
const maxRefused = 60

// refusals are the times of the last proposals that were refused so.
type refusals []time.Time

// full reports whether maxRefused proposals have been refused within a day, so that no
// new job is considered.
func (f *refusals) full(now time.Time) bool {
	*f = slices.DeleteFunc(*f, func(t time.Time) bool { return now.Sub(t) > 24*time.Hour })
	return len(*f) >= maxRefused
}
