package daemon

import (
	"errors"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
)

// ApproveRelease approves a release that awaits approval, as the user of this process, who can write to the home.
// The audit record has the decision first. The user needs no role, and can be the person who submitted the job; the
// record says so then.
func (h Home) ApproveRelease(jobs *job.Reader, release string) error {
	record, by, err := h.decision(jobs)
	if err != nil {
		return err
	}
	return h.approveRelease(record, release, by, true)
}

// RefuseRelease refuses a release that awaits approval, as the user of this process, who can write to the home. The
// audit record has the decision first, with the reason, which can be "". If a job asks for the release again, it
// awaits approval again.
func (h Home) RefuseRelease(jobs *job.Reader, release, reason string) error {
	record, by, err := h.decision(jobs)
	if err != nil {
		return err
	}
	return h.refuseRelease(record, release, by, reason)
}

// WithdrawRelease withdraws the approval of a release that no session has made yet, or removes a release that awaits
// approval from the list, as the user of this process. The audit record has the withdrawal first.
func (h Home) WithdrawRelease(jobs *job.Reader, release string) error {
	record, by, err := h.decision(jobs)
	if err != nil {
		return err
	}
	return h.withdrawRelease(record, release, by)
}

// decision opens the audit record for a decision of the user of this process, and returns this user.
func (h Home) decision(jobs *job.Reader) (record *audit.Log, by access.Person, err error) {
	c, err := h.Config(jobs)
	if err != nil {
		return nil, by, err
	}
	if by, err = h.operator(c); err != nil {
		return nil, by, err
	}
	record, err = audit.Open(h.AuditPath())
	return record, by, err
}

// approveRelease approves a release, first in the audit record. Unless alone is true, it refuses a person who might
// have submitted a job that has asked for the release.
func (h Home) approveRelease(record *audit.Log, release string, by access.Person, alone bool) error {
	return notThere(release, h.Releases().Approve(release, func(n disclosure.Listed) error {
		asker, own := n.AskedBy(by)
		if own && !alone {
			return errOwnRelease(asker)
		}
		e := releaseEvent(audit.ReleaseApproved, n, by)
		e.Alone = own
		return record.Append(e)
	}))
}

// refuseRelease refuses a release, first in the audit record. The submitter of the job that asks for the release can
// refuse it, too, because nothing leaves the home.
func (h Home) refuseRelease(record *audit.Log, release string, by access.Person, reason string) error {
	return notThere(release, h.Releases().Refuse(release, func(n disclosure.Listed) error {
		e := releaseEvent(audit.ReleaseRefused, n, by)
		e.Outcome = fault.Printable(reason)
		return record.Append(e)
	}))
}

// withdrawRelease withdraws a release or its approval, first in the audit record. The submitter of the job that asks
// for the release can do so, too, because a withdrawal releases nothing.
func (h Home) withdrawRelease(record *audit.Log, release string, by access.Person) error {
	return notThere(release, h.Releases().Withdraw(release, func(n disclosure.Listed) error {
		e := releaseEvent(audit.ReleaseWithdrawn, n, by)
		e.Outcome = n.State.Words() + " before"
		return record.Append(e)
	}))
}

// releaseEvent describes a decision about a release for the audit record. Of the jobs that have asked for the release
// it names the latest that the person might have submitted, or else the latest.
func releaseEvent(kind audit.Kind, n disclosure.Listed, by access.Person) audit.Event {
	asker, _ := n.AskedBy(by)
	e := audit.Event{
		Kind: kind, Job: asker.Job, Name: n.Job, Table: n.Table, Parties: n.Peers,
		Releases: []audit.Release{{Kind: string(n.Kind), ID: n.ID}}, By: &by,
	}
	if asker.Submitter.Member != "" {
		e.Submitter = &asker.Submitter
	}
	return e
}

// notThere marks the error for a release about which nobody can decide as a fault of the caller.
func notThere(release string, err error) error {
	if errors.Is(err, disclosure.ErrNotHeld) || errors.Is(err, disclosure.ErrNotThere) {
		return fault.BadInputf("%s: %w", release, err)
	}
	return err
}

// errOwnRelease returns the error that a person cannot approve a release for which the person's own job might
// have asked.
func errOwnRelease(asker disclosure.Asker) error {
	return fault.Forbiddenf("you may be %v, who submitted a job that asks for this release, and nobody can approve a release for their own job; let another person with the role approver decide, or, if this home has nobody else, write \"alone: true\" under \"roles\" in its config.yaml", asker.Submitter)
}
