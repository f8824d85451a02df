// Package methodtest runs all members of a job in one process, on a deterministic network, without
// daemons or disk. Only tests import it.
package methodtest

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// Coordinator is the coordinator's name in all tests.
const Coordinator = "hub"

// Instance returns the instance of a job with the parties that the job names.
func Instance(j *job.Job) method.Instance {
	return method.Instance{Job: j, ID: job.ID{1}, Coordinator: Coordinator, Parties: j.Parties()}
}

// Federation holds the plan and all members of a job or of a query.
type Federation struct {
	method.Instance
	Plan    []method.Step
	Server  *method.CoordinatorSide
	Parties map[string]*method.PartySide
	// Sent holds the messages to the coordinator, by step.
	Sent map[string][]protocol.Message
	// Received holds the messages to each party, by party and step.
	Received map[string]map[string][]protocol.Message
	// Observe, if set, is called with every message of a step, in the order of sending.
	Observe func(step string, m protocol.Message)
	// Watch, if set, replaces the node of each member of a step.
	Watch func(sim.Node) sim.Node
	// Announced, if set, is called with the coordinator's announcement of each step that has one.
	Announced func(step string, body []byte)
}

// New prepares every member of a job.
func New(t testing.TB, m *method.Protocol, c method.Instance, tables map[string]method.Table) *Federation {
	t.Helper()
	f := &Federation{Instance: c, Parties: make(map[string]*method.PartySide), Sent: make(map[string][]protocol.Message), Received: make(map[string]map[string][]protocol.Message)}
	var err error
	if f.Plan, err = m.Plan(c); err == nil {
		f.Server, err = m.Server(c)
	}
	for _, name := range c.Parties {
		if err == nil {
			f.Parties[name], err = m.Party(c, name, tables[name])
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Read parses a valid job file of a method.
func Read(t testing.TB, m job.Protocol, text string) *job.Job {
	t.Helper()
	j, err := (&job.Reader{Protocols: []job.Protocol{m}, Learners: learner.Table()}).Parse("job.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// Typed is a federation with typed access to the states of its members.
type Typed[S, P any] struct {
	*Federation
	Server  S
	Parties map[string]P
}

// Join prepares every member of a job, like New, with typed states.
func Join[S, P any](t testing.TB, m *method.Protocol, j *job.Job, tables map[string]method.Table) *Typed[S, P] {
	t.Helper()
	return StatesOf[S, P](New(t, m, Instance(j), tables))
}

// StatesOf returns the federation with the typed states of its members.
func StatesOf[S, P any](f *Federation) *Typed[S, P] {
	known := &Typed[S, P]{f, f.Server.State.(S), make(map[string]P)}
	for name, p := range f.Parties {
		known.Parties[name] = p.State.(P)
	}
	return known
}

// JudgedBy checks that only the party named by holder keeps scores of held-out rows. This party
// must keep the ids and labels of these rows, and all metrics that it has sent to the coordinator.
func (f *Federation) JudgedBy(t testing.TB, holder string, label map[string]string) {
	t.Helper()
	var own *method.Judged
	for name, p := range f.Parties {
		g, err := p.Judged()
		if err != nil || (g != nil) != (name == holder) {
			t.Fatalf("%s has judged held-out rows: %v, %v", name, g != nil, err)
		}
		if g != nil {
			own = g
		}
	}
	told, o := f.Result(t), own.Outcome
	ids := f.Parties[holder].Order()
	if len(o.Held) != told.HeldOut || !slices.Equal(o.Held, ids[told.Training:]) || len(o.Truth) != len(o.Held) || o.Decisions.Rows != len(o.Held) {
		t.Fatalf("%d rows are held out; kept are %d ids, %d labels and %d decisions", told.HeldOut, len(o.Held), len(o.Truth), o.Decisions.Rows)
	}
	for i, id := range o.Held {
		if o.Truth[i] != label[id] {
			t.Errorf("%s is %s and not %s", id, label[id], o.Truth[i])
		}
	}
	for name, v := range told.Metrics {
		if d := own.Result.Metrics[name] - v; !(d*d < 1e-24) {
			t.Errorf("%s is %v at the party, and it has told %v", name, own.Result.Metrics[name], v)
		}
	}
	if own.Result.Figures == nil || len(own.Result.Leakage["active"]) == 0 || told.Figures != nil {
		t.Errorf("the party has figures %v, the coordinator %v", own.Result.Figures, told.Figures)
	}
	if o := f.Server.Outcome; o != nil && (o().Truth != nil || o().Decisions.Rows > 0) {
		t.Errorf("the coordinator has %+v", o())
	}
}

// Result returns the job's result.
func (f *Federation) Result(t testing.TB) *method.Result {
	t.Helper()
	r, err := f.Server.Result()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Until runs all steps up to lastStep, inclusive, and returns the federation.
func (f *Federation) Until(t testing.TB, lastStep string) *Federation {
	t.Helper()
	for i := range f.Index(t, lastStep) + 1 {
		f.Step(t, i)
	}
	return f
}

// Finish runs all steps.
func (f *Federation) Finish(t testing.TB) {
	t.Helper()
	for i := range f.Plan {
		f.Step(t, i)
	}
}

// Step runs the i-th step of the plan.
func (f *Federation) Step(t testing.TB, i int) {
	t.Helper()
	if err := f.Try(t.Context(), i, func() {}); err != nil {
		t.Fatalf("%s: %v", f.Plan[i].Name, err)
	}
}

// Index returns the index of a named step in the plan.
func (f *Federation) Index(t testing.TB, name string) int {
	t.Helper()
	for i, s := range f.Plan {
		if s.Name == name {
			return i
		}
	}
	t.Fatalf("the plan has no step %s", name)
	return -1
}

// Releases returns the releases that a party states for a named step.
func (f *Federation) Releases(t testing.TB, party, step string) []method.Release {
	t.Helper()
	list, err := f.Parties[party].Releases(f.Index(t, step))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Try runs the i-th step. It calls onEnd after a session has ended and before the members use the
// session's result.
func (f *Federation) Try(ctx context.Context, i int, onEnd func()) error {
	step := f.Plan[i]
	if step.Session == nil {
		return f.Server.Compute(ctx, i, nil)
	}
	announced, err := f.Server.Announce(i)
	if err != nil {
		return err
	}
	if f.Announced != nil && len(announced) > 0 {
		f.Announced(step.Name, announced)
	}
	s, err := f.session(i, f.Server.Public(), announced)
	if err != nil {
		return err
	}
	runs, nodes, err := f.machines(i, s, announced)
	if err != nil {
		return err
	}
	for i := range nodes {
		if f.Watch != nil {
			nodes[i] = f.Watch(nodes[i])
		}
	}
	r, err := sim.Run(sim.Config{Session: s, Nodes: nodes, Intercept: func(m protocol.Message) []protocol.Message {
		if f.Observe != nil {
			f.Observe(step.Name, m)
		}
		if m.Receiver == f.Coordinator {
			f.Sent[step.Name] = append(f.Sent[step.Name], m)
		} else {
			f.tell(step.Name, m)
		}
		return []protocol.Message{m}
	}})
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		return err
	}
	onEnd()
	var errs error
	for _, run := range runs {
		errs = errors.Join(errs, run.Finish())
	}
	var facts method.Facts
	for _, name := range f.Instance.Parties {
		facts = facts.Join(f.Parties[name].Facts())
	}
	f.Server.Ended(i, method.End{Session: s.ID(), Stayed: f.Instance.Parties, Facts: facts})
	return errs
}

func (f *Federation) tell(step string, m protocol.Message) {
	if f.Received[m.Receiver] == nil {
		f.Received[m.Receiver] = make(map[string][]protocol.Message)
	}
	f.Received[m.Receiver][step] = append(f.Received[m.Receiver][step], m)
}

// session returns the session that a member derives for a step.
func (f *Federation) session(i int, known method.Public, announced []byte) (*protocol.Session, error) {
	s, err := f.Plan[i].Session.After(known, announced)
	if err != nil {
		return nil, err
	}
	return protocol.NewSession(s.Descriptor(f.ID, i, [sha256.Size]byte{}, 0))
}

// machines builds every member's machine. It returns an error if a member derives another session
// than the coordinator.
func (f *Federation) machines(i int, s *protocol.Session, announced []byte) (runs []*method.Run, nodes []sim.Node, err error) {
	for _, member := range s.Members {
		known, build := f.Server.Public, f.Server.Build
		if p, is := f.Parties[member.Name]; is {
			known, build = p.Public, p.Build
		}
		own, err := f.session(i, known(), announced)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", member.Name, err)
		}
		if own.ID() != s.ID() {
			return nil, nil, fmt.Errorf("%s derives a session with another ID than the coordinator's; parameters of the two differ: %v", member.Name, !bytes.Equal(own.Params, s.Params))
		}
		setup := Setup(s, member.Name)
		setup.Announced = announced
		run, err := build(i, setup)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", member.Name, err)
		}
		runs = append(runs, run)
		nodes = append(nodes, sim.Node{Name: member.Name, InputHash: run.InputHash, New: func() (protocol.Machine, error) { return run.Machine, nil }})
	}
	return runs, nodes, nil
}

// Setup returns the inputs of a member's machine. The member's seed and identity follow from its
// name.
func Setup(s *protocol.Session, member string) method.Setup {
	return method.Setup{
		Setup: protocol.Setup{Session: s, Self: member, Seed: sha256.Sum256([]byte("seed of " + member))},
		Sign:  func(message []byte) []byte { return ed25519.Sign(Identity(member), message) },
		Key:   func(name string) ed25519.PublicKey { return Identity(name).Public().(ed25519.PublicKey) },
	}
}

// Identity returns a member's identity key, which follows from its name.
func Identity(member string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(member))
	return ed25519.NewKeyFromSeed(seed[:])
}

// LooksLikeNoise checks that the server receives only messages of secure aggregation. It also
// checks that about half of the bits of the masked vectors are set.
func (f *Federation) LooksLikeNoise(t testing.TB, step string) {
	t.Helper()
	kinds := []string{"AdvertiseKeys", "Holders", "ShareKeys", "MaskedInput", "ConsistencyCheck", "Unmask"}
	set, total := 0, 0
	for _, m := range f.Sent[step] {
		if !slices.Contains(kinds, m.Kind) || m.Protocol != secagg.Name {
			t.Errorf("%s: the server is sent %v", step, m.Header)
		}
		if m.Kind != "MaskedInput" {
			continue
		}
		for b := m.Body; len(b) > 0; b = b[8:] {
			for word := binary.LittleEndian.Uint64(b); word != 0; word &= word - 1 {
				set++
			}
			total += 64
		}
	}
	// The test allows six standard deviations of fair coin tosses.
	if d := float64(2*set - total); total == 0 || d*d > 36*float64(total) {
		t.Errorf("%s: %d of %d bits of masked vectors are set", step, set, total)
	}
}

// None is the state of a member in a binding without state.
type None struct{}

// Bare returns a binding whose required functions do nothing. Tests set the parts that they need.
func Bare(name string) method.Binding[None, None, None] {
	return method.Binding[None, None, None]{
		Name: name, Keys: func() job.Settings { return nil },
		Steps:     func(method.Instance) ([]method.StepOf[None, None, None], error) { return nil, nil },
		NewParty:  func(method.Instance, string, method.Table) (*None, error) { return new(None), nil },
		NewServer: func(method.Instance) (*None, error) { return new(None), nil },
		Public:    func(*None) None { return None{} }, PublicServer: func(*None) None { return None{} },
		Facts: method.NoFacts[None], Minimums: func(method.Limits, *job.Job) error { return nil },
		Result: func(*None) (*method.Result, error) {
			return nil, errors.New("methodtest: a bare binding has no result; set the binding's Result")
		},
		Ended: method.IgnoresEnds[None],
	}
}

// PatientColumns is the header of the CSV table that Patients returns.
const PatientColumns = "patient,age,krea,postcode,bmi,hiv,smoker,label"

// Patients returns a CSV table of n made-up patients of a party, followed by further lines. The
// first patients are the same for any n.
func Patients(party string, n int, more ...string) string {
	r := rand.New(rand.NewPCG(uint64(len(party)), uint64(party[0])))
	lines := []string{PatientColumns}
	for k := range n {
		lines = append(lines, fmt.Sprintf("%s-%d,%.1f,%.1f,%d,%.2f,%s,%s,%c", party, k, 20+float64(r.IntN(600))/10, 40+200*r.Float64(),
			10000+r.IntN(89999), 18+20*r.Float64(), []string{"no", "no", "no", "yes"}[r.IntN(4)], []string{"never", "often"}[r.IntN(2)], 'a'+rune(r.IntN(2))))
	}
	return strings.Join(append(lines, more...), "\n") + "\n"
}

// Three returns tables of n patients for three hospitals, by party. Party east has further lines.
func Three(n int, east ...string) map[string]string {
	return map[string]string{"north": Patients("north", n), "south": Patients("south", n), "east": Patients("east", n, east...)}
}

// Hospital reads a party's table the way that the party's catalogue reads it for a job. id names
// the column of ids; "" for none.
func Hospital(t testing.TB, j *job.Job, party, text, id string) method.Table {
	t.Helper()
	records, err := dataset.OpenCSV(party, strings.NewReader(text), dataset.CSVForm{})
	if err != nil {
		t.Fatal(err)
	}
	rule := prepare.IDRule{}
	if id != "" {
		rule.Columns = []string{id}
	}
	own := j.Data.Own(party)
	table := prepare.Table{Name: party, Schema: own.Reads(), ID: rule, Cut: j.Data.Test.Column, Group: j.Data.Group}
	if j.Labels(party) {
		table.Label = j.Data.Label
	}
	set, err := prepare.Read(records, table)
	if err != nil {
		t.Fatal(err)
	}
	return method.Table{Set: own.Pick(set), Key: sha256.Sum256([]byte(party)), Label: j.Data.Label}
}

// Hospitals prepares every member of a job over tables of patients, by party. Each number gives a
// separate job. Parties have the default limits.
func Hospitals(t testing.TB, m *method.Protocol, text string, number byte, tables map[string]string) *Federation {
	t.Helper()
	j := Read(t, m, text)
	c := Instance(j)
	c.ID = job.ID{0xa, number}
	c.Limits = method.DefaultLimits()
	all := make(map[string]method.Table)
	for name, csv := range tables {
		all[name] = Hospital(t, j, name, csv, "patient")
	}
	return New(t, m, c, all)
}
