package daemon

import (
	"errors"
	"os"

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
	c, err := h.Config(jobs)
	if err != nil {
		return err
	}
	members, err := h.ApprovedRoster()
	if err != nil {
		return err
	}
	uid := os.Getuid()
	by := access.Person{Member: c.Name, UID: &uid}
	if members != nil {
		by.Machine = access.ThisMachine(members.Federation)
	}
	record, err := audit.Open(h.AuditPath())
	if err != nil {
		return err
	}
	return h.approveRelease(record, release, by, true)
}

// approveRelease approves a release, first in the audit record. Unless alone is true, it refuses a person who may
// have submitted a job that has asked for the release.
func (h Home) approveRelease(record *audit.Log, release string, by access.Person, alone bool) error {
	err := h.Releases().ApproveIf(release, func(n disclosure.Listed) error {
		asker, own := n.AskedBy(by)
		if own && !alone {
			return errOwnRelease(asker)
		}
		e := audit.Event{
			Kind: audit.ReleaseApproved, Job: asker.Job, Name: n.Job, Table: n.Table, Parties: n.Peers,
			Releases: []audit.Release{{Kind: string(n.Kind), ID: release}}, By: &by, Alone: own,
		}
		if asker.Submitter.Member != "" {
			e.Submitter = &asker.Submitter
		}
		return record.Append(e)
	})
	if errors.Is(err, disclosure.ErrNotHeld) {
		return fault.BadInputf("%s: %w", release, err)
	}
	return err
}

// errOwnRelease says why a person cannot approve a release.
func errOwnRelease(asker disclosure.Asker) error {
	return fault.Forbiddenf("you may be %v, who submitted a job that asks for this release, and nobody approves an own one; let another person with the role approver decide, or, if this home has nobody else, write alone: true under roles: in its config.yaml", asker.Submitter)
}
