package party

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/control"
)

// The check of a job says the sentence with which the party then refuses the job's first proposal, and
// names the key. The fixture compares both for every proposal of this package's tests, and the ledger
// before and after; here is one of each kind.
func TestACheckForeseesTheRefusal(t *testing.T) {
	with := func(change func(*Policy)) Policy {
		p := usual()
		change(&p)
		return p
	}
	plain := func(t *testing.T) *job.Job { return parse(t, "minmax", "{name: okra}", "closed") }
	open := func(t *testing.T) *job.Job { return parse(t, "minmax", "{name: okra}", "open") }
	tests := map[string]struct {
		policy Policy
		job    func(*testing.T) *job.Job
		serve  *dataset.Set // nil: the fixture's table
		code   fault.Code
		key    string
		want   string // "" accepts
	}{
		"accepted":        {usual(), plain, nil, 0, "", ""},
		"nothing allowed": {Policy{}, plain, nil, fault.CodePolicy, "protocols", "this party allows no job on this table"},
		"protocol":        {with(func(p *Policy) { p.Protocols = []string{"moments"} }), plain, nil, fault.CodePolicy, "protocols", `protocol "okra"`},
		"learner":         {with(func(p *Policy) { p.Learners = []string{"svr"} }), plain, nil, fault.CodePolicy, "learners", `learner "svc"`},
		"kernel":          {with(func(p *Policy) { p.Kernels = []string{"linear"} }), plain, nil, fault.CodePolicy, "kernels", `kernel "rbf"`},
		"parties":         {with(func(p *Policy) { p.MinParties = 4 }), plain, nil, fault.CodePolicy, "min_parties", "the job has 3 parties"},
		"prediction":      {usual(), open, nil, fault.CodePolicy, "open_prediction", "the job keeps predictions open"},
		"rows":            {with(func(p *Policy) { p.Limits.Rows = new(21) }), plain, nil, fault.CodePolicy, "", "protocol okra needs at least 21 rows from each party, and this table has 20 (\"rows\" in the limits of its policy)"},
		"ids":             {with(func(p *Policy) { p.Limits.MaxIDs, p.Limits.MaxIDsTotal = 1<<20, 1 }), aligning, people(20), fault.CodePolicy, "", "max_ids_total in its policy"},
		"no labels":       {usual(), plain, unlabelled(), fault.CodeBadInput, "", "label"},
		"a stranger": {usual(), func(t *testing.T) *job.Job {
			return jobtest.Parse(t, strings.Replace(string(plain(t).Encode()), "south", "west", 1))
		}, nil, fault.CodePolicy, "", `"west" is not a party in the roster`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, tt.policy)
			if tt.serve != nil {
				s.serve(tt.serve)
			}
			j := tt.job(t)
			s.propose(s.proposal(j, job.ID{1}, 0))
			o := s.foreseen
			if o == nil {
				t.Fatal("the job was not checked")
			}
			if tt.want == "" {
				s.hear(control.KindAcceptance)
				if o.Refusal != nil || len(o.Undecided) == 0 {
					t.Errorf("%+v", o)
				}
				return
			}
			s.hear(control.KindRefusal) // compares the sentences
			var by *Refusal
			key := ""
			if errors.As(o.Refusal, &by) {
				key = by.Key
			}
			if fault.CodeOf(o.Refusal) != tt.code || key != tt.key || !strings.Contains(o.Refusal.Error(), tt.want) {
				t.Errorf("code %d, key %q: %v; want code %d, key %q, %q", fault.CodeOf(o.Refusal), key, o.Refusal, tt.code, tt.key, tt.want)
			}
		})
	}
}

func unlabelled() *dataset.Set {
	set := wdbc()
	set.Labels = nil
	return set
}

// A check names the largest share that the run of the job accepts: of two parties it is larger.
func TestACheckNamesTheShareOfTheRun(t *testing.T) {
	text := strings.NewReplacer("{name: svc, C: 10}", "{name: kpca, n_components: 2}", "label: label", "label: none").Replace(fmt.Sprintf(jobFile, "none", "{name: moments, directions: 8}", "closed"))
	policy := usual()
	policy.Limits.Share = new(.5)
	s := newFixture(t, policy)
	for parties, want := range map[string]string{"[north, south, east]": "at most 0.5 with 3 parties", "[north, south]": "at most 0.75 with 2 parties"} {
		o, err := s.party.Check(t.Context(), jobtest.Parse(t, strings.Replace(text, "[north, south, east]", parties, 1)))
		if err != nil || !strings.Contains(strings.Join(o.Undecided, "; "), want) {
			t.Errorf("%s: %+v, %v; want %q", parties, o, err, want)
		}
	}
}

// A check takes no place, no id and no entry of the ledger, and the limit of open jobs holds for it as for
// a proposal.
func TestAChecksTraceIsNone(t *testing.T) {
	s, made := newFixture(t, usual()), 0
	s.idle()
	s.party.Vault = counted{s.party.Vault, &made}
	j := parse(t, "minmax", "{name: okra}", "closed")
	for range maxJobs + maxRefused {
		if o, err := s.party.Check(t.Context(), j); err != nil || o.Refusal != nil {
			t.Fatalf("%+v, %v", o, err)
		}
	}
	if made != 0 || s.loads.Load() != 0 || s.books() != "" {
		t.Errorf("%d sessions, %d tables kept, ledger %q", made, s.loads.Load(), s.books())
	}
	s.idle()
	s.silent("south", "east")
}

// A party that does not run decides alike.
func TestACheckWithoutADaemon(t *testing.T) {
	s := newFixture(t, usual())
	s.serve(people(20))
	j := parse(t, "standard", "{name: okra}", "closed")
	s.begin(j, job.ID{1})
	s.serve(people(19))
	c := s.party.Config
	c.Conn, c.Vault = nil, nil
	live, err := s.party.Check(t.Context(), j)
	if err != nil || live.Refusal == nil {
		t.Fatalf("%+v, %v", live, err)
	}
	c.Vault = s.party.Vault
	if o := Check(c, j); o.Refusal == nil || o.Refusal.Error() != live.Refusal.Error() {
		t.Errorf("%v, with the daemon %v", o.Refusal, live.Refusal)
	}
	c.Peek = func(job.Data) (method.Table, error) {
		return method.Table{Set: people(20), Key: dataset.SplitKey{1}}, nil
	}
	if o := Check(c, j); o.Refusal != nil {
		t.Errorf("the same people: %v", o.Refusal)
	}
}

// A coordinator that gives a job the hash of its file as id does not make a check meet that job.
func TestACheckMeetsNoOtherJob(t *testing.T) {
	s := newFixture(t, usual())
	j := parse(t, "minmax", "{name: okra}", "closed")
	sum := sha256.Sum256(j.Encode())
	id := job.ID(sum[:16])
	s.begin(j, id)
	s.end(id)
	if o, err := s.party.Check(t.Context(), j); err != nil || o.Refusal != nil {
		t.Errorf("%+v, %v", o, err)
	}
}
