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
// The audit record has the decision first. No role is asked, and the submitter of the job may be the same person,
// which the record then says.
func (h Home) ApproveRelease(jobs *job.Reader, release string) error {
	record, by, err := h.decision(jobs)
	if err != nil {
		return err
	}
	return h.approveRelease(record, release, by, true)
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

// approveRelease approves a release, first in the audit record. Unless alone is true, it refuses a person who may
// have submitted a job that has asked for the release.
func (h Home) approveRelease(record *audit.Log, release string, by access.Person, alone bool) error {
	err := h.Releases().Approve(release, func(n disclosure.Listed) error {
		asker, own := n.AskedBy(by)
		if own && !alone {
			return errOwnRelease(asker)
		}
		e := decided(audit.ReleaseApproved, n, asker, by)
		e.Alone = own
		return record.Append(e)
	})
	if errors.Is(err, disclosure.ErrNotHeld) {
		return fault.BadInputf("%s: %w", release, err)
	}
	return err
}

// withdrawRelease withdraws a release or its approval, first in the audit record. Everybody may withdraw what an own
// job asks for, since a withdrawal releases nothing.
func (h Home) withdrawRelease(record *audit.Log, release string, by access.Person) error {
	err := h.Releases().Withdraw(release, func(n disclosure.Listed) error {
		asker, _ := n.AskedBy(by)
		e := decided(audit.ReleaseWithdrawn, n, asker, by)
		e.Outcome = n.State.Words() + " before"
		return record.Append(e)
	})
	if errors.Is(err, disclosure.ErrNotThere) {
		return fault.BadInputf("%s: %w", release, err)
	}
	return err
}

// decided describes a person's decision about a release for which a job asks.
func decided(kind audit.Kind, n disclosure.Listed, asker disclosure.Asker, by access.Person) audit.Event {
	e := audit.Event{
		Kind: kind, Job: asker.Job, Name: n.Job, Table: n.Table, Parties: n.Peers,
		Releases: []audit.Release{{Kind: string(n.Kind), ID: n.ID}}, By: &by,
	}
	if asker.Submitter.Member != "" {
		e.Submitter = &asker.Submitter
	}
	return e
}

// errOwnRelease says why a person cannot approve a release.
func errOwnRelease(asker disclosure.Asker) error {
	return fault.Forbiddenf("you may be %v, who submitted a job that asks for this release, and nobody approves an own one; let another person with the role approver decide, or, if this home has nobody else, write alone: true under roles: in its config.yaml", asker.Submitter)
}
