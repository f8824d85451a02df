package party

import (
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/control"
)

// A session that cannot be recorded is not accepted, and none is made.
func TestNothingIsAcceptedUnrecorded(t *testing.T) {
	s, made := newFixture(t, usual()), 0
	s.idle()
	s.party.Vault = counted{s.party.Vault, &made}
	s.record.fail(errFull)
	j := parse(t, "minmax", "{name: okra}", "closed")
	s.propose(s.proposal(j, job.ID{1}, 0))
	s.foreseen = nil // the check does not write the record
	s.refuses(fault.CodeFailed, "it cannot write its journal")
	if s.idle(); made != 0 {
		t.Errorf("%d sessions", made)
	}
	if n := s.ledger(); len(n) != 0 {
		t.Errorf("ledger %v", n)
	}
	s.record.fail(nil)
	s.propose(s.proposal(j, job.ID{1}, 0))
	s.hear(control.KindAcceptance)
	if k := s.record.kinds(); made != 1 || !slices.Equal(k, []audit.Kind{audit.Accepted}) {
		t.Errorf("%d sessions, record %v", made, k)
	}
}

// A job's events say which file, policy and roster, and what may leave.
func TestTheRecordOfAJob(t *testing.T) {
	s := newFixture(t, usual())
	s.serve(people(20))
	j := aligning(t)
	s.propose(s.proposal(j, job.ID{1}, 0))
	s.hear(control.KindAcceptance)
	s.end(job.ID{1})
	s.propose(s.proposal(parse(t, "minmax", "{name: okra, mode: paper}", "closed"), job.ID{2}, 0))
	s.refuses(fault.CodePolicy, `mode "paper"`)
	if k := s.record.kinds(); !slices.Equal(k, []audit.Kind{audit.Accepted, audit.Closed, audit.Refused}) {
		t.Fatalf("record %v", k)
	}
	first, last := s.record.events[0], s.record.events[2]
	if first.Job != (job.ID{1}).String() || first.Spec == "" || first.Roster == "" || first.Policy == "" || first.Stage == "" || len(first.Parties) != len(j.Parties()) || len(first.Releases) != 1 || first.Releases[0].Kind != "ids" {
		t.Errorf("%+v", first)
	}
	if last.Job != (job.ID{2}).String() || !strings.Contains(last.Outcome, `mode "paper"`) || last.Name != "tumours" {
		t.Errorf("%+v", last)
	}
	changed := usual()
	changed.MinParties = 3
	s.party.Policy = func(string) (Policy, error) { return changed, nil }
	if now := s.party.policyHash("tumours"); now == first.Policy || now == "" {
		t.Errorf("another policy has the hash %s, the first %s", now, first.Policy)
	}
}

// A coordinator that proposes without end fills no disk.
func TestRefusalsHaveABoundedRecord(t *testing.T) {
	s := newFixture(t, Policy{})
	s.idle()
	p := s.proposal(parse(t, "minmax", "{name: okra}", "closed"), job.ID{1}, 0)
	for range maxRefused + 10 {
		s.propose(p)
		s.hear(control.KindRefusal)
	}
	if k := s.record.kinds(); len(k) != maxRefused {
		t.Errorf("%d lines", len(k))
	}
	err := s.party.Between(t.Context(), func() error {
		s.party.declined.refusals = nil // a day has passed
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.propose(p)
	s.hear(control.KindRefusal)
	if last := s.record.events[len(s.record.events)-1]; last.Skipped != 10 {
		t.Errorf("the next line is about %d refusals without a line", last.Skipped)
	}
}
