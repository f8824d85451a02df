package party

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/consent"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/study"
)

const studyFile = `apiVersion: mercer/v1
kind: Study
metadata: {name: breast}
spec:
  parties: [north, south, east]
  protocols: [okra]
  learners: [svc]
  labels: [label]
  jobs: 1
  until: 2099-12-31
`

// studying is a party with studies, none of them approved, and the study of a file.
func studying(t *testing.T, approve, file string) (*fixture, *job.Study) {
	t.Helper()
	s := newFixture(t, usual())
	of, err := all.Reader().ParseStudy("breast.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	policy := usual()
	policy.Approve = approve
	s.party.Policy = func(string) (Policy, error) { return policy, nil }
	s.party.Consents, s.party.Studies = consent.Decisions(t.TempDir()), study.In(t.TempDir(), all.Reader())
	s.party.Reader = s.party.Reader.KnowingStudies(func(string, string) (*job.Study, error) { return of, nil })
	return s, of
}

// inside returns a job of a study.
func (s *fixture) inside(of *job.Study) *job.Job {
	s.t.Helper()
	text := strings.Replace(string(parse(s.t, "minmax", "{name: okra}", "closed").Encode()), "spec:\n", "spec:\n  study: "+of.Reference()+"\n", 1)
	j, err := s.party.Reader.Parse("job.yaml", []byte(text))
	if err != nil {
		s.t.Fatal(err)
	}
	return j
}

func (s *fixture) kept() study.Studies { return s.party.Studies.(study.Studies) }

// A job of an approved study begins without a question to the operator, whatever the policy asks for; as
// many as the study has room for.
func TestJobsOfAStudyBegin(t *testing.T) {
	for _, approve := range []string{"", approveEach, approveStudy} {
		s, of := studying(t, approve, studyFile)
		j := s.inside(of)
		s.propose(s.proposal(j, job.ID{1}, 0))
		s.refuses(fault.CodePolicy, "the operator has not approved study breast for this table")
		if n := s.loads.Load(); n != 0 {
			t.Errorf("%s: the table was read %d times for a job of no approved study", approve, n)
		}
		if err := s.kept().Approve(of, "tumours", time.Now()); err != nil {
			t.Fatal(err)
		}
		s.propose(s.proposal(j, job.ID{2}, 0))
		s.hear(control.KindAcceptance)
		if o := s.foreseen; o == nil || o.Refusal != nil || o.AwaitsApproval {
			t.Errorf("%s: the check foresees %+v", approve, o)
		}
		if e := s.record.events[len(s.record.events)-1]; e.Kind != audit.Accepted || e.Study != "breast "+of.Hash() {
			t.Errorf("%+v", e)
		}
		s.propose(s.proposal(j, job.ID{3}, 0))
		s.refuses(fault.CodePolicy, `study breast has no room for the job, by its key "jobs": it allows 1`)
		used, err := s.kept().Used(of.Hash())
		if _, in := used.Jobs[job.ID{2}.String()]; err != nil || !in || len(used.Jobs) != 1 {
			t.Errorf("%+v, %v", used, err)
		}
	}
}

// With approve: study, no other job begins, and the operator is not asked.
func TestOnlyJobsOfStudiesBegin(t *testing.T) {
	s, _ := studying(t, approveStudy, studyFile)
	s.propose(s.proposal(parse(t, "minmax", "{name: okra}", "closed"), job.ID{1}, 0))
	s.refuses(fault.CodePolicy, "this party takes part in jobs of an approved study only")
}

// An approval is for one table, and ends with its revocation and after the study's last day.
func TestStudiesEnd(t *testing.T) {
	s, of := studying(t, "", strings.Replace(studyFile, "2099", "2019", 1))
	j := s.inside(of)
	if err := s.kept().Approve(of, "others", time.Now()); err != nil {
		t.Fatal(err)
	}
	s.propose(s.proposal(j, job.ID{1}, 0))
	s.refuses(fault.CodePolicy, "the operator has not approved study breast")
	if err := s.kept().Approve(of, "tumours", time.Now()); err != nil {
		t.Fatal(err)
	}
	s.propose(s.proposal(j, job.ID{2}, 0))
	s.refuses(fault.CodePolicy, `by its key "until": its last day was 2019-12-31`)
	if _, err := s.kept().Revoke("breast"); err != nil {
		t.Fatal(err)
	}
	s.propose(s.proposal(j, job.ID{3}, 0))
	s.refuses(fault.CodePolicy, "the operator has not approved study breast")
}

// The adversary is the coordinator. It reads nothing of a file that this home cannot read, not even its path:
// neither of the study, nor of the list of approvals, in which a party looks up a study named without its hash.
func TestADamagedStudyIsNotQuoted(t *testing.T) {
	for _, damaged := range []string{"study", "list"} {
		s, of := studying(t, "", studyFile)
		j, kept := s.inside(of), s.kept()
		if err := kept.Approve(of, "tumours", time.Now()); err != nil {
			t.Fatal(err)
		}
		proposal, file := s.proposal(j, job.ID{1}, 0), of.Hash()+".yaml"
		if damaged == "list" {
			proposal.Spec, file = bytes.Replace(proposal.Spec, []byte(of.Reference()), []byte(of.Name), 1), "approved"
		}
		if err := os.WriteFile(filepath.Join(kept.Folder, file), []byte("kind: private\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s.party.Reader = s.party.Reader.KnowingStudies(kept.Find)
		s.propose(proposal)
		f, err := control.DecodeRefusal(s.hear(control.KindRefusal).Body)
		if err != nil || f.Code != fault.CodeFailed || strings.Contains(f.Sentence(), "private") || strings.Contains(f.Sentence(), kept.Folder) {
			t.Errorf("%s: code %d: %s, %v", damaged, f.Code, f.Sentence(), err)
		}
	}
}

// The adversary is the coordinator. A job outside its study is refused by every party before it reads its
// table, whatever file the coordinator sends.
func TestAttackAJobOutsideItsStudy(t *testing.T) {
	s, of := studying(t, "", studyFile)
	if err := s.kept().Approve(of, "tumours", time.Now()); err != nil {
		t.Fatal(err)
	}
	p := s.proposal(s.inside(of), job.ID{1}, 0)
	p.Spec = []byte(strings.Replace(string(p.Spec), "label: label", "label: other", 1))
	s.propose(p)
	s.refuses(fault.CodeBadInput, "the job lies outside study breast, by its key labels")
	if n := s.loads.Load(); n != 0 {
		t.Errorf("the table was read %d times", n)
	}
}
