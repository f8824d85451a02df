package party

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/protocol"
)

// A descriptor that differs from the job in any field is refused.
func TestADescriptorThatDiffersFromTheJobIsRefused(t *testing.T) {
	const differs = "the proposed session differs from the session that the job file describes"
	tests := []struct {
		name   string
		change func(d *protocol.Descriptor)
		want   string
	}{
		{"protocol", func(d *protocol.Descriptor) { d.Protocol = "okra" }, differs},
		{"version", func(d *protocol.Descriptor) { d.Version++ }, differs},
		{"parameters", func(d *protocol.Descriptor) { d.Params = append(slices.Clone(d.Params), 1) }, differs},
		{"one member less", func(d *protocol.Descriptor) { d.Members = d.Members[:2] }, differs},
		{"the coordinator as a member", func(d *protocol.Descriptor) {
			d.Members = append(slices.Clone(d.Members), protocol.Member{Name: "hub", Role: protocol.RoleParty})
		}, differs},
		{"another leader", func(d *protocol.Descriptor) {
			d.Members = slices.Clone(d.Members)
			d.Members[0].Role, d.Members[1].Role = d.Members[1].Role, d.Members[0].Role
		}, differs},
		{"purpose", func(d *protocol.Descriptor) { d.Purpose = "predict" }, differs},
		{"parent", func(d *protocol.Descriptor) { d.Parent[0]++ }, differs},
		{"nonce", func(d *protocol.Descriptor) { d.Nonce[0]++ }, differs},
		{"attempt", func(d *protocol.Descriptor) { d.Attempt++ }, differs}, // the nonce goes with it
		{"roster", func(d *protocol.Descriptor) { d.Roster[0]++ }, "the coordinator's roster differs from the roster that this party's operator approved"},
	}
	s := newFixture(t, usual())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := s.proposal(parse(t, "minmax", "{name: okra}", "closed"), job.ID{1}, 0)
			tt.change(&p.Descriptor)
			s.propose(p)
			s.refuses(fault.CodePolicy, tt.want)
		})
	}
	if n := s.loads.Load(); n != 0 {
		t.Errorf("refused proposals had the table loaded %d times", n)
	}
}

func TestProposalsThatAreRefused(t *testing.T) {
	good := func(s *fixture) *control.Proposal {
		return s.proposal(parse(t, "minmax", "{name: okra}", "closed"), job.ID{1}, 0)
	}
	rename := func(from, to string) func(*fixture) *control.Proposal {
		return func(s *fixture) *control.Proposal {
			j := parse(t, "minmax", "{name: okra}", "closed")
			for i, name := range j.Data.Partition.Parties {
				if name == from {
					j.Data.Partition.Parties[i] = to
				}
			}
			p := good(s)
			p.Spec = j.Encode()
			for i := range p.Descriptor.Members {
				if p.Descriptor.Members[i].Name == from {
					p.Descriptor.Members[i].Name = to
				}
			}
			return p
		}
	}
	tests := []struct {
		name     string
		proposal func(*fixture) *control.Proposal
		code     fault.Code
		want     string
	}{
		{"a stage that is none", func(s *fixture) *control.Proposal { p := good(s); p.Stage = 99; return p }, fault.CodeFailed, "stage 99 of the job has no session"},
		{"a computation", func(s *fixture) *control.Proposal { p := good(s); p.Stage = 3; return p }, fault.CodeFailed, "stage 3 of the job has no session"},
		{"a stage before its time", func(s *fixture) *control.Proposal {
			return s.proposal(parse(t, "minmax", "{name: okra}", "closed"), job.ID{1}, 1)
		}, fault.CodeFailed, "stage column-order has not ended here"},
		{"no job file", func(s *fixture) *control.Proposal { p := good(s); p.Spec = []byte("kind: Nonsense"); return p }, fault.CodeBadInput, ""},
		{"not canonical", func(s *fixture) *control.Proposal { p := good(s); p.Spec = append(p.Spec, "# comment\n"...); return p }, fault.CodePolicy, "not in canonical form"},
		{"the coordinator as a party", rename("south", "hub"), fault.CodePolicy, `"hub" is not a party in the roster`},
		{"a stranger as a party", rename("south", "west"), fault.CodePolicy, `"west" is not a party in the roster`},
		{"without this party", rename("north", "north-2"), fault.CodePolicy, `"north-2" is not a party in the roster`},
		{"a prediction that nobody asked for", func(s *fixture) *control.Proposal {
			p := good(s)
			p.Stage = control.StagePredict
			return p
		}, fault.CodePolicy, "this party has not asked for this prediction"},
		{"the policy", func(s *fixture) *control.Proposal {
			return s.proposal(parse(t, "minmax", "{name: okra, mode: paper}", "closed"), job.ID{1}, 0)
		}, fault.CodePolicy, `mode "paper"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newFixture(t, usual())
			s.propose(tt.proposal(s))
			s.refuses(tt.code, tt.want)
			if n := s.loads.Load(); n != 0 {
				t.Errorf("the table was loaded %d times", n)
			}
		})
	}
}

func TestAProposalUnderAnotherHeader(t *testing.T) {
	s := newFixture(t, usual())
	p := s.proposal(parse(t, "minmax", "{name: okra}", "closed"), job.ID{1}, 0)
	s.tell("hub", protocol.SessionID{9}, control.KindProposal, p.Encode())
	s.refuses(fault.CodeFailed, "the proposal describes another session than the session in the message's header")
	s.tell("hub", protocol.SessionID{9}, control.KindProposal, []byte("junk"))
	s.refuses(fault.CodeFailed, "control: proposal")
}

func TestTwoJobsUnderOneID(t *testing.T) {
	s := newFixture(t, anyMode())
	s.propose(s.proposal(parse(t, "minmax", "{name: okra}", "closed"), job.ID{1}, 0))
	s.hear(control.KindAcceptance)
	s.propose(s.proposal(parse(t, "standard", "{name: okra}", "closed"), job.ID{1}, 1))
	s.refuses(fault.CodePolicy, "the job id already belongs to another job file")
}

// Another attempt of a stage would show rows that are scaled twice.
func TestAnotherAttemptOfAStageIsRefused(t *testing.T) {
	s := newFixture(t, usual())
	j := parse(t, "minmax", "{name: okra}", "closed")
	p := s.proposal(j, job.ID{1}, 0)
	s.propose(p)
	s.hear(control.KindAcceptance)
	p.Descriptor = s.plan(j)[0].Session.Descriptor(p.Job, 0, s.roster.Hash(), 1)
	s.propose(p)
	s.refuses(fault.CodePolicy, "stage column-order was accepted before, in another attempt")
	if n := s.loads.Load(); n != 1 {
		t.Errorf("the table was loaded %d times, want once", n)
	}
}

// A repeated proposal gets the same answer; one that comes after the closing
// never runs again.
func TestRepeatedProposals(t *testing.T) {
	s := newFixture(t, usual())
	p := s.proposal(parse(t, "minmax", "{name: okra}", "closed"), job.ID{1}, 0)
	s.propose(p)
	first := s.hear(control.KindAcceptance)
	s.propose(p)
	if second := s.hear(control.KindAcceptance); string(second.Body) != string(first.Body) {
		t.Error("a repeated proposal gets another acceptance")
	}
	c := &control.Closing{Job: p.Job, Outcome: "over"}
	for range 2 {
		s.tell("hub", control.Topic(p.Job), control.KindClosing, c.Encode())
		s.hear(control.KindClosed)
	}
	s.propose(p)
	s.refuses(fault.CodePolicy, "has ended here, and its id is not used again")
}

// A coordinator sends another file under the id of a job that is over here, or was
// refused by nobody: it would overwrite what that job left, and pass held releases in
// its name.
func TestJobIDsAreUsedOnce(t *testing.T) {
	s := newFixture(t, usual())
	first := parse(t, "minmax", "{name: okra}", "closed")
	second := parse(t, "none", "{name: okra}", "closed")
	p := s.proposal(first, job.ID{1}, 0)
	s.propose(p)
	s.hear(control.KindAcceptance)
	s.propose(s.proposal(second, p.Job, 0))
	s.refuses(fault.CodePolicy, "the job id already belongs to another job file")
	c := &control.Closing{Job: p.Job, Outcome: "over"}
	s.tell("hub", control.Topic(p.Job), control.KindClosing, c.Encode())
	s.hear(control.KindClosed)
	for _, j := range []*job.Job{first, second} {
		s.propose(s.proposal(j, p.Job, 0))
		s.refuses(fault.CodePolicy, "has ended here, and its id is not used again")
	}
	s.propose(s.proposal(second, job.ID{2}, 0))
	s.hear(control.KindAcceptance)
}

// The number of jobs held is bounded; the coordinator need not close the jobs that it proposes.
func TestOpenJobsAreBounded(t *testing.T) {
	s := newFixture(t, usual())
	j := parse(t, "minmax", "{name: okra}", "closed")
	for i := range maxJobs {
		s.propose(s.proposal(j, job.ID{byte(i)}, 0))
		s.hear(control.KindAcceptance)
	}
	s.propose(s.proposal(j, job.ID{maxJobs}, 0))
	s.refuses(fault.CodeFailed, fmt.Sprintf("%d jobs are open here", maxJobs))
	c := &control.Closing{Job: job.ID{0}}
	s.tell("hub", control.Topic(c.Job), control.KindClosing, c.Encode())
	s.hear(control.KindClosed)
	s.propose(s.proposal(j, job.ID{maxJobs}, 0))
	s.hear(control.KindAcceptance)
	// One that never closes any does not keep the party from working, either: its
	// operator drops some.
	if err := s.party.Drop(t.Context(), job.ID{1}); err != nil {
		t.Fatal(err)
	}
	if r := s.report(); r.Code != fault.CodeFailed {
		t.Errorf("report %+v of a job that was dropped", r)
	}
	s.propose(s.proposal(j, job.ID{maxJobs + 1}, 0))
	s.hear(control.KindAcceptance)
}

// A coordinator that puts its own keys between two parties is found out.
func TestDirectoriesThatAreRefused(t *testing.T) {
	tests := []struct {
		name   string
		change func(s *fixture, id protocol.SessionID, d control.Directory) []byte
		want   string
	}{
		{"a swapped key", func(_ *fixture, _ protocol.SessionID, d control.Directory) []byte {
			d[1].Key, d[2].Key = d[2].Key, d[1].Key
			return d.Encode()
		}, "the session key of south does not have that member's signature"},
		{"a key signed by the coordinator", func(s *fixture, id protocol.SessionID, d control.Directory) []byte {
			d[1] = control.Accept(id, "south", d[1].Key, s.keys["hub"].SigningKey())
			return d.Encode()
		}, "the session key of south does not have that member's signature"},
		{"a key of another session", func(s *fixture, _ protocol.SessionID, d control.Directory) []byte {
			d[1] = control.Accept(protocol.SessionID{9}, "south", d[1].Key, s.keys["south"].SigningKey())
			return d.Encode()
		}, "the session key of south does not have that member's signature"},
		{"one missing", func(_ *fixture, _ protocol.SessionID, d control.Directory) []byte { return d[:2].Encode() }, "2 keys for 3 members"},
		{"junk", func(*fixture, protocol.SessionID, control.Directory) []byte { return []byte("junk") }, "control: directory"},
		{"a key that is none", func(s *fixture, id protocol.SessionID, d control.Directory) []byte {
			d[1] = control.Accept(id, "south", []byte("short"), s.keys["south"].SigningKey())
			return d.Encode()
		}, "south (malformed)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newFixture(t, usual())
			ps := s.propose(s.proposal(parse(t, "minmax", "{name: okra}", "closed"), job.ID{1}, 0))
			d := s.directory(ps)
			s.tell("hub", ps.ID(), control.KindDirectory, tt.change(s, ps.ID(), d))
			r := s.report()
			if r.Code == fault.CodeDone || !strings.Contains(r.Sentence(), tt.want) {
				t.Errorf("report %+v; want a failure with %q", r, tt.want)
			}
			s.tell("hub", ps.ID(), control.KindDirectory, s.withOthers(ps).Encode()) // too late
			s.idle()
		})
	}
}

// Messages for nothing that is open, and from those who have no say, change
// nothing.
func TestCommandsThatChangeNothing(t *testing.T) {
	s := newFixture(t, usual())
	ps := s.propose(s.proposal(parse(t, "minmax", "{name: okra}", "closed"), job.ID{1}, 0))
	d := s.directory(ps)
	refusal := (&control.Refusal{Notice: fault.Notice{Code: fault.CodeFailed, Text: "stop"}}).Encode()
	closing := (&control.Closing{Job: job.ID{1}}).Encode()
	for _, from := range []string{"south", "east"} {
		s.tell(from, ps.ID(), control.KindAbort, refusal)
		s.tell(from, control.Topic(job.ID{1}), control.KindClosing, closing)
		s.tell(from, ps.ID(), control.KindDirectory, d.Encode())
	}
	s.tell("hub", protocol.SessionID{9}, control.KindAbort, refusal)
	s.tell("hub", protocol.SessionID{9}, control.KindDirectory, d.Encode())
	s.tell("hub", control.Topic(job.ID{8}), control.KindRefusal, refusal)
	s.tell("hub", ps.ID(), "Nonsense", nil)
	for _, kind := range []string{control.KindAbort, control.KindClosing, control.KindRefusal} {
		s.tell("hub", ps.ID(), kind, []byte("junk"))
	}
	s.idle()
	s.tell("hub", ps.ID(), control.KindAbort, refusal) // the session was still open
	if r := s.report(); r.Code != fault.CodeFailed || !strings.Contains(r.Sentence(), "stop") {
		t.Errorf("report %+v; want the abort's reason", r)
	}
}

// A closing stops what runs, and comes again until nothing is left.
func TestClosingARunningJob(t *testing.T) {
	s := newFixture(t, opened())
	p := s.proposal(parse(t, "minmax", "{name: okra}", "open"), job.ID{1}, 0)
	ps := s.propose(p)
	s.tell("hub", ps.ID(), control.KindDirectory, s.directory(ps).Encode())
	// It claims a result that the party knows nothing of.
	c := &control.Closing{Job: p.Job, Outcome: "over", Done: true, Closing: method.Closing{Classes: []string{"a", "b"}}}
	s.tell("hub", control.Topic(p.Job), control.KindClosing, c.Encode())
	if r := s.report(); r.Code != fault.CodeFailed {
		t.Errorf("report %+v; want a failure", r)
	}
	s.hear(control.KindClosed)
	if _, err := s.party.Retained.Get(p.Job); err == nil {
		t.Error("a job that never got to its upload left a retained state")
	}
	s.propose(p)
	s.refuses(fault.CodePolicy, "has ended here, and its id is not used again")
}

// A fault in the data is only in the party's own log.
func TestAFaultOfTheDataIsNotTold(t *testing.T) {
	s := newFixture(t, usual())
	s.party.Load = func(job.ID, job.Data) (method.Table, error) {
		return method.Table{}, fmt.Errorf("/secret/path.csv:17: patient 4711 has no age")
	}
	s.propose(s.proposal(parse(t, "minmax", "{name: okra}", "closed"), job.ID{1}, 0))
	s.refuses(fault.CodeBadInput, "its data cannot be used for this job; its own log says why")
}
