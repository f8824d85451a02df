package party

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

func (s *fixture) ledger() map[disclosure.State]int {
	s.t.Helper()
	list, err := s.party.Releases.List()
	if err != nil {
		s.t.Fatal(err)
	}
	count := make(map[disclosure.State]int)
	for _, e := range list {
		count[e.State]++
	}
	return count
}

// serve has north's catalogue hold another table from now on.
func (s *fixture) serve(set *dataset.Set) {
	s.party.Load = func(job.ID, job.Data) (method.Table, error) {
		s.loads.Add(1)
		return method.Table{Set: set, Key: dataset.SplitKey{1}}, nil
	}
}

// people is a table of the first n of 20 people.
func people(n int) *dataset.Set {
	set := wdbc()
	for i := range set.X.Rows() {
		set.IDs = append(set.IDs, fmt.Sprint("p", i))
	}
	set.Labels = slices.Clone(set.Labels)
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return set.Subset(rows)
}

// aligning is a job whose first session lets others look for ids.
func aligning(t *testing.T) *job.Job {
	j := byColumns(t, "none")
	j.Prediction = job.Closed
	return j
}

// The first entry already has the kinds that later steps of a job release beside its releases, so that
// an operator sees all of them before anything is revealed.
func TestALedgerListsWhatIsLetOutBeside(t *testing.T) {
	s := newFixture(t, usual())
	s.serve(people(20))
	s.propose(s.proposal(aligning(t), job.ID{1}, 0))
	s.hear(control.KindAcceptance)
	list, err := s.party.Releases.List()
	if err != nil || len(list) != 1 || list[0].Kind != method.ReleaseIDs || !slices.Equal(list[0].Also, []method.ReleaseKind{method.ReleaseCounts, method.ReleaseLabels}) {
		t.Errorf("%+v, %v", list, err)
	}
}

// A coordinator that breaks a session off before anything was sent, and closes the job, has learnt
// nothing: a table of fewer people passes afterwards, and while the job is open it does not.
func TestWhatIsBrokenOffIsNotReleased(t *testing.T) {
	s := newFixture(t, usual())
	j := aligning(t)
	s.serve(people(20))
	first := s.propose(s.proposal(j, job.ID{1}, 0))
	s.hear(control.KindAcceptance)
	if n := s.ledger(); n[disclosure.Admitted] != 1 || len(n) != 1 {
		t.Errorf("ledger %v", n)
	}
	s.serve(people(10))
	s.propose(s.proposal(j, job.ID{2}, 0))
	s.refuses(fault.CodePolicy, "the job awaits its operator's approval: it differs from an earlier one")
	s.tell("hub", first.ID(), control.KindAbort, (&control.Refusal{Notice: fault.Notice{Text: "for fun"}}).Encode())
	s.report()
	s.propose(s.proposal(j, job.ID{3}, 0))
	s.refuses(fault.CodePolicy, "the job awaits its operator's approval: it differs from an earlier one") // the first could go on
	s.tell("hub", control.Topic(job.ID{1}), control.KindClosing, (&control.Closing{Job: job.ID{1}}).Encode())
	s.hear(control.KindClosed)
	s.propose(s.proposal(j, job.ID{3}, 0))
	s.hear(control.KindAcceptance)
	s.tell("hub", control.Topic(job.ID{3}), control.KindClosing, (&control.Closing{Job: job.ID{3}}).Encode())
	s.hear(control.KindClosed)
}

// A hostile coordinator proposes any number of jobs: a party reads its table for 60
// refused proposals within a day, and keeps four held releases.
func TestAttackEndlessProposals(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	s := newFixture(t, usual())
	j := aligning(t)
	s.serve(people(20))
	s.propose(s.proposal(j, job.ID{1}, 0))
	s.hear(control.KindAcceptance)
	for i := range maxRefused + 40 {
		if i%2 == 0 {
			s.serve(people(1 + i%19))
		}
		s.propose(s.proposal(j, job.ID{2, byte(i)}, 0))
		if i < maxRefused {
			s.refuses(fault.CodePolicy, "the job awaits its operator's approval")
		} else {
			s.refuses(fault.CodeFailed, "this party has refused 60 proposals within a day")
		}
	}
	if n := s.loads.Load(); n > maxRefused+1 {
		t.Errorf("the table was read %d times", n)
	}
	if n := s.ledger(); n[disclosure.Held] > 4 {
		t.Errorf("ledger %v", n)
	}
}

// A model is the job's id with its file: the coordinator may use an id twice.
func TestModelsAreKnownByIDAndFile(t *testing.T) {
	open := byColumns(t, "none")
	w := &work{id: job.ID{1}, job: open}
	other := &work{id: job.ID{1}, job: byColumns(t, "standard")}
	asked := &work{id: job.ID{9}, job: open, inquiry: &control.Inquiry{Question: control.Question{Job: job.ID{1}}}}
	if w.modelOf(method.ReleaseProducts) == other.modelOf(method.ReleaseProducts) {
		t.Error("two jobs under one id have one model")
	}
	if w.modelOf(method.ReleaseProducts) != asked.modelOf(method.ReleaseProducts) {
		t.Error("a question is about another model than its job's")
	}
	closed := *open
	closed.Prediction = job.Closed
	if m := (&work{job: &closed}).modelOf(method.ReleaseProducts); m != "" {
		t.Errorf("a closed job has the model %q", m)
	}
}

// An approval that was taken back while a session was open stops its first message, with the ledger's
// reason. A ledger whose folder was moved away records the release.
func TestLetOutAsksAgain(t *testing.T) {
	s := newFixture(t, usual())
	p, l := s.party, s.party.Releases
	release := func(columns ...string) method.Release {
		m := linalg.New[float64](40, len(columns))
		set := &dataset.Set{Name: "own", X: dataset.NewDense(m), Columns: columns}
		return method.Release{Kind: method.ReleaseProducts, Job: "job", Peers: []string{"hub"}, Table: "own", Set: set}
	}
	admit := func(r method.Release) admission {
		t.Helper()
		id, err := l.Admit(disclosure.Asker{}, r, 0)
		if err != nil {
			t.Fatal(err)
		}
		return admission{kind: r.Kind, id: id, out: r}
	}
	if err := p.letOut(admit(release("age", "income"))); err != nil {
		t.Fatal(err)
	}
	var held *disclosure.HeldError
	if _, err := l.Admit(disclosure.Asker{}, release("age"), 0); !errors.As(err, &held) {
		t.Fatal(err)
	}
	if err := l.Approve(held.ID, disclosuretest.Agree); err != nil {
		t.Fatal(err)
	}
	less := admit(release("age"))
	if err := l.Withdraw(held.ID, disclosuretest.Agree); err != nil {
		t.Fatal(err)
	}
	d := &disclosing{note: func() error { return p.letOut(less) }}
	if err := d.Send(t.Context(), protocol.Message{}); fault.CodeOf(err) != fault.CodePolicy || errors.Is(err, driver.ErrInterrupted) || !errors.As(err, &held) {
		t.Errorf("the first message: %v", err)
	}
	if err := os.Rename(string(l), string(l)+".old"); err != nil {
		t.Fatal(err)
	}
	if err := p.letOut(less); err != nil {
		t.Fatal(err)
	}
	if list, err := l.List(); err != nil || len(list) != 1 || list[0].State != disclosure.Released {
		t.Errorf("the new ledger has %+v, %v", list, err)
	}
}
