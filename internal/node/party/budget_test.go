package party

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/privacy"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
)

// A job of protocol noisy has one session, in which each party releases noise with a guarantee.

type noisyKeys struct{ privacy.Guarantee }

func (k *noisyKeys) Section() *section.Section {
	return &section.Section{Doc: "Noise.", Fields: []section.Field{
		{Key: "epsilon", Value: section.Number{Dst: &k.Epsilon}, Doc: "Epsilon."}, {Key: "delta", Value: section.Number{Dst: &k.Delta}, Doc: "Delta."},
	}}
}

func (k *noisyKeys) Demands() job.Demands {
	return job.Demands{Mode: job.Hardened, Privacy: k.Guarantee}
}

type noisyParty struct {
	of    method.Instance
	self  string
	table method.Table
}

func (p *noisyParty) noise() ([]method.Release, error) {
	g := p.of.Job.Protocol.Demands().Privacy
	r := p.of.Release(method.ReleaseNoise, p.self, "", p.table.Set)
	r.Rho, r.Epsilon, r.Delta = g.Rho(), g.Epsilon, g.Delta
	return []method.Release{r}, nil
}

func noisyProtocol() *method.Protocol {
	type none = methodtest.None
	return method.New(method.Binding[noisyParty, none, none]{
		Name: "noisy", Keys: func() job.Settings { return new(noisyKeys) },
		Steps: func(c method.Instance) ([]method.StepOf[noisyParty, none, none], error) {
			return []method.StepOf[noisyParty, none, none]{{
				Name:    "noise",
				Session: &method.Session{Protocol: collective.AllGatherName, Version: collective.AllGatherVersion, Members: c.MembersWithoutLeader(), Purpose: "train"},
				Party: func(_ *noisyParty, in method.Setup) (*method.Run, error) {
					return sums.AllGatherer(in, []byte("noise"), func([][]byte) error { return nil })
				},
				Server: func(_ *none, in method.Setup) (*method.Run, error) {
					return sums.Listener(in, func([][]byte) error { return nil })
				},
				Releases: (*noisyParty).noise,
			}}, nil
		},
		NewParty: func(c method.Instance, self string, t method.Table) (*noisyParty, error) {
			return &noisyParty{c, self, t}, nil
		},
		NewServer: func(method.Instance) (*none, error) { return new(none), nil },
		Public:    func(*noisyParty) none { return none{} }, PublicServer: func(*none) none { return none{} },
		Facts: method.NoFacts[noisyParty], Minimums: method.NoMinimums, Ended: method.IgnoresEnds[none],
		Result: func(*none) (*method.Result, error) { return nil, errors.New("no result") },
	})
}

// noisy is a fixture whose party knows protocol noisy, and a function that returns jobs of it.
func noisy(t *testing.T, budget privacy.Guarantee) (*fixture, func(name string, epsilon float64) *job.Job) {
	policy := usual()
	policy.Protocols, policy.Privacy = append(policy.Protocols, "noisy"), budget
	s := newFixture(t, policy)
	reader := *all.Reader()
	reader.Protocols = append(reader.Protocols, noisyProtocol())
	s.party.Reader = &reader
	return s, func(name string, epsilon float64) *job.Job {
		t.Helper()
		text := fmt.Sprintf(jobFile, "none", fmt.Sprintf("{name: noisy, epsilon: %g, delta: 1e-6}", epsilon), "closed")
		j, err := reader.Parse("job", []byte(strings.Replace(text, "tumours}", name+"}", 1)))
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
}

var eight = privacy.Guarantee{Epsilon: 8, Delta: 1e-6}

// Without a budget each job with privacy is refused before the table is read.
func TestAJobWithPrivacyNeedsABudget(t *testing.T) {
	s, of := noisy(t, privacy.Guarantee{})
	s.propose(s.proposal(of("first", 1), job.ID{1}, 0))
	o := s.foreseen
	s.refuses(fault.CodePolicy, "this party has set no privacy budget for the table (\"privacy\" in its policy)")
	var by *Refusal
	if !errors.As(o.Refusal, &by) || by.Key != "privacy" || s.loads.Load() != 0 {
		t.Errorf("%v, %d tables read", o.Refusal, s.loads.Load())
	}
}

// What a job may spend is reserved with its first session, spent before its first message is sent, and given back by
// nothing from then on. The coordinator reads what is left.
func TestNoiseIsSpentBeforeTheFirstMessage(t *testing.T) {
	s, of := noisy(t, eight)
	first, second := of("first", 6), of("second", 6)
	ps := s.propose(s.proposal(first, job.ID{1}, 0))
	d := s.joined(ps)
	if n := s.ledger(); n[disclosure.Admitted] != 1 || len(n) != 1 {
		t.Errorf("ledger %v", n)
	}
	refused := func(id byte) {
		t.Helper()
		s.propose(s.proposal(second, job.ID{id}, 0))
		s.refuses(fault.CodePolicy, "the job asks for epsilon 6 at delta 1e-06; of the table's privacy budget, epsilon 8 at delta 1e-06, earlier jobs have left one job with epsilon 4.")
	}
	refused(2)
	heard := make(chan protocol.Message, 9)
	stop := s.play("south", ps, d, nil, heard)
	s.tell("hub", ps.ID(), control.KindDirectory, d.Encode())
	select {
	case <-heard:
	case <-time.After(10 * time.Second):
		t.Fatal("north sends nothing")
	}
	if n := s.ledger(); n[disclosure.Released] != 1 || len(n) != 1 {
		t.Errorf("with the first message the ledger has %v", n)
	}
	stop()
	s.tell("hub", control.Topic(job.ID{1}), control.KindClosing, (&control.Closing{Job: job.ID{1}, Outcome: "aborted"}).Encode())
	s.report()
	s.hear(control.KindClosed)
	refused(3)
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	for _, kind := range []audit.Kind{audit.Accepted, audit.Released} {
		i := slices.IndexFunc(s.record.events, func(e audit.Event) bool { return e.Kind == kind })
		if i < 0 || len(s.record.events[i].Releases) != 1 || s.record.events[i].Releases[0].Kind != "noise" || s.record.events[i].Releases[0].Epsilon != 6 || s.record.events[i].Releases[0].Delta != 1e-6 {
			t.Errorf("%s: %+v", kind, s.record.events)
		}
	}
}

// A job that ends before it has sent anything spends nothing.
func TestNoiseThatIsNotSentIsNotSpent(t *testing.T) {
	s, of := noisy(t, eight)
	s.begin(of("first", 8), job.ID{1})
	s.end(job.ID{1})
	s.begin(of("second", 8), job.ID{2})
}

// Two names of one file, or one dictionary, are one table.
func TestTwoNamesOfOneTable(t *testing.T) {
	s, of := noisy(t, eight)
	s.party.Whence = func(table string) string { return "file " + strings.TrimSuffix(table, "-again") }
	renamed := func(name string) *job.Job {
		j := of("second", 6)
		j.Data.Source = name
		return j
	}
	s.begin(of("first", 6), job.ID{1})
	s.propose(s.proposal(renamed("tumours-again"), job.ID{2}, 0))
	s.refuses(fault.CodePolicy, "earlier jobs have left one job with epsilon 4.")
	s.begin(renamed("other"), job.ID{3})
}

// A home whose record has noise that the ledger lacks spends nothing.
func TestAMovedLedgerSpendsNothing(t *testing.T) {
	s, of := noisy(t, eight)
	var recorded error
	s.party.Noise = func() ([]string, error) { return []string{"0123456789abcdef"}, recorded }
	s.propose(s.proposal(of("first", 1), job.ID{1}, 0))
	s.refuses(fault.CodePolicy, "this party does not know what earlier jobs have spent")
	recorded = errors.New("the record is broken")
	s.propose(s.proposal(of("first", 1), job.ID{2}, 0))
	s.refuses(fault.CodeFailed, "")
}

// One session alone draws the noise of a step that is paid for once. Another attempt is another payment.
func TestNoiseIsDrawnOnce(t *testing.T) {
	s, of := noisy(t, eight)
	w := &work{id: job.ID{1}, job: of("first", 1)}
	session := func(attempt uint32) *running {
		t.Helper()
		prop := s.proposal(w.job, w.id, 0)
		prop.Descriptor.Attempt = attempt
		ps, err := protocol.NewSession(prop.Descriptor)
		if err != nil {
			t.Fatal(err)
		}
		w.attempt = attempt
		a := admission{kind: method.ReleaseNoise, out: method.Release{Model: w.modelOf(method.ReleaseNoise)}}
		return &running{work: w, proposal: prop, session: ps, admission: []admission{{kind: method.ReleaseSums}, a}}
	}
	first := session(0)
	for range 2 { // it is replayed
		if err := s.party.drawOnce(first); err != nil {
			t.Fatal(err)
		}
	}
	again := session(1)
	again.admission = first.admission
	if err := s.party.drawOnce(again); fault.CodeOf(err) != fault.CodePolicy || !strings.Contains(err.Error(), "in another session") {
		t.Errorf("another session: %v", err)
	}
	if paid := session(1); paid.admission[1].out.Model == first.admission[1].out.Model || s.party.drawOnce(paid) != nil {
		t.Error("another attempt pays nothing, or cannot draw")
	}
	later := session(0)
	later.proposal.Stage = 1
	if err := s.party.drawOnce(later); err != nil {
		t.Errorf("another step: %v", err)
	}
}

// A job over a table with a budget is checked for what voids the guarantee. It is not refused.
func TestVoids(t *testing.T) {
	s, of := noisy(t, eight)
	exact := parse(t, "minmax", "{name: okra}", "closed")
	says := func(j *job.Job, want string) {
		t.Helper()
		o, err := s.party.Check(t.Context(), j)
		if err != nil || o.Refusal != nil || (want == "") != (o.Voids == "") || !strings.Contains(o.Voids, want) {
			t.Errorf("%+v, %v; want %q", o, err, want)
		}
	}
	says(of("first", 1), "")
	s.begin(of("first", 1), job.ID{1})
	says(exact, "voids the guarantee of 1 release with noise")
	s.begin(exact, job.ID{2})
	says(of("second", 1), "") // nothing is sent
	s.letOut()
	says(of("second", 1), "1 release of table tumours without noise void the guarantee")
}

// A release without noise voids the guarantee of the first noise after it, too.
func TestVoidsBeforeTheFirstNoise(t *testing.T) {
	s, of := noisy(t, eight)
	s.begin(parse(t, "minmax", "{name: okra}", "closed"), job.ID{1})
	s.letOut()
	if o, err := s.party.Check(t.Context(), of("first", 1)); err != nil || o.Refusal != nil || !strings.Contains(o.Voids, "1 release of table tumours without noise void") {
		t.Errorf("%+v, %v", o, err)
	}
}

// A process that plays all parties with its own data spends without a limit.
func TestAnOwnBudget(t *testing.T) {
	_, of := noisy(t, eight)
	j := of("first", 4)
	p := PolicyFor(j)
	if p.Privacy.Epsilon != 4 || len(p.Refusals(j, 3)) > 0 || !math.IsInf(p.budget().Epsilon, 1) {
		t.Errorf("%+v", p)
	}
	p = usual()
	for _, wrong := range []privacy.Guarantee{{Epsilon: 8}, {Delta: 1e-6}, {Epsilon: -1, Delta: 1e-6}, {Epsilon: math.NaN(), Delta: 1e-6}} {
		p.Privacy = wrong
		if err := p.Validate(all.Reader().Known()); err == nil || !strings.Contains(err.Error(), `"privacy" in the policy`) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}
