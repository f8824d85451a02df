package sealed

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/linalg/chebyshev"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// group is a session of machines, with random sums of each data party.
type group struct {
	Params
	session *protocol.Session
	sums    map[string]*Sums
}

// trios are the sessions that tests run: by name, the data parties and the keepers.
var trios = map[string]struct{ parties, keepers []string }{
	"three keepers":         {[]string{"athens", "bergen", "cork"}, []string{"athens", "bergen", "cork"}},
	"five":                  {[]string{"athens", "bergen", "cork", "dover", "essen"}, []string{"dover", "athens", "cork"}},
	"two and a coordinator": {[]string{"athens", "bergen"}, []string{"athens", "bergen", "coordinator"}},
}

// newGroup returns a session in which each data party has 100 rows.
func newGroup(t testing.TB, name string, features int) *group {
	t.Helper()
	who := trios[name]
	problem, err := NewProblem(100*len(who.parties), features, 2, .05)
	if err != nil {
		t.Fatal(err)
	}
	problem.Plan = chebyshev.Plan{Steps: chebyshev.Steps(problem.Rows, problem.Ratio(), 4), Block: 4}
	g := &group{Params: Params{Problem: problem, Keepers: [3]string(who.keepers)}, sums: map[string]*Sums{}}
	for i, party := range who.parties {
		one := sumsOfRows(problem, 100, uint64(i))
		g.sums[party] = &Sums{one.outer, one.cross}
		g.Rows = append(g.Rows, 100)
	}
	members := protocol.Members(protocol.RoleParty, who.parties...)
	for _, k := range who.keepers {
		if !slices.Contains(who.parties, k) {
			members = append(members, protocol.Members(protocol.RoleKeeper, k)...)
		}
	}
	g.session = g.sessionOf(t, members)
	return g
}

func (g *group) sessionOf(t testing.TB, members []protocol.Member) *protocol.Session {
	t.Helper()
	s, err := protocol.NewSession(protocol.Descriptor{Protocol: Name, Version: Version, Params: g.Encode(), Members: members, Purpose: "train"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (g *group) setup(member string) protocol.Setup {
	return protocol.Setup{Session: g.session, Self: member, Seed: [32]byte{byte(1 + g.session.Index(member))}}
}

func (g *group) machine(t testing.TB, member string) *Machine {
	t.Helper()
	m, err := NewMachine(g.setup(member), g.sums[member])
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (g *group) nodes(t testing.TB) (nodes []sim.Node) {
	t.Helper()
	for _, m := range g.session.Members {
		nodes = append(nodes, sim.Node{
			Name: m.Name, InputHash: g.machine(t, m.Name).InputHash(),
			New:    func() (protocol.Machine, error) { return NewMachine(g.setup(m.Name), g.sums[m.Name]) },
			Timers: map[protocol.Timer]int64{TimerUpload: 1000, TimerKeeper: 3000, TimerWeights: 20_000},
		})
	}
	return nodes
}

// run runs the session and returns its result. A nil function intercepts nothing.
func (g *group) run(t testing.TB, schedule sim.Schedule, intercept func(protocol.Message) []protocol.Message) *sim.Result {
	t.Helper()
	r, err := sim.Run(sim.Config{Session: g.session, Nodes: g.nodes(t), Schedule: schedule, Intercept: intercept})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// plain are the weights that a process computes from all sums.
func (g *group) plain(t testing.TB) linalg.Matrix[float64] {
	t.Helper()
	var outer, cross []int64
	for _, s := range g.sums {
		outer, cross = plus(outer, s.Outer), plus(cross, s.Cross)
	}
	w, err := SolvePlain(g.Problem, outer, cross)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func plus(x, y []int64) []int64 {
	sum := slices.Clone(y)
	for i, v := range x {
		sum[i] += v
	}
	return sum
}

// weightsOf are a member's weights after a run.
func weightsOf(r *sim.Result, member string) []float64 {
	return r.Outcome(member).Machine.(*Machine).Weights().Data
}

// All members have the same weights, those of the plain computation but for their last bits.
func TestMachines(t *testing.T) {
	for name := range trios {
		g := newGroup(t, name, 5)
		r := g.run(t, sim.Schedule{}, nil)
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
		first := weightsOf(r, g.Keepers[0])
		for _, m := range g.session.Members {
			if !slices.Equal(weightsOf(r, m.Name), first) {
				t.Errorf("%s: %s has other weights", name, m.Name)
			}
		}
		for i, v := range g.plain(t).Data {
			if d := v - first[i]; d > 1e-5 || d < -1e-5 {
				t.Errorf("%s: weight %d is off by %g", name, i, d)
			}
		}
	}
}

func TestProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	type size struct {
		features, runs int
		inFlight       int64
	}
	few := size{5, 50, 32 << 10}
	if thorough {
		few.runs = 400
	}
	// Two chunks of an upload and of a square. Of four parties, both chunks may be under way to two servers.
	long := size{256, 1, 4 * 2 * 2 * protocol.MaxChunkBytes}
	for _, c := range []struct {
		name string
		size
	}{{"three keepers", few}, {"five", few}, {"two and a coordinator", few}, {"five", long}} {
		protocoltest.Run(t, protocoltest.Protocol{Name: fmt.Sprint(c.name, " of ", c.features), New: func(t testing.TB) protocoltest.Case {
			g := newGroup(t, c.name, c.features)
			r := g.run(t, sim.Schedule{}, nil)
			want := weightsOf(r, g.Keepers[0])
			return protocoltest.Case{Session: g.session, Nodes: g.nodes(t), InFlight: c.inFlight, Runs: c.runs,
				Check: func(_ string, m protocol.Machine) error {
					return near(g.Problem, m.(*Machine).Weights().Data, want)
				}}
		}})
	}
}

// near returns an error if weights differ by more than the check lets pass: for the residual beta in each word, |rho| is
// at most beta sqrt(M L), and the weights move by at most that over alpha.
func near(p Problem, got, want []float64) error {
	b, err := p.Bounds()
	if err != nil {
		return err
	}
	most := 5 * b.Residual * math.Sqrt(float64(len(want))) / (p.Ratio() * float64(p.Bound()))
	for i, w := range want {
		if d := math.Abs(got[i] - w); d > most {
			return fmt.Errorf("weight %d is off by %g, more than %g", i, d, most)
		}
	}
	return nil
}

// The transcripts fix the bytes on the wire: a change in them is a new version of the protocol.
func TestTranscripts(t *testing.T) {
	for _, c := range []struct {
		file, name string
		schedule   sim.Schedule
	}{
		{"three.txt", "three keepers", sim.Schedule{}},
		{"five.txt", "five", sim.Schedule{}},
		{"coordinator.txt", "two and a coordinator", sim.Schedule{}},
		{"rough.txt", "five", sim.Schedule{Seed: 3, Loss: .4, Duplicate: .4, Reorder: 1, MaxDelay: 9, Crash: []sim.Crash{{Node: "dover", Event: 9}, {Node: "essen", Event: 0}}}},
		{"silent.txt", "five", sim.Schedule{Gone: map[string]int{"bergen": 0}}},
		{"keeperless.txt", "two and a coordinator", sim.Schedule{Gone: map[string]int{"bergen": 9}}},
	} {
		t.Run(c.file, func(t *testing.T) {
			protocoltest.Golden(t, c.file, newGroup(t, c.name, 1).run(t, c.schedule, nil).Transcript())
		})
	}
}

// A party that is no keeper believes two keepers that say the same, whatever the third says and whenever it says it.
func TestWeightsThatTwoKeepersSay(t *testing.T) {
	g := newGroup(t, "five", 5)
	want := weightsOf(g.run(t, sim.Schedule{}, nil), "cork")
	lies := func(liars ...string) func(protocol.Message) []protocol.Message {
		return func(m protocol.Message) []protocol.Message {
			if at := slices.Index(liars, m.Sender); at >= 0 && m.Kind == kindWeights {
				m.Body = slices.Clone(m.Body)
				m.Body[3] ^= byte(1 + at)
			}
			return []protocol.Message{m}
		}
	}
	for _, liar := range g.Keepers {
		for seed := range uint64(5) {
			r := g.run(t, sim.Schedule{Seed: seed, Reorder: 1, MaxDelay: 30}, lies(liar))
			if err := r.Err(); err != nil {
				t.Fatal(err)
			}
			for _, m := range g.session.Members {
				if !slices.Equal(weightsOf(r, m.Name), want) {
					t.Errorf("%s lies, seed %d: %s has other weights", liar, seed, m.Name)
				}
			}
		}
		silent := func(m protocol.Message) []protocol.Message {
			if m.Sender == liar && m.Kind == kindWeights {
				return nil
			}
			return []protocol.Message{m}
		}
		if r := g.run(t, sim.Schedule{}, silent); r.Err() != nil || !slices.Equal(weightsOf(r, "essen"), want) {
			t.Errorf("%s says nothing: %v", liar, r.Err())
		}
	}
	r := g.run(t, sim.Schedule{}, lies(g.Keepers[0], g.Keepers[1]))
	var blame *protocol.BlameError
	if end := r.Outcome("essen").End; end == nil || end.Err == nil || errors.As(end.Err, &blame) {
		t.Errorf("three different weights: %+v", end)
	}
}

// A member that waits names who is missing; without a message missing, a timer changes nothing.
func TestSilence(t *testing.T) {
	for _, c := range []struct {
		name, gone string
		events     int
		blamed     map[string]string
	}{
		{"five", "bergen", 0, map[string]string{"athens": "bergen", "cork": "bergen", "dover": "bergen", "essen": "dover"}},
		{"two and a coordinator", "coordinator", 0, map[string]string{"athens": "coordinator", "bergen": "coordinator"}},
		{"three keepers", "bergen", 8, map[string]string{"athens": "bergen"}},
	} {
		g := newGroup(t, c.name, 5)
		r := g.run(t, sim.Schedule{Gone: map[string]int{c.gone: c.events}}, nil)
		for member, blamed := range c.blamed {
			end := r.Outcome(member).End
			if end == nil {
				t.Errorf("%s without %s: %s goes on", c.name, c.gone, member)
				continue
			}
			blames(t, fmt.Sprintf("%s without %s: %s", c.name, c.gone, member), end.Err, blamed, protocol.KindSilent)
		}
	}
	g := newGroup(t, "three keepers", 5)
	m := g.machine(t, "athens")
	if _, err := m.Step(protocol.Start{InputHash: m.InputHash()}); err != nil {
		t.Fatal(err)
	}
	for _, timer := range []protocol.Timer{TimerKeeper, TimerWeights} { // it waits for uploads
		if e, err := m.Step(protocol.Expired{Timer: timer}); err != nil || e.End != nil {
			t.Errorf("%s: %+v, %v", timer, e, err)
		}
	}
	e, err := m.Step(protocol.Expired{Timer: TimerUpload})
	if err != nil || e.End == nil {
		t.Fatalf("%+v, %v", e, err)
	}
	blames(t, "the upload timer", e.End.Err, "bergen", protocol.KindSilent)
}

// A keeper ends if another has a different document of a party, and both honest keepers do.
func TestTwoDocuments(t *testing.T) {
	g := newGroup(t, "five", 5)
	r := g.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
		if m.Sender == "bergen" && m.Kind == kindUpload && m.Receiver == g.Keepers[0] {
			m.Body = slices.Clone(m.Body)
			m.Body[len(m.Body)-3*32-32-1] ^= 1 // the commitment to mask b, which keeper a cannot check
		}
		return []protocol.Message{m}
	})
	for _, k := range g.Keepers {
		end := r.Outcome(k).End
		var other *documentError
		if end == nil || !errors.As(end.Err, &other) || other.party != "bergen" {
			t.Errorf("%s: %+v", k, end)
		}
	}
	for h := range r.Sent {
		if h.Kind == kindOpening || h.Kind == kindDealing {
			t.Errorf("%v", h)
		}
	}
}

// An upload that is not the committed one ends the session at its holders, which name the party.
func TestUploadNotCommitted(t *testing.T) {
	g := newGroup(t, "five", 5)
	r := g.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
		if m.Sender == "essen" && m.Kind == kindMasked {
			m.Body = slices.Clone(m.Body)
			m.Body[20] ^= 1
		}
		return []protocol.Message{m}
	})
	for _, k := range g.Keepers[:2] {
		blames(t, k, r.Outcome(k).End.Err, "essen", protocol.KindInconsistent)
	}
}

// Each step that sends waits for the disk, keeps to the limit of a step, and asks for the rest.
func TestStepsOfALongUpload(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	g := newGroup(t, "five", 1024) // 8.4 MB to each server
	m := g.machine(t, "essen")
	want := int64(2*g.setting(protocol.SessionID{}).inputWords()) * 16
	sent, steps := int64(0), 0
	e, err := m.Step(protocol.Start{InputHash: m.InputHash()})
	for ; err == nil && (e.Resume || len(e.Send) > 0); e, err = m.Step(protocol.Resumed{}) {
		if !e.Sync || e.End != nil {
			t.Fatalf("step %d: %v, %v", steps, e.Sync, e.End)
		}
		bytes := 0
		for _, m := range e.Send {
			bytes += len(m.Body)
			if m.Kind == kindMasked {
				sent += int64(len(m.Body))
			}
		}
		if bytes > protocol.MaxStepBytes || bytes == 0 {
			t.Fatalf("step %d sends %d bytes", steps, bytes)
		}
		steps++
	}
	if err != nil || sent != want || steps < 4 || len(e.Arm) != 1 || e.Arm[0] != TimerWeights {
		t.Errorf("%d of %d bytes in %d steps, then %+v (%v)", sent, want, steps, e, err)
	}
}

// The hash of an input binds each sum and its place.
func TestSumsHash(t *testing.T) {
	var list [][]byte
	for _, s := range []Sums{{[]int64{1, 2}, []int64{3}}, {[]int64{1, 2}, []int64{4}}, {[]int64{5, 2}, []int64{3}}, {[]int64{1}, []int64{2, 3}}, {[]int64{2, 1}, []int64{3}}} {
		h := s.hash()
		list = append(list, h[:])
	}
	distinctBytes(t, list...)
}

// A timer that expires while the machine itself has work changes nothing.
func TestTimerOfABusyMachine(t *testing.T) {
	m := &Machine{duty: &keeping{phase: delivers, stage: &delivery{}}}
	for _, timer := range []protocol.Timer{TimerUpload, TimerKeeper, TimerWeights, ""} {
		if e, err := m.expire(timer); err != nil || e.End != nil {
			t.Errorf("%q: %+v, %v", timer, e, err)
		}
	}
}

func TestNewMachineRefuses(t *testing.T) {
	g := newGroup(t, "two and a coordinator", 5)
	refused := func(what string, self string, own *Sums, change func(*group, []protocol.Member) []protocol.Member) {
		t.Helper()
		other := *g
		other.Rows = slices.Clone(g.Rows)
		members := change(&other, slices.Clone(g.session.Members))
		s := protocol.Setup{Session: other.sessionOf(t, members), Self: self}
		if _, err := NewMachine(s, own); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	own := g.sums["athens"]
	same := func(_ *group, m []protocol.Member) []protocol.Member { return m }
	refused("a party without sums", "athens", nil, same)
	refused("a coordinator with sums", "coordinator", own, same)
	refused("a stranger", "x", own, same)
	refused("sums of other sizes", "athens", &Sums{own.Outer[1:], own.Cross}, same)
	refused("sums of no rows", "athens", &Sums{plus(own.Outer, slices.Repeat([]int64{1 << 50}, len(own.Outer))), own.Cross}, same)
	refused("few rows", "athens", own, func(g *group, m []protocol.Member) []protocol.Member {
		g.Rows = []int{101, 99}
		return m
	})
	refused("a third party", "athens", own, func(_ *group, m []protocol.Member) []protocol.Member {
		return append(m, protocol.Member{Name: "dover", Role: protocol.RoleParty})
	})
	refused("a member without a part", "athens", own, func(_ *group, m []protocol.Member) []protocol.Member {
		return append(m, protocol.Member{Name: "dover", Role: protocol.RoleKeeper})
	})
	refused("another role", "athens", own, func(_ *group, m []protocol.Member) []protocol.Member {
		m[2].Role = protocol.RoleServer
		return m
	})
	refused("a keeper that is no member", "athens", own, func(_ *group, m []protocol.Member) []protocol.Member { return m[:2] })
	refused("another problem", "athens", own, func(g *group, m []protocol.Member) []protocol.Member {
		g.Plan.Steps = 4
		return m
	})
	other := protocol.Setup{Session: g.session, Self: "athens"}
	m, err := NewMachine(other, own)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Step(protocol.Start{}); err == nil {
		t.Error("a start with another hash")
	}
}
