package party

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/psi"
)

// A party assumes the default of the protocol's package for a job that says nothing.
func TestDefaultMaxIDs(t *testing.T) {
	if defaultMaxIDs != psi.DefaultMaxIDs {
		t.Errorf("%d ids, and psi has %d", defaultMaxIDs, psi.DefaultMaxIDs)
	}
}

// byColumns is a job by protocol gram, of which everybody keeps a part.
func byColumns(t *testing.T, scale string) *job.Job {
	t.Helper()
	j := parse(t, scale, "{name: okra}", "open")
	j.Data.Partition.By, j.Protocol = job.Columns, jobtest.Protocol(t, "gram")
	if err := all.Reader().Validate(j); err != nil {
		t.Fatal(err)
	}
	return j
}

// withModelPart is a fixture whose party, north, keeps a part of a model.
func withModelPart(t *testing.T, policy Policy) (*fixture, *columns.ModelPart, job.ID) {
	t.Helper()
	s := newFixture(t, policy)
	o := &columns.ModelPart{
		Job: byColumns(t, "none"), Basis: columns.Basis{Parent: protocol.SessionID{9}, Rows: 1, Outputs: 1}, Width: 30, Rows: linalg.New[float64](1, 30),
	}
	id := job.ID{1}
	if err := s.party.Retained.Put(id, o.Encode()); err != nil {
		t.Fatal(err)
	}
	return s, o, id
}

// inquiry proposes the first session of a question about the model part's model.
func (s *fixture) inquiry(o *columns.ModelPart, q *control.Inquiry) *control.Proposal {
	s.t.Helper()
	plan := s.planned(o, q.Asker)
	return &control.Proposal{Job: q.ID(), Spec: o.Job.Encode(), Inquiry: q, Descriptor: plan[0].Session.Descriptor(q.ID(), 0, s.roster.Hash(), 0)}
}

// planned returns the steps of a question about the model part's model.
func (s *fixture) planned(o *columns.ModelPart, asker string) []method.Step {
	s.t.Helper()
	opened, err := o.Job.Protocol.Kind.(*method.Protocol).OpenParty(o.RetainedState(), s.party.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	plan, err := opened.(method.Inquirer).Plan(method.Question{
		Instance: method.Instance{Job: o.Job, Coordinator: "hub", Parties: o.Job.Parties()}, Asker: asker,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return plan
}

func TestInquiriesThatAreRefused(t *testing.T) {
	q := func(asker string, id job.ID) *control.Inquiry {
		return &control.Inquiry{Question: control.Question{Job: id, Rows: 1, Tag: [16]byte{2}}, Asker: asker}
	}
	for name, tt := range map[string]struct {
		policy   Policy
		proposal func(s *fixture, o *columns.ModelPart, id job.ID) *control.Proposal
		code     fault.Code
		want     string
	}{
		"in this party's name": {opened(), func(s *fixture, o *columns.ModelPart, id job.ID) *control.Proposal {
			return s.inquiry(o, q("north", id))
		}, fault.CodePolicy, "has not asked for this prediction"},
		"by a stranger": {opened(), func(s *fixture, o *columns.ModelPart, id job.ID) *control.Proposal {
			p := s.inquiry(o, q("south", id))
			p.Inquiry = q("west", id)
			p.Job = p.Inquiry.ID()
			return p
		}, fault.CodeBadInput, "west cannot query the model, because it took no part in the job"},
		"of another model": {opened(), func(s *fixture, o *columns.ModelPart, _ job.ID) *control.Proposal {
			return s.inquiry(o, q("south", job.ID{7}))
		}, fault.CodeBadInput, "north has no part of the model"},
		"under another name": {opened(), func(s *fixture, o *columns.ModelPart, id job.ID) *control.Proposal {
			p := s.inquiry(o, q("south", id))
			p.Inquiry.Tag[0]++
			return p
		}, fault.CodePolicy, "the proposal's id does not match the question that it carries"},
		"with another job file": {opened(), func(s *fixture, o *columns.ModelPart, id job.ID) *control.Proposal {
			p := s.inquiry(o, q("south", id))
			p.Spec = byColumns(s.t, "standard").Encode()
			return p
		}, fault.CodePolicy, "job file differs from the model's job file"},
		"with another session": {opened(), func(s *fixture, o *columns.ModelPart, id job.ID) *control.Proposal {
			p := s.inquiry(o, q("south", id))
			p.Descriptor.Purpose = "train"
			return p
		}, fault.CodePolicy, "the proposed session differs from the session that the job file describes"},
		"out of order": {opened(), func(s *fixture, o *columns.ModelPart, id job.ID) *control.Proposal {
			p := s.inquiry(o, q("south", id))
			plan := s.planned(o, "south")
			p.Stage, p.Descriptor = 1, plan[1].Session.Descriptor(p.Job, 1, s.roster.Hash(), 0)
			return p
		}, fault.CodeFailed, "stage align has not ended here"},
		"against the policy": {usual(), func(s *fixture, o *columns.ModelPart, id job.ID) *control.Proposal {
			return s.inquiry(o, q("south", id))
		}, fault.CodePolicy, "which this party does not allow (open_prediction in its policy)"},
	} {
		t.Run(name, func(t *testing.T) {
			s, o, id := withModelPart(t, tt.policy)
			s.propose(tt.proposal(s, o, id))
			s.refuses(tt.code, tt.want)
			s.idle()
			if s.loads.Load() != 0 {
				t.Error("the table was read")
			}
		})
	}
}

// asked has north ask about its own rows, and returns the question as the
// coordinator hears it.
func (s *fixture) asked(ctx context.Context, id job.ID) (*control.Inquiry, <-chan error) {
	s.t.Helper()
	rows := wdbc()
	for i := range rows.X.Rows() {
		rows.IDs = append(rows.IDs, fmt.Sprint("p", i))
	}
	ended := make(chan error, 1)
	go func() {
		a, err := s.party.Predict(ctx, id, rows, "")
		if a != nil {
			err = errors.New("there is an answer")
		}
		ended <- err
	}()
	q, err := control.DecodeQuestion(s.hear(control.KindQuestion).Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return &control.Inquiry{Question: *q, Asker: "north"}, ended
}

// A coordinator that says a question is answered before it is has answered nothing.
func TestAnInquiryThatIsClosedEarly(t *testing.T) {
	s, o, id := withModelPart(t, opened())
	q, ended := s.asked(t.Context(), id)
	s.propose(s.inquiry(o, q))
	s.hear(control.KindAcceptance)
	s.tell("hub", control.Topic(q.ID()), control.KindClosing, (&control.Closing{Job: q.ID(), Done: true}).Encode())
	s.hear(control.KindClosed)
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "the query must have one decision for each aligned row") {
		t.Errorf("error %v", err)
	}
	s.propose(s.inquiry(o, q)) // and it is asked once
	s.refuses(fault.CodePolicy, "has not asked for this prediction")
	s.idle()
}

// Once nobody waits, nothing more is done for a question.
func TestAnInquiryThatIsWithdrawn(t *testing.T) {
	s, o, id := withModelPart(t, opened())
	ctx, stop := context.WithCancel(t.Context())
	q, ended := s.asked(ctx, id)
	s.propose(s.inquiry(o, q))
	s.hear(control.KindAcceptance)
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if r := s.report(); r.Code == fault.CodeDone {
		t.Errorf("report %+v", r)
	}
	s.tell("hub", control.Topic(q.ID()), control.KindClosing, (&control.Closing{Job: q.ID(), Outcome: "withdrawn"}).Encode())
	s.hear(control.KindClosed)
	s.idle()
}

// Only the coordinator can have a party forget, and then it has.
func TestForgetting(t *testing.T) {
	s, _, id := withModelPart(t, opened())
	f := &control.Forget{Job: id}
	s.tell("south", control.Topic(id), control.KindForget, f.Encode())
	s.tell("hub", control.Topic(id), control.KindForget, f.Encode()[1:])
	s.idle()
	if _, err := s.party.Retained.Get(id); err != nil {
		t.Fatal(err)
	}
	s.tell("hub", control.Topic(id), control.KindForget, f.Encode())
	s.hear(control.KindForgotten)
	if _, err := s.party.Retained.Get(id); !errors.Is(err, vault.ErrNoState) {
		t.Errorf("error %v, want that nothing is left", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	rows := &dataset.Set{Name: "rows", X: wdbc().X}
	if _, err := s.party.Predict(ctx, id, rows, ""); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "retained no state here") {
		t.Errorf("error %v", err)
	}
	s.party.Failure = func(id string) (string, error) { return "failed", nil }
	if _, err := s.party.Predict(ctx, id, rows, ""); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "ended without a model (failed); submit it again") {
		t.Errorf("error %v", err)
	}
}
