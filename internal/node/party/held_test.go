package party

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// fitting returns jobs that reveal a fit, or a number of people, before they release rows, sums or a model. Those of
// protocol sealed read patients by a dictionary.
func fitting(t *testing.T) map[string]*job.Job {
	t.Helper()
	sums := strings.NewReplacer("{name: svc, C: 10}", "{name: kpca, n_components: 2}", "label: label", "label: none").Replace(fmt.Sprintf(jobFile, "standard", "{name: moments, directions: 8}", "closed"))
	return map[string]*job.Job{
		"okra, standard": parse(t, "standard", "{name: okra}", "closed"),
		"okra, minmax":   parse(t, "minmax", "{name: okra}", "closed"),
		"flake":          parse(t, "minmax", "{name: flake}", "closed"),
		"moments":        jobtest.Parse(t, sums),
		"moments, none":  jobtest.Parse(t, strings.Replace(sums, "scale: standard", "scale: none", 1)),
		"sealed, range":  jobtest.Parse(t, modelled("range", "features: 16", "[north, south, east]")),
		"sealed, none":   jobtest.Parse(t, modelled("none", "features: 16", "[north, south, east]")),
	}
}

// modelled is a job of protocol sealed over patients, with some keys of the protocol.
func modelled(scale, keys, parties string) string {
	return strings.NewReplacer(
		"label: label", "label: {column: label, classes: [a, b]}", "[north, south, east]", parties, "{name: svc, C: 10}", "{name: ridge-classifier}",
		"    scale:", "    schema: {age: {range: [0, 120]}, krea: {range: [1, 400]}, postcode: {range: [10000, 99999]}, bmi: {range: [10, 60]}}\n    scale:",
	).Replace(fmt.Sprintf(jobFile, scale, "{name: sealed, "+keys+"}", "closed"))
}

// people has north hold n people, or 200 patients more for a job with a dictionary, which it approves.
func (s *fixture) people(j *job.Job, n int) *job.Job {
	if j.Data.Schema == nil {
		s.serve(people(n))
		return j
	}
	j = s.dictionaries.Approve(j)
	s.patients(j, methodtest.Patients("north", 200+n))
	return j
}

// counted counts the sessions that a vault has made.
type counted struct {
	vault.Vault
	made *int
}

func (c counted) Create(id protocol.SessionID, seed [32]byte, proposal []byte) (vault.Session, error) {
	*c.made++
	return c.Vault.Create(id, seed, proposal)
}

// silent checks that north has sent another party nothing.
func (s *fixture) silent(names ...string) {
	s.t.Helper()
	for _, name := range names {
		select {
		case in := <-s.others[name].Control():
			s.t.Errorf("north tells %s %v", name, in.Message.Header)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// begin has north accept the first session of a job.
func (s *fixture) begin(j *job.Job, id job.ID) {
	s.t.Helper()
	s.propose(s.proposal(j, id, 0))
	s.hear(control.KindAcceptance)
}

// end has north close a job.
func (s *fixture) end(id job.ID) {
	s.t.Helper()
	s.tell("hub", control.Topic(id), control.KindClosing, (&control.Closing{Job: id}).Encode())
	s.hear(control.KindClosed)
}

// letOut records the admitted releases as disclosed.
func (s *fixture) letOut() {
	s.t.Helper()
	list, err := s.party.Releases.List()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range list {
		if e.State != disclosure.Admitted {
			continue
		}
		if err := s.party.Releases.Release(e.Kind, e.ID); err != nil {
			s.t.Fatal(err)
		}
	}
}

// A coordinator that proposes a job over one patient more gets a refusal with the first session, and
// nothing else: no session is made, and no fit, no number and no other message leaves. An approval
// lets the job begin.
func TestAttackAHeldJobTellsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for name, j := range fitting(t) {
		t.Run(name, func(t *testing.T) {
			s, made := newFixture(t, usual()), 0
			s.idle() // it has begun
			s.party.Vault = counted{s.party.Vault, &made}
			j := s.people(j, 19)
			s.begin(j, job.ID{1})
			if n := s.ledger(); n[disclosure.Admitted] != 1 || len(n) != 1 {
				t.Fatalf("ledger %v before the first session", n)
			}
			s.letOut()
			s.end(job.ID{1})
			s.people(j, 20)
			for i := range 3 {
				s.propose(s.proposal(j, job.ID{2, byte(i)}, 0))
				s.refuses(fault.CodePolicy, "the job awaits its operator's approval: it differs from an earlier one over some of the same rows")
			}
			s.idle()
			s.silent("south", "east")
			if n := s.ledger(); made != 1 || n[disclosure.Released] != 1 || n[disclosure.Held] != 1 || len(n) != 2 {
				t.Errorf("%d sessions, ledger %v", made, n)
			}
			list, err := s.party.Releases.List()
			if err != nil || s.party.Releases.Approve(list[1].ID, disclosuretest.Agree) != nil {
				t.Fatalf("%v: %+v", err, list)
			}
			s.begin(j, job.ID{3})
			if n := s.ledger(); n[disclosure.Admitted] != 1 || n[disclosure.Approved] != 1 {
				t.Errorf("ledger %v after the approval", n)
			}
			s.end(job.ID{3})
			if n := s.ledger(); n[disclosure.Admitted] != 0 || n[disclosure.Approved] != 1 {
				t.Errorf("ledger %v, though nothing was let out", n)
			}
		})
	}
}

// A job that ends with its first session has revealed an order of columns: after its closing a job over
// other people of the table passes, and before it does not.
func TestAJobThatEndsWithItsColumnOrderLeavesNothing(t *testing.T) {
	for name, j := range fitting(t) {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, usual())
			j := s.people(j, 20)
			s.begin(j, job.ID{1})
			s.people(j, 19)
			s.propose(s.proposal(j, job.ID{2}, 0))
			s.refuses(fault.CodePolicy, "the job awaits its operator's approval")
			s.end(job.ID{1})
			if n := s.ledger(); n[disclosure.Admitted]+n[disclosure.Released] != 0 {
				t.Errorf("ledger %v after the closing", n)
			}
			s.begin(j, job.ID{3})
		})
	}
}

// Two open jobs with equal releases share one release: it stays as long as one of them may disclose it.
func TestEqualJobsShareWhatIsAdmitted(t *testing.T) {
	s, j := newFixture(t, usual()), parse(t, "standard", "{name: okra}", "closed")
	s.serve(people(20))
	s.begin(j, job.ID{1})
	s.begin(j, job.ID{2})
	s.end(job.ID{1})
	s.serve(people(19))
	s.propose(s.proposal(j, job.ID{3}, 0))
	s.refuses(fault.CodePolicy, "the job awaits its operator's approval")
	s.end(job.ID{2})
	s.begin(j, job.ID{4})
}

// A dictionary that the operator has not approved is refused before the table is read, so that nothing is
// asked of the ledger: one that is unknown here, one that is approved for another table, and one that was
// revoked.
func TestAttackAnUnapprovedDictionaryIsRefusedUnread(t *testing.T) {
	text := strings.Replace(fmt.Sprintf(jobFile, "none", "{name: okra}", "closed"), "scale:", "schema: {age: {range: [0, 96], outside: missing, missing: drop-row}}\n    scale:", 1)
	var elsewhere jobtest.Dictionaries
	j := elsewhere.Approve(jobtest.Parse(t, text))
	s := newFixture(t, usual())
	s.propose(s.proposal(j, job.ID{1}, 0))
	s.refuses(fault.CodePolicy, "this home has not approved the dictionary")

	s = newFixture(t, usual())
	s.dictionaries.Approve(jobtest.Parse(t, text))
	asked := ""
	s.party.Approved = func(hash, table string) (bool, error) {
		asked = hash + " for " + table
		return false, nil
	}
	s.propose(s.proposal(j, job.ID{1}, 0))
	s.refuses(fault.CodePolicy, "the operator has not approved dictionary columns for this table, or has revoked it")
	if want := j.Data.Dictionary.Hash() + " for " + j.Data.Source; asked != want {
		t.Errorf("the approvals are asked about %q, want %q", asked, want)
	}
	if s.loads.Load() != 0 || len(s.ledger()) != 0 {
		t.Errorf("the table was read %d times, ledger %v", s.loads.Load(), s.ledger())
	}
}
