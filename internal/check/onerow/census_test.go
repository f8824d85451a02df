package onerow_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/report"
)

// census is a protocol in this file only: every party states its number of rows of each
// class, the coordinator finds the most frequent class and sends it to all, and all predict
// it for every row. It protects nothing, and has one step of each kind: a session, a
// computation, and a session that follows from it.
var census = method.New(method.Binding[member, server, counted]{
	Name: "census", Keys: func() job.Settings { return new(CensusKeys) },
	Steps: steps, NewParty: newMember, NewServer: newServer,
	Public: func(p *member) counted { return p.counts }, PublicServer: func(s *server) counted { return s.counts },
	Facts: method.NoFacts[member], Minimums: method.NoMinimums, Result: (*server).result, Ended: method.IgnoresEnds[server],
	Model:     &method.ModelOf[server]{Write: (*server).writeModel},
	Outcome:   func(s *server) *method.Outcome { return &method.Outcome{Classes: classesOf(s.counts)} },
	Questions: &method.QuestionsOf[member, server]{Keep: (*member).keep, OpenParty: openParty, Left: func([]byte) bool { return false }},
	Present:   present,
})

// CensusKeys holds the settings of a job.
type CensusKeys struct {
	job.Moded
	Quorum int // rows that the most frequent class must have
	Bound  int // rows that a party may have
}

func (k *CensusKeys) Section() *section.Section {
	return &section.Section{Fields: []section.Field{
		k.ModeKey(),
		{Key: "quorum", Value: section.Whole{Dst: &k.Quorum}, Default: "2", Doc: "The rows that the most frequent class must have."},
		{Key: "bound", Value: section.Whole{Dst: &k.Bound}, Default: "500", Doc: "The rows that a party may have."},
	}}
}

func (k *CensusKeys) check(j *job.Job, in *section.Place) error {
	if !in.Given("compare") {
		j.Compare = []job.Comparison{}
	}
	if k.Quorum < 1 {
		return in.Refuse("protocol", "quorum is %d; write a whole number from 1", k.Quorum)
	}
	return nil
}

// Demands lets an operator's policy bound the job.
func (k *CensusKeys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: k.check, Limits: map[string]int{"directions": k.Bound}}
}

// slow names the variable with the duration of the computation, during which a test kills
// the process.
const slow = "MERCER_CENSUS_SLOW"

func steps(c method.Instance) ([]method.StepOf[member, server, counted], error) {
	noted := func(name string) func(*server, method.End) {
		return func(s *server, _ method.End) { s.ended = append(s.ended, name) }
	}
	return []method.StepOf[member, server, counted]{
		{Name: "census", Session: &method.Session{Protocol: collective.AllGatherName, Version: collective.AllGatherVersion, Members: c.AllMembers(), Purpose: "count"},
			Party: (*member).state, Server: (*server).listen, Releases: (*member).lets, Ended: noted("census")},
		{Name: "learn", Compute: (*server).learn},
		{Name: "broadcast", Session: &method.Session{Protocol: collective.BroadcastName, Version: collective.BroadcastVersion, Members: c.MembersWithoutLeader(), Purpose: "tell"},
			Follow: method.From(func(all counted) ([]byte, error) {
				if all == nil {
					return nil, errors.New("census: nobody has counted yet")
				}
				return collective.EncodeBroadcast(len(all.winner())), nil
			}),
			Party: (*member).hear, Server: (*server).tell, Releases: method.ReleasesNothing[member], Ended: noted("broadcast")},
	}, nil
}

// counted is public: the number of rows of each class.
type counted map[string]int

// winner returns the most frequent class; among equal ones the first by name.
func (c counted) winner() (class string) {
	for name, n := range c {
		if n > c[class] || n == c[class] && name < class {
			class = name
		}
	}
	return class
}

func (c counted) encode() []byte {
	var w wire.Writer
	for _, class := range classesOf(c) {
		w.String(class)
		w.Uint32(uint32(c[class]))
	}
	return w.Bytes()
}

func (c counted) add(statement []byte) error {
	r := wire.NewReader(statement)
	for r.Err() == nil && r.Len() > 0 {
		class := r.String(64)
		c[class] += int(r.Uint32())
	}
	return r.Close("census: counts")
}

func classesOf(c counted) []string {
	list := make([]string, 0, len(c))
	for class := range c {
		list = append(list, class)
	}
	slices.Sort(list)
	return list
}

// side holds the state that both sides of a job share.
type side struct {
	job    *job.Job
	counts counted // nil before
	told   string
}

func (s *side) heard(m *collective.AllGather) *method.Run {
	return &method.Run{Machine: m, InputHash: m.InputHash(), Finish: func() error {
		all := counted{}
		for _, statement := range m.Statements() {
			if err := all.add(statement); err != nil {
				return err
			}
		}
		s.counts = all
		return nil
	}}
}

type member struct {
	side
	own     counted
	release method.Release // of the counts
}

func newMember(c method.Instance, self string, t method.Table) (*member, error) {
	if t.Set.Labels == nil {
		return nil, errors.New("census: the table has no labels")
	}
	p := &member{side: side{job: c.Job}, own: counted{}, release: c.Release(method.ReleaseSums, self, t.Label, t.Set)}
	for _, label := range t.Set.Labels {
		p.own[label]++
	}
	return p, nil
}

func (p *member) state(s method.Setup) (*method.Run, error) {
	m, err := collective.NewAllGather(s.Setup, p.own.encode())
	if err != nil {
		return nil, err
	}
	return p.heard(m), nil
}

// lets states the counts: sums over all rows.
func (p *member) lets() ([]method.Release, error) { return []method.Release{p.release}, nil }

func (p *member) hear(s method.Setup) (*method.Run, error) {
	m, err := collective.NewBroadcastParty(s.Setup)
	return method.RunOf(m, err, func() error { p.told = string(m.Body()); return nil })
}

func (p *member) keep(method.Closing) (method.RetainedState, error) {
	var w wire.Writer
	w.String(p.told)
	w.Strings(classesOf(p.counts))
	return method.RetainedState{Method: "census", Version: 1, Body: w.Bytes()}, nil
}

type server struct {
	side
	ended []string // the method's ended sessions
}

func newServer(c method.Instance) (*server, error) { return &server{side: side{job: c.Job}}, nil }

func (s *server) listen(setup method.Setup) (*method.Run, error) {
	m, err := collective.NewAllGatherServer(setup.Setup)
	if err != nil {
		return nil, err
	}
	return s.heard(m), nil
}

func (s *server) tell(setup method.Setup) (*method.Run, error) {
	m, err := collective.NewBroadcastServer(setup.Setup, []byte(s.told))
	return method.RunOf(m, err, method.Nothing)
}

func (s *server) learn(ctx context.Context, _ method.Reporter) error {
	wait, _ := time.ParseDuration(os.Getenv(slow))
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return ctx.Err()
	}
	s.told = s.counts.winner()
	if n := s.counts[s.told]; n < job.As[*CensusKeys](s.job.Protocol).Quorum {
		return fmt.Errorf("census: %d rows of class %s", n, s.told)
	}
	return nil
}

// found holds the fields that only results of this method have.
type found struct {
	Census   counted  `json:"census"`
	Sessions []string `json:"census_sessions"`
}

func (s *server) result() (*method.Result, error) {
	total := 0
	for _, n := range s.counts {
		total += n
	}
	return &method.Result{
		Job: s.job.Name, Metrics: map[string]float64{"accuracy": float64(s.counts[s.told]) / float64(total)}, Training: total,
		Leakage: map[string][]string{"server": {"The server learns how many rows of each class every party has."}},
		Details: &found{s.counts, s.ended},
	}, nil
}

func (s *server) writeModel(w io.Writer) error {
	_, err := io.WriteString(w, "census\n"+s.told+"\n")
	return err
}

// present describes a result.
func present(_ *job.Job, r *method.Result) (*method.Presentation, error) {
	d, err := method.DetailsOf[found](r)
	if err != nil || d == nil || d.Census == nil {
		return nil, err
	}
	line := fmt.Sprintf("%s is the most frequent of %d classes", d.Census.winner(), len(d.Census))
	return &method.Presentation{Text: []method.Block{{Line: line}}, More: []report.Row{{Label: "Census", Value: line}}}, nil
}

// kept is a party's opened retained state: it predicts by itself.
type kept struct {
	told    string
	classes []string
}

func openParty(k method.RetainedState, _ *job.Reader) (method.Erasable, error) {
	r := wire.NewReader(k.Body)
	opened := &kept{r.String(64), r.Strings(64, 64)}
	return opened, r.Close("census: retained state")
}

func (k *kept) Erase() { k.told = strings.Repeat("x", len(k.told)) }

func (k *kept) Predict(set *dataset.Set) (*method.Prediction, error) {
	n := set.X.Rows()
	p := &method.Prediction{Output: model.Output{Kind: model.SVC, Classes: k.classes}, Decisions: linalg.New[float64](n, 1)}
	decision := -1.0 // for the second class
	if k.told == k.classes[0] {
		decision = 1
	}
	for i := range n {
		p.Decisions.Row(i)[0] = decision
	}
	return p, p.Take(p.Decisions)
}
