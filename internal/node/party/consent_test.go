package party

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/consent"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// asking is a party whose operator decides about each job.
func asking(t *testing.T) *fixture {
	p := usual()
	p.Approve = approveEach
	s := newFixture(t, p)
	s.party.Consents = consent.Decisions(t.TempDir())
	return s
}

// mara is user 7 of north, and decides about jobs.
var mara = userAt("north", 7)

// userAt is a user of a member with a machine of its own.
func userAt(member string, uid int) access.Person {
	return access.Person{Member: member, Machine: access.Machine(member), UID: &uid}
}

// waits checks that north has told the coordinator that a job waits, and nothing else.
func (s *fixture) waits(want fault.Trouble) {
	s.t.Helper()
	stall, err := control.DecodeStall(s.hear(control.KindStall).Body)
	if err != nil || stall.Member != "north" || stall.Trouble != want {
		s.t.Fatalf("%+v, %v", stall, err)
	}
	if want == fault.Approval && s.foreseen != nil && !s.foreseen.AwaitsApproval {
		s.t.Errorf("a job awaits approval, and its check said %+v", s.foreseen)
	}
}

// awaiting returns the jobs that the overview lists as awaiting approval.
func (s *fixture) awaiting() (list []overview.Job) {
	s.t.Helper()
	if err := s.party.Between(s.t.Context(), func() error { s.party.showJobs(); return nil }); err != nil {
		s.t.Fatal(err)
	}
	jobs, err := s.party.Jobs()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, j := range jobs {
		if j.State == overview.AwaitsApproval {
			list = append(list, j)
		}
	}
	return list
}

// A job that the operator has not decided about leaves no session, no entry of the ledger and no message but
// that it waits. Approved, it begins; the next one with the same file waits again.
func TestAJobAwaitsApproval(t *testing.T) {
	s, made := asking(t), 0
	s.idle()
	s.party.Vault = counted{s.party.Vault, &made}
	s.serve(people(20))
	j := parse(t, "minmax", "{name: okra}", "closed")
	for round := range 2 {
		id := job.ID{byte(round + 1)}
		s.propose(s.proposal(j, id, 0))
		s.waits(fault.Approval)
		s.silent("south", "east")
		list := s.awaiting()
		if len(list) != 1 || list[0].ID != id.String() || made != round || s.ledger()[disclosure.Admitted] != round {
			t.Fatalf("%+v, %d sessions, ledger %v", list, made, s.ledger())
		}
		if file := s.party.AwaitingFile(id.String()); file != string(j.Encode()) {
			t.Errorf("the operator reads the file %q", file)
		}
		if err := s.party.Approve(t.Context(), job.ID{9}, mara); fault.CodeOf(err) != fault.CodeBadInput {
			t.Errorf("another job: %v", err)
		}
		if err := s.party.Approve(t.Context(), id, mara); err != nil {
			t.Fatal(err)
		}
		s.waits(fault.NoTrouble)
		s.hear(control.KindAcceptance)
		if list := s.awaiting(); len(list) != 0 || made != round+1 {
			t.Errorf("%+v, %d sessions", list, made)
		}
	}
	k := s.record.kinds()
	if want := []audit.Kind{audit.Approved, audit.Accepted, audit.Approved, audit.Accepted}; !slices.Equal(k, want) {
		t.Errorf("record %v, want %v", k, want)
	}
	if e := s.record.events[0]; e.By == nil || !e.By.MayBe(mara) || e.Submitter == nil || e.Submitter.MayBe(mara) || e.Spec == "" || e.Name != "tumours" {
		t.Errorf("%+v", e)
	}
}

func TestAJobIsRejected(t *testing.T) {
	s := asking(t)
	j := parse(t, "minmax", "{name: okra}", "closed")
	s.propose(s.proposal(j, job.ID{1}, 0))
	s.waits(fault.Approval)
	if err := s.party.Reject(t.Context(), job.ID{1}, mara, ""); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("without a reason: %v", err)
	}
	if err := s.party.Reject(t.Context(), job.ID{1}, mara, "no ethics vote"); err != nil {
		t.Fatal(err)
	}
	s.foreseen = nil // the operator has decided since
	s.waits(fault.NoTrouble)
	s.refuses(fault.CodePolicy, "the operator has rejected the job: no ethics vote")
	s.propose(s.proposal(j, job.ID{2}, 0)) // the operator is asked anew
	s.waits(fault.Approval)
}

// The operator is not asked about a job that the party refuses anyway.
func TestARefusedJobAwaitsNothing(t *testing.T) {
	s := asking(t)
	s.propose(s.proposal(parse(t, "minmax", "{name: okra}", "open"), job.ID{1}, 0))
	s.refuses(fault.CodePolicy, "the job keeps predictions open")
	if list := s.awaiting(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// Nobody approves an own job, unless the home says that it has nobody else. Everybody may reject one.
func TestTheSubmitterDoesNotApprove(t *testing.T) {
	s, j := asking(t), parse(t, "minmax", "{name: okra}", "closed")
	alone := false
	s.party.Alone = func() bool { return alone }
	prop := s.proposal(j, job.ID{1}, 0)
	prop.Submitter = userAt("hub", 9)
	prop.Submitter.Machine = "here"
	s.propose(prop)
	s.waits(fault.Approval)
	list := s.awaiting()
	if len(list) != 1 || list[0].Submitter == nil || list[0].Submitter.String() != "user 9 at hub" {
		t.Fatalf("%+v", list)
	}
	here := userAt("north", 9)
	here.Machine = "here"
	for _, by := range []access.Person{here, {Member: "north", Machine: "here"}} {
		err := s.party.Approve(t.Context(), job.ID{1}, by)
		if fault.CodeOf(err) != fault.CodePolicy || !strings.Contains(err.Error(), `you may be user 9 at hub, who submitted this job, and nobody approves an own job; let another person with the role "approver" decide, or, if this home has nobody else, write "alone: true"`) {
			t.Errorf("%v: %v", by, err)
		}
	}
	if len(s.record.kinds()) != 0 || len(s.awaiting()) != 1 {
		t.Error("it counts")
	}
	alone = true
	if err := s.party.Approve(t.Context(), job.ID{1}, here); err != nil {
		t.Fatal(err)
	}
	s.waits(fault.NoTrouble)
	s.hear(control.KindAcceptance)
	if e := s.record.events; len(e) < 2 || !e[0].Alone || e[0].By.String() != "user 9 at north" || e[1].Alone || e[1].Submitter.String() != "user 9 at hub" {
		t.Errorf("%+v", e)
	}
}

// A job whose coordinator does not say who submitted it may be anybody's.
func TestAnUnknownSubmitter(t *testing.T) {
	s, j := asking(t), parse(t, "minmax", "{name: okra}", "closed")
	prop := s.proposal(j, job.ID{1}, 0)
	prop.Submitter = access.Person{}
	s.propose(prop)
	s.waits(fault.Approval)
	if err := s.party.Approve(t.Context(), job.ID{1}, mara); fault.CodeOf(err) != fault.CodePolicy {
		t.Errorf("approved: %v", err)
	}
	if err := s.party.Reject(t.Context(), job.ID{1}, mara, "whose is it?"); err != nil {
		t.Error(err)
	}
}

// A decision that cannot be recorded does not count.
func TestADecisionIsRecorded(t *testing.T) {
	s, j := asking(t), parse(t, "minmax", "{name: okra}", "closed")
	s.propose(s.proposal(j, job.ID{1}, 0))
	s.waits(fault.Approval)
	s.record.fail(errFull)
	if err := s.party.Approve(t.Context(), job.ID{1}, mara); err == nil {
		t.Error("it counts")
	}
	s.record.fail(nil)
	if _, decided, err := s.party.Consents.Find(job.ID{1}.String(), specHash(j)); decided || err != nil {
		t.Errorf("decided: %t, %v", decided, err)
	}
	if list := s.awaiting(); len(list) != 1 {
		t.Errorf("%+v", list)
	}
}

// A job that awaits approval costs Run little at each of its turns, of which each waiting job causes ten in a
// second: its file is not encoded again.
func TestAnAwaitingJobCostsLittle(t *testing.T) {
	s := asking(t)
	s.propose(s.proposal(parse(t, "minmax", "{name: okra}", "closed"), job.ID{1}, 0))
	s.waits(fault.Approval)
	var allocated float64
	err := s.party.Between(t.Context(), func() error {
		allocated = testing.AllocsPerRun(100, s.party.showJobs)
		return nil
	})
	if err != nil || allocated > 30 {
		t.Errorf("%g allocations, %v", allocated, err)
	}
}

// Two jobs with one file await one approval each.
func TestAnApprovalIsForOneJob(t *testing.T) {
	s := asking(t)
	j := parse(t, "minmax", "{name: okra}", "closed")
	for i := range 2 {
		s.propose(s.proposal(j, job.ID{byte(i + 1)}, 0))
		s.waits(fault.Approval)
	}
	if err := s.party.Approve(t.Context(), job.ID{2}, mara); err != nil {
		t.Fatal(err)
	}
	s.waits(fault.NoTrouble)
	s.hear(control.KindAcceptance)
	if list := s.awaiting(); len(list) != 1 || list[0].ID != (job.ID{1}).String() {
		t.Errorf("%+v", list)
	}
}

// A job that its coordinator has closed awaits nothing, and cannot be approved. An approval that it has
// not used is gone.
func TestAClosedJobAwaitsNothing(t *testing.T) {
	s := asking(t)
	j := parse(t, "minmax", "{name: okra}", "closed")
	s.propose(s.proposal(j, job.ID{1}, 0))
	s.waits(fault.Approval)
	unused := consent.Decision{Job: job.ID{1}.String(), Spec: specHash(j), Approved: true, Time: time.Now()}
	err := s.party.Between(t.Context(), func() error {
		if err := s.party.Consents.Put(unused); err != nil {
			return err
		}
		return s.party.closeAwaiting(job.ID{1})
	})
	if _, ok, err2 := s.party.Consents.Find(unused.Job, unused.Spec); ok || err != nil || err2 != nil {
		t.Errorf("%t, %v, %v", ok, err, err2)
	}
	s.end(job.ID{1})
	if list := s.awaiting(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	if err := s.party.Approve(t.Context(), job.ID{1}, mara); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("%v", err)
	}
}

// A coordinator cannot have an operator decide about any number of jobs.
func TestAwaitingJobsAreBounded(t *testing.T) {
	s, j := asking(t), parse(t, "minmax", "{name: okra}", "closed")
	err := s.party.Between(t.Context(), func() error {
		for i := range maxAwaiting - 1 {
			s.party.awaits[job.ID{1, byte(i)}] = &awaiting{job: j}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.propose(s.proposal(j, job.ID{2}, 0))
	s.waits(fault.Approval)
	s.propose(s.proposal(j, job.ID{3}, 0))
	s.foreseen = nil
	s.refuses(fault.CodePolicy, "16 jobs await approval here, and no more are allowed")
}

// The coordinator cannot change the file of a job while the operator reads it: after a closing, too, the id
// belongs to the file that has awaited approval.
func TestAnAwaitingJobKeepsItsFile(t *testing.T) {
	s, id := asking(t), job.ID{1}
	s.propose(s.proposal(parse(t, "minmax", "{name: okra}", "closed"), id, 0))
	s.waits(fault.Approval)
	s.end(id)
	time.Sleep(5 * retryDelay) // the broker delivers the proposal once more
	if err := s.party.Between(t.Context(), func() error { s.party.forgetClosed(); return nil }); err != nil {
		t.Fatal(err)
	}
	s.propose(s.proposal(parse(t, "standard", "{name: okra}", "closed"), id, 0))
	s.foreseen = nil // the check does not know the id
	s.refuses(fault.CodePolicy, "the job id already belongs to another job file")
	if err := s.party.Approve(t.Context(), id, mara); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("the operator approves it: %v", err)
	}
}

// A coordinator that was restarted has proposed the job twice. After the closing neither proposal makes the job
// await approval again.
func TestAClosedJobAwaitsNothingTwice(t *testing.T) {
	s, id := asking(t), job.ID{1}
	again := s.proposal(parse(t, "minmax", "{name: okra}", "closed"), id, 0)
	s.propose(again)
	s.waits(fault.Approval)
	s.propose(again)
	s.end(id)
	time.Sleep(5 * retryDelay) // both proposals come again
	s.idle()
	if list := s.awaiting(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// A closing ends a decision that an earlier process has stored, although no proposal has come since.
func TestAClosingEndsAnOldDecision(t *testing.T) {
	s := asking(t)
	old := consent.Decision{Job: job.ID{1}.String(), Spec: "spec", Approved: true, Time: time.Now()}
	if err := s.party.Consents.Put(old); err != nil {
		t.Fatal(err)
	}
	s.end(job.ID{1})
	if _, ok, err := s.party.Consents.Find(old.Job, old.Spec); ok || err != nil {
		t.Errorf("found: %t, %v", ok, err)
	}
}
