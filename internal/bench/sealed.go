package bench

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sealed"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// SealedSize holds the numbers of a ridge regression that [Sealed] measures.
type SealedSize struct {
	Rows     int // training rows of all three parties
	Features int
	Targets  int
}

// DigitsSealed is the size of the bundled digits, for which the project has targets.
var DigitsSealed = SealedSize{Rows: 1347, Features: 512, Targets: 10}

const (
	sealedRatio  = 1e-4 // alpha divided by the number of rows
	sealedCPU    = 8    // target: seconds of the three keepers, for DigitsSealed
	sealedChain  = 100  // target: messages in a row, for DigitsSealed
	sealedStep   = 100  // target: milliseconds of processor time of a machine's step, for DigitsSealed
	linkSeconds  = .02  // assumed time of a message over a link
	sealedBlocks = 2048 // number of rows that are made at a time
)

// sealedKeepers are the keepers, the three parties that compute on shares: server a, server b and dealer c.
var sealedKeepers = []string{"north", "south", "east"}

var sealedRoles = []string{"server a", "server b", "dealer c"}

// Check returns an error if the protocol does not accept the size.
func (s SealedSize) Check() error {
	if least := len(sealedKeepers) * sealed.LeastRows; s.Rows < least {
		return fmt.Errorf("bench: there are %d rows; three parties need at least %d", s.Rows, least)
	}
	_, err := s.problem()
	return err
}

func (s SealedSize) problem() (sealed.Problem, error) {
	return sealed.NewProblem(s.Rows, s.Features, s.Targets, sealedRatio)
}

func (s SealedSize) String() string {
	return fmt.Sprintf("%d rows, %d x %d", s.Rows, s.Features, s.Targets)
}

// shares returns the number of rows of each party.
func (s SealedSize) shares() (list []int) {
	n := len(sealedKeepers)
	for i := range n {
		list = append(list, (i+1)*s.Rows/n-i*s.Rows/n)
	}
	return list
}

// Sealed returns a benchmark of protocol sealed. Three parties are its keepers and run in this process, one at a
// time. It measures the processor time of each, and counts their messages. Rows are generated: no cost depends on
// their values. If a peer is given ([FindSealedPeer]), it also measures the peer.
func Sealed(size SealedSize, peer *SealedPeer) Benchmark {
	b := Benchmark{cases: []scene{sceneOf(size.String(), size, raceSealed)}}
	if peer != nil {
		b.cases = append(b.cases, peer.scene(size))
	}
	return b
}

// sealedSession is a session of the three keepers, and what its best turn took.
type sealedSession struct {
	size    SealedSize
	problem sealed.Problem
	session *protocol.Session
	cost    protocol.Cost
	sums    map[string]*sealed.Sums
	best    sealedTurn
	longest *stages // for each stage, the shortest of the turns' longest steps; nil before the first turn
}

// sealedTurn holds the figures of one run of a session.
type sealedTurn struct {
	work    map[string]*stages // processor seconds by keeper
	longest stages             // processor seconds of a keeper's longest step
	bytes   map[string]int64   // bytes that each keeper sent
}

// stages holds the seconds of a keeper in each stage: the uploads of all keepers, the computation, and the check.
type stages struct{ uploads, computation, check float64 }

func (s *stages) total() float64 { return s.uploads + s.computation + s.check }

// of returns the seconds of a stage, by the name that a keeper's state machine reports.
func (s *stages) of(stage string) *float64 {
	switch stage {
	case "check":
		return &s.check
	case "steps":
		return &s.computation
	}
	return &s.uploads
}

// least returns the shorter seconds of each stage.
func (s *stages) least(other stages) *stages {
	return &stages{min(s.uploads, other.uploads), min(s.computation, other.computation), min(s.check, other.check)}
}

func (t sealedTurn) total() (sum float64) {
	for _, s := range t.work {
		sum += s.total()
	}
	return sum
}

func raceSealed(size SealedSize) (race, error) {
	s, err := newSealedSession(size)
	if err != nil {
		return race{}, err
	}
	return race{runs: []run{s.run}, rows: func([]span) []Row { return s.figures() }}, nil
}

func newSealedSession(size SealedSize) (*sealedSession, error) {
	s := &sealedSession{size: size, sums: make(map[string]*sealed.Sums)}
	var err error
	if s.problem, err = size.problem(); err != nil {
		return nil, err
	}
	p := sealed.Params{Problem: s.problem, Keepers: [3]string(sealedKeepers), Rows: size.shares()}
	if s.session, err = protocol.NewSession(protocol.Descriptor{
		Protocol: sealed.Name, Version: sealed.Version, Params: p.Encode(), Purpose: "bench",
		Members: protocol.Members(protocol.RoleParty, sealedKeepers...),
	}); err != nil {
		return nil, err
	}
	if s.cost, err = sealed.Cost(s.session); err != nil {
		return nil, err
	}
	for i, party := range sealedKeepers {
		if s.sums[party], err = s.add(uint64(i), p.Rows[i]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// add adds up the rows of a party, which are random.
func (s *sealedSession) add(party uint64, rows int) (*sealed.Sums, error) {
	sums, err := sealed.NewAccumulator(s.problem)
	if err != nil {
		return nil, err
	}
	for lo := 0; lo < rows; lo += sealedBlocks {
		n := min(sealedBlocks, rows-lo)
		if err := sums.Add(s.features(n, party<<20+uint64(lo)), s.targets(n)); err != nil {
			return nil, err
		}
	}
	outer, cross := sums.Sums()
	return &sealed.Sums{Outer: outer, Cross: cross}, nil
}

// features returns drawn features of n rows, as features x rows. Each row has a norm below 1.
func (s *sealedSession) features(n int, seed uint64) linalg.Matrix[float64] {
	phi := noise[float64](s.size.Features, n, seed)
	for i := range phi.Data {
		phi.Data[i] /= math.Sqrt(float64(s.size.Features))
	}
	return phi
}

// targets returns the targets of n rows, as targets x rows: a class in turn, or 1 and -1 if there is one target.
func (s *sealedSession) targets(n int) linalg.Matrix[float64] {
	y := linalg.New[float64](s.size.Targets, n)
	for i := range n {
		y.Row(i % y.Rows)[i] = 1
		if y.Rows == 1 && i%2 == 1 {
			y.Row(0)[i] = -1
		}
	}
	return y
}

// run runs the session. It fails if a keeper does, and if the messages are not those that [sealed.Cost] states.
func (s *sealedSession) run(ctx context.Context) error {
	t := sealedTurn{work: make(map[string]*stages), bytes: make(map[string]int64)}
	var nodes []sim.Node
	for i, name := range sealedKeepers {
		n, err := s.node(ctx, &t, name, byte(i+1))
		if err != nil {
			return err
		}
		nodes = append(nodes, n)
	}
	r, err := sim.Run(sim.Config{Session: s.session, Nodes: nodes, MaxSteps: math.MaxInt})
	if err != nil {
		return err
	}
	if err := r.Err(); err != nil {
		return err
	}
	for _, e := range r.Edges {
		t.bytes[e.From] += e.Bytes
		if stated := s.stated(e.From, e.To); e.Bytes != stated {
			return fmt.Errorf("%s sent %d bytes to %s; the protocol's formula gives %d", e.From, e.Bytes, e.To, stated)
		}
	}
	s.keep(t)
	return nil
}

// keep stores a turn if it is the best so far. For each stage, it stores the shortest of the turns' longest steps,
// because other programs lengthen steps.
func (s *sealedSession) keep(t sealedTurn) {
	if s.best.work == nil || t.total() < s.best.total() {
		s.best = t
	}
	if s.longest == nil {
		s.longest = &t.longest
	}
	s.longest = s.longest.least(t.longest)
}

// stated returns the bytes that one keeper sends another, by the protocol's statement.
func (s *sealedSession) stated(from, to string) (bytes int64) {
	for _, f := range s.cost.Flows {
		if f.From == from && f.To == to {
			bytes += f.Bytes
		}
	}
	return bytes
}

// node returns a keeper whose steps are measured. The creation of the keeper's state machine counts as uploads,
// because it makes the keeper's upload.
func (s *sealedSession) node(ctx context.Context, t *sealedTurn, name string, seed byte) (sim.Node, error) {
	spent := new(stages)
	t.work[name] = spent
	var m *sealed.Machine
	took, err := stopwatch(func() (err error) {
		own := &sealed.Sums{Outer: slices.Clone(s.sums[name].Outer), Cross: slices.Clone(s.sums[name].Cross)}
		m, err = sealed.NewMachine(protocol.Setup{Session: s.session, Self: name, Seed: [32]byte{seed}}, own)
		return err
	})
	if err != nil {
		return sim.Node{}, err
	}
	spent.uploads = took.cpu
	return sim.Node{Name: name, InputHash: m.InputHash(), New: func() (protocol.Machine, error) {
		return &stagedMeter{Machine: m, stopped: ctx.Err, spent: spent, longest: &t.longest}, nil
	}}, nil
}

// stagedMeter measures the steps of a keeper's state machine, by the stage that the machine reports. No other keeper
// works meanwhile.
type stagedMeter struct {
	protocol.Machine
	stopped func() error // why the measurement is to end
	stage   string       // stage of the last step
	spent   *stages
	longest *stages // processor seconds of the longest step of all keepers
}

// Step runs one step and adds its processor time. It ends the session once the measurement is to end.
func (m *stagedMeter) Step(e protocol.Event) (effects protocol.Effects, err error) {
	if err := m.stopped(); err != nil {
		return protocol.Effects{End: &protocol.End{Err: err}}, nil //nolint:nilerr // the error ends the session
	}
	took, err := stopwatch(func() (err error) {
		effects, err = m.Machine.Step(e)
		return err
	})
	if stage := effects.Progress.Stage; stage != "" { // the last step and a refusal report none
		m.stage = stage
	}
	*m.spent.of(m.stage) += took.cpu
	longest := m.longest.of(m.stage)
	*longest = max(*longest, took.cpu)
	return effects, err
}

// linked computes the seconds of a session over a link on which each message takes [linkSeconds], whatever its size. The
// keepers compute one after the other, on one core.
func (s *sealedSession) linked(cpu float64) float64 { return float64(s.cost.Rounds)*linkSeconds + cpu }

// longestSteps returns the rows of the longest steps of all keepers, in processor time. The processor time of a step
// is no less than its time on an idle machine, and does not depend much on other programs.
func (s *sealedSession) longestSteps() (rows []Row) {
	for _, stage := range []struct {
		name    string
		seconds float64
	}{{"uploads", s.longest.uploads}, {"computation", s.longest.computation}, {"check", s.longest.check}} {
		r := figure("longest step of the "+stage.name, 1000*stage.seconds, "CPU ms")
		if s.size == DigitsSealed {
			r = r.within(sealedStep)
		}
		rows = append(rows, r)
	}
	return rows
}

// figures returns the rows of the turn with the least processor time. Only the size DigitsSealed has targets.
func (s *sealedSession) figures() []Row {
	const unit = "CPU s"
	var rows []Row
	var bytes int64
	for i, name := range sealedKeepers {
		w, who := s.best.work[name], sealedRoles[i]
		rows = append(rows,
			figure(who+", uploads", w.uploads, unit),
			figure(who+", computation", w.computation, unit),
			figure(who+", check", w.check, unit),
			figure(who+", bytes sent", float64(s.best.bytes[name])/1e6, "MB"))
		bytes += s.best.bytes[name]
	}
	all := s.best.total()
	whole := figure("three keepers, "+s.size.String(), all, unit)
	chain := figure("messages in a row", float64(s.cost.Rounds), "")
	if s.size == DigitsSealed {
		whole, chain = whole.within(sealedCPU), chain.within(sealedChain)
	}
	plan := s.problem.Plan
	return append(append(rows, s.longestSteps()...), whole,
		figure(fmt.Sprintf("steps, in blocks of %d", plan.Block), float64(plan.Steps), ""),
		figure("bytes between keepers", float64(bytes)/1e6, "MB"),
		chain,
		figure(fmt.Sprintf("time at %.0f ms a message, computed", 1000*linkSeconds), s.linked(all), "s"))
}
