package fdskl

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// partner is the schedule of training mode faithful among several active workers:
// each has rows to draw from and the coefficients of its own directions.
type partner struct {
	vectors
	ring   ring
	owned  Span
	draws  []int // rows, one for each iteration
	phases map[int][]float64
	alpha  []float64
	heard  []float64 // the others' parts of f, one for each iteration
}

func (p *partner) Next() (Request, bool) {
	if len(p.alpha) == len(p.draws) {
		return Request{}, false
	}
	row := p.draws[len(p.alpha)]
	return p.ask(row, len(p.alpha)+1), true
}

// ask is for a row's phases in the first own directions.
func (p *partner) ask(row, directions int) Request {
	known := len(p.phases[row])
	return Request{Rows: Spans(row), Directions: Span{p.owned.First + known, directions - known}}
}

func (p *partner) Answer(rows []int, words []byte) {
	for i := range len(words) / p.ring.bytes() {
		turn := math.Ldexp(float64(p.ring.word(words, i)), -int(p.ring))
		p.phases[rows[0]] = append(p.phases[rows[0]], 2*math.Pi*turn)
	}
}

func (p *partner) Share(rows []int) ([]float64, Request, bool) {
	if row := rows[0]; len(p.phases[row]) < len(p.alpha) {
		return nil, p.ask(row, len(p.alpha)), false
	}
	f := p.part(rows[0])
	p.decay()
	return []float64{f}, Request{}, true
}

// part is this worker's part of f.
func (p *partner) part(row int) float64 {
	f := 0.0
	for j, a := range p.alpha {
		f += a * math.Sqrt2 * math.Cos(p.phases[row][j])
	}
	return f
}

func (p *partner) decay() {
	for j := range p.alpha {
		p.alpha[j] *= 1 - p.Gamma*p.Lambda
	}
}

func (p *partner) Shares(sum []float64) {
	p.heard = append(p.heard, sum[0])
	row := p.draws[len(p.alpha)]
	f := p.part(row) + sum[0]
	p.decay()
	phi := math.Sqrt2 * math.Cos(p.phases[row][len(p.alpha)])
	p.alpha = append(p.alpha, -p.Gamma*slope("logistic", f, p.Y[row])*phi)
}

// council is a federation with several active workers.
type council struct {
	*federation
	vectors
	draws [][]int // of each active worker
	keys  []ed25519.PrivateKey
}

// newCouncil has the given number of active workers among workers with one column
// each. Active worker k makes iterations[k] iterations.
func newCouncil(t testing.TB, s Spec, workers int, iterations ...int) *council {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 12))
	c := &council{vectors: vectors{X: normal(rng, s.Rows, workers), W: normal(rng, workers, 0), B: make([]float64, s.Directions), Gamma: 0.3, Lambda: 0.02}}
	for w := range c.W {
		for range s.Directions {
			c.W[w] = append(c.W[w], rng.NormFloat64())
		}
	}
	for _, x := range c.X {
		c.Y = append(c.Y, math.Copysign(1, x[0]*x[1]))
	}
	c.federation = joined(t, s, c.split(s.Bits))
	d := c.session.Descriptor
	d.Members = nil
	for w, name := range c.names {
		role := protocol.RoleParty
		if w < len(iterations) {
			role = protocol.RoleLeader
			c.keys = append(c.keys, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(w)}, 32)))
			draws := make([]int, iterations[w])
			for i := range draws {
				draws[i] = rng.IntN(s.Rows)
			}
			c.draws = append(c.draws, draws)
		}
		d.Members = append(d.Members, protocol.Member{Name: name, Role: role})
	}
	var err error
	if c.session, err = protocol.NewSession(d); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *council) identity(w int) Identity {
	var id Identity
	for _, k := range c.keys {
		id.Keys = append(id.Keys, k.Public().(ed25519.PublicKey))
	}
	if w < len(c.keys) {
		id.Sign = func(m []byte) []byte { return ed25519.Sign(c.keys[w], m) }
	}
	return id
}

func (c *council) partner(k int) *partner {
	p := &partner{vectors: c.vectors, ring: c.params.ring(), draws: c.draws[k], phases: make(map[int][]float64)}
	p.owned.First = k * c.params.Spec().Directions / len(c.keys)
	return p
}

func (c *council) nodes() []sim.Node {
	timers := map[protocol.Timer]int64{TimerPhases: 1 << 22, TimerRequest: 1 << 23}
	var nodes []sim.Node
	for w, name := range c.names {
		nodes = append(nodes, sim.Node{Name: name, InputHash: c.inputs[w].Hash, Timers: timers, New: func() (protocol.Machine, error) {
			if w < len(c.keys) {
				return newActive(c.setup(w), c.inputs[w], c.identity(w), c.partner(w), c.chunk)
			}
			return newPassive(c.setup(w), c.inputs[w], c.identity(w), c.chunk)
		}})
	}
	return nodes
}

// pooled makes the iterations in turns on exact phases of whole rows.
func (c *council) pooled() [][]float64 {
	var all []*partner
	for k := range c.draws {
		p := c.partner(k)
		for row := range c.X {
			p.phases[row] = c.phasesOf(row, p.owned.First, len(p.draws), k)
		}
		all = append(all, p)
	}
	for i, made := 0, 0; made < c.iterations(); i++ {
		p := all[i%len(all)]
		if len(p.alpha) == len(p.draws) {
			continue
		}
		sum := 0.0
		for _, other := range all {
			if other != p {
				f, _, _ := other.Share([]int{p.draws[len(p.alpha)]})
				sum += f[0]
			}
		}
		p.Shares([]float64{sum})
		made++
	}
	var list [][]float64
	for _, p := range all {
		list = append(list, p.alpha)
	}
	return list
}

func (c *council) iterations() int {
	n := 0
	for _, d := range c.draws {
		n += len(d)
	}
	return n
}

// phasesOf are exact, with what mode paper adds for the directions of an active
// worker.
func (c *council) phasesOf(row, first, count, active int) []float64 {
	r := c.params.ring()
	list := make([]float64, count)
	for j := range list {
		for w, x := range c.X[row] {
			list[j] += x * c.W[w][first+j]
		}
		names := workerNames(c.session, active)
		for place, name := range names {
			if c.params.Spec().Mode == Paper && place > 0 {
				setup := c.setup(c.member(name))
				b := directionOffsets(setup, place, len(names), Span{first + j, 1}, r)
				list[j] += 2 * math.Pi * math.Ldexp(float64(r.word(b, 0)), -int(r))
			}
		}
	}
	return list
}

func (c *council) member(name string) int {
	for w, n := range c.names {
		if n == name {
			return w
		}
	}
	panic("fdskl: nobody is called " + name)
}

// In turns several active workers compute what one learner with all rows and all
// coefficients does.
func TestSeveralActiveWorkersEqualPooled(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, mode := range []Mode{Paper, Hardened} {
		for _, iterations := range [][]int{{12, 12}, {5, 9}, {9, 5}, {4, 0, 7}, {6, 6, 6, 6}} {
			c := newCouncil(t, Spec{Mode: mode, Bits: 32, Rows: 9, Directions: 60}, 4, iterations...)
			r, err := sim.Run(sim.Config{Session: c.session, Nodes: c.nodes()})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Err(); err != nil || len(r.Refusals) > 0 {
				t.Fatalf("%s, %v: %v, refusals %v", mode, iterations, err, r.Refusals)
			}
			for k, want := range c.pooled() {
				got := r.Outcome(c.names[k]).Machine.(*Active).schedule.(*partner).alpha
				compare(t, fmt.Sprint(mode, iterations, " active worker ", k), got, want, 1e-8)
			}
		}
	}
}

// Asynchronously all iterations are made for any network delays, without turns, and each coefficient is
// within the limits of a step.
func TestAsynchronousActiveWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	c := newCouncil(t, Spec{Mode: Paper, Bits: 16, Rows: 9, Directions: 60, Asynchronous: true}, 4, 8, 11, 5)
	ahead := false // a worker has begun two iterations more than another that had some left
	for seed := range uint64(8) {
		begun := make([]map[uint32]bool, len(c.draws)) // the requests with which iterations begin
		for k := range begun {
			begun[k] = make(map[uint32]bool)
		}
		noTurns := func(m protocol.Message) []protocol.Message {
			if m.Round == roundRequest && c.beginsIteration(t, m) {
				k := int(m.Sequence) % len(begun)
				begun[k][m.Sequence] = true
				for l, other := range begun {
					ahead = ahead || len(begun[k]) >= len(other)+2 && len(other) < len(c.draws[l])
				}
			}
			if m.Kind == "Turn" && m.Sequence != 0 {
				t.Errorf("seed %d: %s passes turn %d on", seed, m.Sender, m.Sequence)
			}
			return []protocol.Message{m}
		}
		r, err := sim.Run(sim.Config{Session: c.session, Nodes: c.nodes(), Intercept: noTurns, Schedule: sim.Schedule{Seed: seed, Loss: .2, Duplicate: .2, Reorder: 1, MaxDelay: 20, CrashRate: .01}})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Err(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for k, draws := range c.draws {
			schedule := r.Outcome(c.names[k]).Machine.(*Active).schedule.(*partner)
			if !slices.ContainsFunc(schedule.heard, func(part float64) bool { return part != 0 }) {
				t.Errorf("seed %d: active worker %d has learnt nothing of the others' parts of f", seed, k)
			}
			alpha := schedule.alpha
			if len(alpha) != len(draws) {
				t.Errorf("seed %d: active worker %d has made %d iterations, want %d", seed, k, len(alpha), len(draws))
			}
			for _, a := range alpha {
				if !(math.Abs(a) <= c.Gamma*math.Sqrt2) {
					t.Errorf("seed %d: a coefficient of %v", seed, a)
				}
			}
		}
	}
	if !ahead {
		t.Error("no worker is ever two iterations ahead of another: they wait for each other")
	}
}

// beginsIteration reports whether a request is one of an iteration. Others are for the phases that a
// worker needs for its part of f.
func (c *council) beginsIteration(t *testing.T, m protocol.Message) bool {
	t.Helper()
	s, err := decodeRequest(m.Body, len(c.names))
	if err != nil {
		t.Fatal(err)
	}
	return s.request.shares
}

// Requests and parts of the model's value go straight: the worker whose iteration it is sends its
// request to each other worker itself, and each other active worker sends its part to that worker and
// to nobody else.
func TestRequestsAndPartsGoStraight(t *testing.T) {
	for _, mode := range []Mode{Paper, Hardened} {
		for _, iterations := range [][]int{{5, 3}, {3, 2, 4}} {
			c := newCouncil(t, Spec{Mode: mode, Bits: 32, Rows: 9, Directions: 60}, 5, iterations...)
			requests, parts, wantParts := make(map[uint32][]string), make(map[uint32][]string), make(map[uint32][]string)
			watch := func(m protocol.Message) []protocol.Message {
				owner := c.names[int(m.Sequence)%len(iterations)]
				switch m.Round {
				case roundRequest:
					requests[m.Sequence] = append(requests[m.Sequence], m.Sender+" to "+m.Receiver)
					if c.beginsIteration(t, m) {
						wantParts[m.Sequence] = straight(c.names[:len(iterations)], owner, "%[2]s to %[1]s")
					}
				case roundShares:
					parts[m.Sequence] = append(parts[m.Sequence], m.Sender+" to "+m.Receiver)
				}
				return []protocol.Message{m}
			}
			r, err := sim.Run(sim.Config{Session: c.session, Nodes: c.nodes(), Intercept: watch})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Err(); err != nil || len(requests) < c.iterations() || len(wantParts) != c.iterations() {
				t.Fatalf("%s, %v: %v, %d requests, %d of which begin an iteration", mode, iterations, err, len(requests), len(wantParts))
			}
			wantRequests := make(map[uint32][]string)
			for sequence := range requests {
				wantRequests[sequence] = straight(c.names, c.names[int(sequence)%len(iterations)], "%s to %s")
				slices.Sort(requests[sequence])
				slices.Sort(parts[sequence])
			}
			if d := cmp.Diff(wantRequests, requests); d != "" {
				t.Errorf("%s, %v: requests: %s", mode, iterations, d)
			}
			if d := cmp.Diff(wantParts, parts); d != "" {
				t.Errorf("%s, %v: parts: %s", mode, iterations, d)
			}
		}
	}
}

// straight lists, for each worker but one, the way between that one and it.
func straight(names []string, one, way string) (list []string) {
	for _, name := range names {
		if name != one {
			list = append(list, fmt.Sprintf(way, one, name))
		}
	}
	slices.Sort(list)
	return list
}

func TestSeveralProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	protocoltest.Run(t, protocoltest.Protocol{Name: "three active", New: func(t testing.TB) protocoltest.Case {
		c := newCouncil(t, Spec{Mode: Paper, Bits: 32, Rows: 4, Directions: 9}, 4, 2, 1, 2)
		want := c.pooled()
		return protocoltest.Case{
			Session: c.session, Nodes: c.nodes(), InFlight: 3 * c.inFlight(), Runs: 25,
			Check: func(name string, m protocol.Machine) error {
				a, ok := m.(*Active)
				if !ok {
					return nil
				}
				got, alpha := a.schedule.(*partner).alpha, want[a.schedule.(*partner).owned.First/3]
				for j := range max(len(got), len(alpha)) {
					if len(got) != len(alpha) || math.Abs(got[j]-alpha[j]) > 1e-8 {
						return fmt.Errorf("%s has coefficients %v, want %v", name, got, alpha)
					}
				}
				return nil
			},
			// An active worker's part of f, and that it needs no more, are its word.
			Trusts: func(h protocol.Header) bool { return h.Round >= roundPhases && h.Round != roundFinish },
		}
	}})
}

// That a worker needs no more iterations is for itself to say: another one's word
// would end its training early. Who lies is named, and not who upstream sums it on.
func TestTurnThatRetiresAnother(t *testing.T) {
	c := newCouncil(t, Spec{Mode: Paper, Bits: 32, Rows: 4, Directions: 9}, 4, 2, 2, 2)
	by := func(signer, who int) retirement {
		hash := retirementHash(c.session.ID(), who)
		return ed25519.Sign(c.keys[signer], hash[:])
	}
	for _, tt := range []struct {
		name string
		done []retirement
		want bool
	}{
		{"the receiver", []retirement{nil, by(0, 1), nil}, false},
		{"a third worker", []retirement{nil, nil, by(0, 2)}, false},
		{"a third worker by another's word", []retirement{by(0, 0), nil, by(0, 0)}, false},
		{"the sender without a signature", []retirement{make(retirement, ed25519.SignatureSize), nil, nil}, false},
		{"the sender", []retirement{by(0, 0), nil, nil}, true},
		{"both others", []retirement{by(0, 0), nil, by(2, 2)}, true},
	} {
		a, err := newActive(c.setup(1), c.inputs[1], c.identity(1), c.partner(1), c.chunk)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Step(protocol.Start{InputHash: a.InputHash()}); err != nil {
			t.Fatal(err)
		}
		m := c.setup(0).Message(c.names[1], roundTurn, kindOf(roundTurn), encodeDone(tt.done))
		m.Sequence = 1
		_, err = a.Step(protocol.Received{Message: m})
		if tt.want && err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if !tt.want {
			blamed(t, err, c.names[0], protocol.KindInconsistent, "lacks the worker's valid signature")
		}
	}
}

// A lie about a third worker in the middle of a training ends it. The receiver of the lie blames
// the liar.
func TestLieAboutAThirdWorker(t *testing.T) {
	c := newCouncil(t, Spec{Mode: Paper, Bits: 32, Rows: 4, Directions: 9}, 4, 2, 2, 2)
	lie := func(m protocol.Message) []protocol.Message {
		if m.Kind == "Turn" && m.Sender == c.names[0] && m.Receiver == c.names[1] {
			hash := retirementHash(c.session.ID(), 2)
			m.Body = encodeDone([]retirement{nil, nil, ed25519.Sign(c.keys[0], hash[:])})
		}
		return []protocol.Message{m}
	}
	r, err := sim.Run(sim.Config{Session: c.session, Nodes: c.nodes(), Intercept: lie})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Refusals) == 0 {
		t.Fatal("nobody refuses the lie")
	}
	for _, refusal := range r.Refusals {
		blamed(t, refusal.Err, c.names[0], protocol.KindInconsistent, "lacks the worker's valid signature")
	}
}
