package sealed

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// forgetful is a keeper that loses its journal once: it forgets all that it did, and goes on with another machine.
type forgetful struct {
	testing.TB
	*group
	name  string
	now   *Machine
	loses func(event int, e protocol.Effects) bool // before the effects of an event
	event int
	lost  bool
	ended bool
	sent  map[protocol.Header][32]byte
	heard []protocol.Message // by the first life
}

func (g *group) forgetful(t testing.TB, name string, loses func(event int, e protocol.Effects) bool) *forgetful {
	return &forgetful{TB: t, group: g, name: name, now: g.machine(t, name), loses: loses, sent: map[protocol.Header][32]byte{}}
}

func (f *forgetful) Step(e protocol.Event) (protocol.Effects, error) {
	f.hearsAgain()
	effects, err := f.now.Step(e)
	if err != nil {
		return effects, err
	}
	if r, is := e.(protocol.Received); is && !f.lost {
		f.heard = append(f.heard, r.Message)
	}
	if !f.lost && f.loses(f.event, effects) {
		f.lost, f.now = true, f.anew(f, f.name)
		if effects, err = f.now.Step(protocol.Start{InputHash: f.now.InputHash()}); err != nil {
			f.Fatal(err)
		}
	}
	f.event++
	f.ended = effects.End != nil
	effects.Send = f.unsent(effects.Send)
	return effects, nil
}

// hearsAgain gives the second life all that the first one has heard, as a broker does that got no receipt. It drops that
// and blames nobody, whenever it comes.
func (f *forgetful) hearsAgain() {
	if !f.lost || f.ended {
		return
	}
	for _, m := range f.heard {
		if m.Kind == kindContribution && m.Sequence == f.roleOf(m.Sender).begins() {
			continue // another one has begun anew, too, which ends the session
		}
		if _, err := f.now.Step(protocol.Received{Message: m}); !errors.Is(err, protocol.ErrPast) {
			f.Errorf("%v, which the first life has heard: %v", m.Header, err)
		}
	}
}

// anew is the machine of a keeper that has lost its journal.
func (g *group) anew(t testing.TB, name string) *Machine {
	t.Helper()
	setup := g.setup(name)
	setup.Anew = &[32]byte{0xa5, byte(g.session.Index(name))}
	m, err := NewMachine(setup, g.sums[name])
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// unsent drops what an earlier life has sent, as receivers do by the header. It has to be the same, byte for byte.
func (f *forgetful) unsent(list []protocol.Message) (fresh []protocol.Message) {
	for _, m := range list {
		body, known := f.sent[m.Header]
		switch now := sha256.Sum256(m.Body); {
		case !known:
			f.sent[m.Header] = now
			fresh = append(fresh, m)
		case body != now:
			f.Errorf("%v has other bytes in the second life", m.Header)
		case m.Kind != kindUpload && m.Kind != kindMasked:
			f.Errorf("%v is sent in both lives", m.Header)
		}
	}
	return fresh
}

// losing runs a session in which keepers lose their journals.
func (g *group) losing(t testing.TB, s sim.Schedule, keepers ...*forgetful) *sim.Result {
	t.Helper()
	return g.losingBeside(t, s, nil, keepers...)
}

// losingBeside does so while messages are changed.
func (g *group) losingBeside(t testing.TB, s sim.Schedule, change func(protocol.Message) []protocol.Message, keepers ...*forgetful) *sim.Result {
	t.Helper()
	nodes := g.nodes(t)
	for _, f := range keepers {
		nodes[g.session.Index(f.name)].New = func() (protocol.Machine, error) { return f, nil }
	}
	r, err := sim.Run(sim.Config{Session: g.session, Nodes: nodes, Schedule: s, Intercept: change})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// machineOf is a member's latest machine.
func machineOf(r *sim.Result, member string) *Machine {
	if f, is := r.Outcome(member).Machine.(*forgetful); is {
		return f.now
	}
	return r.Outcome(member).Machine.(*Machine)
}

// opensAlike requires that all members end with the same weights, those of an undisturbed run but for their last bits.
func (g *group) opensAlike(t *testing.T, what string, r, whole *sim.Result) {
	t.Helper()
	if err := r.Err(); err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	for _, refusal := range r.Refusals {
		t.Errorf("%s: %s refuses: %v", what, refusal.Node, refusal.Err)
	}
	first := machineOf(r, g.Keepers[0]).Weights().Data
	for _, m := range g.session.Members {
		if !slices.Equal(machineOf(r, m.Name).Weights().Data, first) {
			t.Errorf("%s: %s has other weights", what, m.Name)
		}
	}
	for i, v := range weightsOf(whole, g.Keepers[0]) {
		if d := v - first[i]; d > 1e-5 || d < -1e-5 {
			t.Errorf("%s: weight %d is off by %g", what, i, d)
		}
	}
}

// namesLost requires that no keeper has weights, and that another one ends with an error that names the keeper.
func (g *group) namesLost(t *testing.T, what string, r *sim.Result, keeper string) {
	t.Helper()
	named := 0
	for _, k := range g.Keepers {
		end := r.Outcome(k).End
		if end == nil || end.Err == nil {
			t.Errorf("%s: %s ends without an error", what, k)
			continue
		}
		var lost *lostError
		if errors.As(end.Err, &lost) {
			named++
			if lost.keeper != keeper || k == keeper {
				t.Errorf("%s: %s names %s", what, k, lost.keeper)
			}
		}
	}
	if named == 0 {
		t.Errorf("%s: no keeper names %s", what, keeper)
	}
}

// tellsSumsOnce requires that keepers tell sums in one generation at most.
func tellsSumsOnce(t *testing.T, what string, r *sim.Result) {
	t.Helper()
	told := map[uint32]bool{}
	for h := range r.Sent {
		if h.Kind == kindResidual {
			told[h.Sequence] = true
		}
	}
	if len(told) > 1 {
		t.Errorf("%s: sums are told in generations %v", what, told)
	}
}

// sends counts the messages of a kind that the first life has sent.
func (f *forgetful) sends(kind string) (n int) {
	for h := range f.sent {
		if h.Kind == kind && h.Sequence == 0 {
			n++
		}
	}
	return n
}

// A keeper loses its journal before one of its events takes effect. As long as no other can have shown its coins, all
// members end with the weights. If another has, it ends and names the keeper. Sums are told in one generation at most.
func TestAnew(t *testing.T) {
	every := 11
	if thorough {
		every = 1
	}
	for name := range trios {
		plain, private := newGroup(t, name, 5), newGroup(t, name, 5).privately(t, 8)
		for kind, g := range map[string]*group{"plain": plain, "private": private} {
			whole := g.run(t, sim.Schedule{}, nil)
			for r, keeper := range g.Keepers {
				opened, named := 0, 0
				for at := r; at < whole.Outcome(keeper).Events; at += every {
					f := g.forgetful(t, keeper, func(event int, _ protocol.Effects) bool { return event == at })
					result := g.losing(t, sim.Schedule{Seed: uint64(at)}, f)
					what := fmt.Sprintf("%s, %s: %s forgets %d events", name, kind, keeper, at)
					tellsSumsOnce(t, what, result)
					switch {
					case f.sends(kindCommitments) < 2:
						opened++
						g.opensAlike(t, what, result, whole)
					case f.sends(kindClaims) > 0 && f.sends(kindRange) == 0:
						named++
						g.namesLost(t, what, result, keeper)
					case result.Err() == nil:
						g.opensAlike(t, what, result, whole)
					}
				}
				if opened == 0 || named == 0 {
					t.Errorf("%s, %s, %s: %d open and %d are named", name, kind, keeper, opened, named)
				}
			}
		}
	}
}

// The same if messages come in any order, late and twice, and the other members crash, before and after they hear of
// it.
func TestAnewInDisorder(t *testing.T) {
	g := newGroup(t, "five", 5)
	whole := g.run(t, sim.Schedule{}, nil)
	for seed := range uint64(20) {
		keeper := g.Keepers[seed%3]
		f := g.forgetful(t, keeper, func(event int, e protocol.Effects) bool { return event == int(seed*7) })
		s := sim.Schedule{Seed: seed, Loss: .3, Duplicate: .3, Reorder: 1, MaxDelay: 9}
		for _, m := range g.session.Members {
			for event := int(seed); m.Name != keeper && event < 200; event += 9 {
				s.Crash = append(s.Crash, sim.Crash{Node: m.Name, Event: event})
			}
		}
		r := g.losing(t, s, f)
		what := fmt.Sprintf("seed %d", seed)
		tellsSumsOnce(t, what, r)
		if f.sends(kindCommitments) < 2 {
			g.opensAlike(t, what, r, whole)
		}
	}
}

// A second loss ends the session, also that of another keeper: no keeper takes part in a third generation.
func TestAnewOnce(t *testing.T) {
	g := newGroup(t, "three keepers", 5)
	for _, second := range g.Keepers[1:] {
		first := g.forgetful(t, g.Keepers[0], sendsFirst(kindInputs))
		other := g.forgetful(t, second, func(_ int, e protocol.Effects) bool {
			return slices.ContainsFunc(e.Send, func(m protocol.Message) bool { return m.Kind == kindOpening || m.Kind == kindDealing })
		})
		r := g.losing(t, sim.Schedule{}, first, other)
		if !first.lost || !other.lost {
			t.Fatalf("%s: not both lose their journals", second)
		}
		g.namesLost(t, second, r, second)
	}
}

// sendsFirst reports whether a step sends a message of a kind.
func sendsFirst(kind string) func(int, protocol.Effects) bool {
	return func(_ int, e protocol.Effects) bool {
		return slices.ContainsFunc(e.Send, func(m protocol.Message) bool { return m.Kind == kind })
	}
}

// begun is the message by which a keeper says that it begins its generation.
func (g *group) begun(from, to string) protocol.Message {
	h := computation{setting: g.setting(g.session.ID())}.header(g.roleOf(from), g.roleOf(to), 0, kindContribution)
	h.Sequence = g.roleOf(from).begins()
	return protocol.Message{Header: h, Body: bytes.Repeat([]byte{7}, 32)}
}

func (g *group) roleOf(keeper string) role { return role(slices.Index(g.Keepers[:], keeper)) }

// A keeper that lies begins a generation without need, at one keeper or both, before each kind of its messages. It can
// end the session. It changes no weights, has no sums told twice, and does not stop those that have shown their tokens.
func TestLiarBeginsAnew(t *testing.T) {
	g := newGroup(t, "five", 5)
	kinds := map[string]bool{}
	for h := range g.run(t, sim.Schedule{}, nil).Sent {
		kinds[h.Kind] = slices.Contains(g.Keepers[:], h.Sender)
	}
	for _, liar := range g.Keepers {
		others := slices.DeleteFunc(slices.Clone(g.Keepers[:]), func(k string) bool { return k == liar })
		for kind := range kinds {
			for _, told := range [][]string{others, others[:1], others[1:]} {
				what := fmt.Sprintf("%s begins anew before %s at %v", liar, kind, told)
				var said []string
				r := g.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
					list := []protocol.Message{m}
					if m.Sender == liar && m.Kind == kind && slices.Contains(told, m.Receiver) && !slices.Contains(said, m.Receiver) {
						said = append(said, m.Receiver)
						list = []protocol.Message{g.begun(liar, m.Receiver), m}
					}
					return list
				})
				tellsSumsOnce(t, what, r)
				if kind == kindPart && r.Err() != nil {
					t.Errorf("%s: %v", what, r.Err())
				}
				for _, m := range g.session.Members {
					if end := r.Outcome(m.Name).End; end != nil && end.Err == nil {
						if err := near(g.Problem, weightsOf(r, m.Name), g.plain(t).Data); err != nil {
							t.Errorf("%s: %s: %v", what, m.Name, err)
						}
					}
				}
			}
		}
	}
}

// A keeper lies and begins anew without need, at one other or both, and one or both honest keepers lose their journals
// before coins, at any time. All end, sums are told in one generation, and no honest member is named but for silence, or
// for a journal that it has lost.
func TestLiarBesideLostJournals(t *testing.T) {
	g := newGroup(t, "five", 5)
	tries := uint64(60)
	if thorough {
		tries = 1000
	}
	done, named := 0, 0
	for seed := range tries {
		rng := rand.New(rand.NewPCG(seed, 0))
		liar := g.Keepers[seed%3]
		honest := slices.DeleteFunc(slices.Clone(g.Keepers[:]), func(k string) bool { return k == liar })
		var losers []*forgetful
		for i, k := range honest {
			at, claimed := rng.IntN(120), false
			if i == int(seed/3%2) || rng.IntN(5) == 0 {
				losers = append(losers, g.forgetful(t, k, func(event int, e protocol.Effects) bool {
					claimed = claimed || e.Claim != nil
					return event == at && !claimed
				}))
			}
		}
		when, told := rng.IntN(300), [][]string{honest, honest[:1], honest[1:], nil, nil, nil}[rng.IntN(6)]
		sent, said := 0, []string(nil)
		r := g.losingBeside(t, sim.Schedule{Seed: seed, Reorder: 1, MaxDelay: 9, Duplicate: .2}, func(m protocol.Message) []protocol.Message {
			sent++
			if m.Sender != liar || sent < when || !slices.Contains(told, m.Receiver) || slices.Contains(said, m.Receiver) {
				return []protocol.Message{m}
			}
			said = append(said, m.Receiver)
			return []protocol.Message{m, g.begun(liar, m.Receiver)}
		}, losers...)
		what := fmt.Sprintf("seed %d: %s lies to %v", seed, liar, told)
		tellsSumsOnce(t, what, r)
		mayBeNamed := func(member string) bool {
			return member == liar || slices.ContainsFunc(losers, func(f *forgetful) bool { return f.lost && f.name == member })
		}
		for _, m := range g.session.Members {
			end := r.Outcome(m.Name).End
			if end == nil && !machineOf(r, m.Name).MustGoOn() {
				t.Errorf("%s: %s does not end", what, m.Name)
			}
			if end == nil || end.Err == nil {
				done++
				continue
			}
			var lost *lostError
			var blame *protocol.BlameError
			named++
			if errors.As(end.Err, &lost) && !mayBeNamed(lost.keeper) ||
				errors.As(end.Err, &blame) && blame.Party != liar && blame.Kind != protocol.KindSilent {
				t.Errorf("%s: %s: %v", what, m.Name, end.Err)
			}
		}
		for _, refusal := range r.Refusals {
			var blame *protocol.BlameError
			if errors.As(refusal.Err, &blame) && refusal.Node != liar && blame.Party != liar {
				t.Errorf("%s: %s refuses: %v", what, refusal.Node, blame)
			}
		}
	}
	if done == 0 || named == 0 {
		t.Errorf("%d members are done, %d name another", done, named)
	}
}

// A keeper that has shown its coins ends if another begins anew, and one that has shown its token refuses. A keeper
// that has begun anew, or followed another, ends if a third begins. Each names the sender.
func TestFollow(t *testing.T) {
	g := newGroup(t, "three keepers", 5)
	for _, c := range []struct {
		name   string
		stage  stage
		number uint32
		named  bool
	}{
		{"coins shown", &check{revealed: [3]secret{{1}}}, 0, true},
		{"token shown", &check{revealed: [3]secret{{1}}, opening: &disclosure{}}, 0, false},
		{"followed before", &gathering{}, dealerC.begins(), true},
		{"begun before", &gathering{}, serverA.begins(), true},
	} {
		k := g.machine(t, g.Keepers[serverA]).duty.(*keeping)
		k.stage, k.generation = c.stage, c.number
		err := k.receive(g.begun(g.Keepers[serverB], g.Keepers[serverA]))
		var lost *lostError
		if c.named != errors.As(err, &lost) || c.named && (lost.keeper != g.Keepers[serverB] || !strings.Contains(lost.Public(), lost.keeper)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if !c.named {
			blames(t, c.name, err, g.Keepers[serverB], protocol.KindUnexpected)
		}
	}
}

// Messages of another generation: those of the first are past, contributions to one that the receiver may begin wait,
// and all others are refused.
func TestElsewhere(t *testing.T) {
	g := newGroup(t, "three keepers", 5)
	a, b := g.Keepers[serverA], g.Keepers[serverB]
	of := func(sequence uint32, change func(*protocol.Message)) protocol.Message {
		m := g.begun(b, a)
		m.Sequence = sequence
		change(&m)
		return m
	}
	same := func(*protocol.Message) {}
	for _, c := range []struct {
		name string
		own  uint32
		protocol.Message
		want error // nil: it is refused
	}{
		{"of the first generation", 3, of(0, same), protocol.ErrPast},
		{"a step of the first generation", 3, of(0, func(m *protocol.Message) { m.Kind = kindOpening }), protocol.ErrPast},
		{"to a generation of another keeper", 0, of(dealerC.begins(), same), protocol.ErrLater},
		{"to the receiver's own", 0, of(serverA.begins(), same), nil},
		{"to a generation that none begins", 0, of(generations, same), nil},
		{"to a third", serverB.begins(), of(dealerC.begins(), same), protocol.ErrPast},
		{"to a third, of a keeper that has forgotten", serverA.begins(), of(dealerC.begins(), same), protocol.ErrPast},
		{"a step of what the receiver has forgotten", serverA.begins(), of(dealerC.begins(), func(m *protocol.Message) { m.Kind = kindOpening }), protocol.ErrPast},
		{"a step of a third", serverB.begins(), of(dealerC.begins(), func(m *protocol.Message) { m.Kind = kindOpening }), nil},
		{"a step", 0, of(serverB.begins(), func(m *protocol.Message) { m.Kind = kindOpening }), nil},
		{"a round", 0, of(serverB.begins(), func(m *protocol.Message) { m.Round = 1 }), nil},
		{"a piece", 0, of(serverB.begins(), func(m *protocol.Message) { m.Chunks = 2 }), nil},
		{"short", 0, of(serverB.begins(), func(m *protocol.Message) { m.Body = m.Body[1:] }), nil},
	} {
		k := g.machine(t, a).duty.(*keeping)
		k.generation = c.own
		switch err := k.receive(c.Message); {
		case c.want == nil:
			blames(t, c.name, err, b, protocol.KindUnexpected)
		case !errors.Is(err, c.want):
			t.Errorf("%s: %v", c.name, err)
		}
		if k.generation != c.own {
			t.Errorf("%s: the keeper begins generation %d", c.name, k.generation)
		}
	}
}

// A keeper that has shown its coins blames nobody who has heard before it that another has begun anew.
func TestElsewhereAfterCoins(t *testing.T) {
	g := newGroup(t, "three keepers", 5)
	k := g.machine(t, g.Keepers[serverA]).duty.(*keeping)
	k.stage = &check{revealed: [3]secret{{1}}}
	m := g.begun(g.Keepers[serverB], g.Keepers[serverA])
	m.Sequence = dealerC.begins()
	if err := k.receive(m); !errors.Is(err, protocol.ErrPast) {
		t.Errorf("%v", err)
	}
}

// What a member has sent to a keeper's earlier life may come at any stage of the later one, as a broker delivers again
// what was not acknowledged. Nobody is blamed for it. An upload of the later life that comes at a wrong stage is refused.
func TestUploadToAnEarlierLife(t *testing.T) {
	g := newGroup(t, "five", 5)
	c := computation{setting: g.setting(g.session.ID())}
	for r, keeper := range g.Keepers {
		for what, later := range map[string]stage{"gathers": nil, "serves": &server{}, "deals": &dealer{}, "checks": &check{}, "opens": &check{opening: &disclosure{}}, "delivers": &delivery{}} {
			for _, sender := range []string{"essen", g.Keepers[(r+1)%3]} {
				for _, kind := range []string{kindUpload, kindMasked} {
					k := g.anew(t, keeper).duty.(*keeping)
					if later != nil {
						k.stage = later
					}
					h := c.header(role(r), role(r), 0, kind)
					h.Sender = sender
					if err := k.receive(protocol.Message{Header: h}); !errors.Is(err, protocol.ErrPast) {
						t.Errorf("%s %s, %s of %s: %v", keeper, what, kind, sender, err)
					}
				}
			}
		}
	}
}

// A data party that is no keeper sends a keeper its upload again, once, byte for byte. It refuses all that does not ask
// for it.
func TestUploadAgain(t *testing.T) {
	g := newGroup(t, "five", 5)
	c := computation{setting: g.setting(g.session.ID())}
	m := g.machine(t, "essen")
	e, err := m.Step(protocol.Start{InputHash: m.InputHash()})
	if err != nil {
		t.Fatal(err)
	}
	first := map[protocol.Header][]byte{}
	for _, m := range e.Send {
		first[m.Header] = m.Body
	}
	for r := range role(parts) {
		h := c.header(r, r, 0, kindAnew)
		h.Receiver, h.Sequence = "essen", r.begins()
		for what, change := range map[string]func(*protocol.Message){
			"another's number": func(m *protocol.Message) { m.Sequence = m.Sequence%3 + 1 },
			"the first":        func(m *protocol.Message) { m.Sequence = 0 },
			"a body":           func(m *protocol.Message) { m.Body = []byte{1} },
			"a piece":          func(m *protocol.Message) { m.Chunks = 2 },
			"a party's":        func(m *protocol.Message) { m.Sender = "bergen" },
		} {
			bad := protocol.Message{Header: h}
			change(&bad)
			_, err := m.Step(protocol.Received{Message: bad})
			blames(t, what, err, bad.Sender, protocol.KindUnexpected)
		}
		e, err := m.Step(protocol.Received{Message: protocol.Message{Header: h}})
		if err != nil {
			t.Fatal(err)
		}
		want := 2
		if r == dealerC {
			want = 1
		}
		for _, again := range e.Send {
			if again.Sequence != r.begins() || again.Receiver != g.Keepers[r] {
				t.Errorf("%v", again.Header)
			}
			again.Sequence = 0
			if !bytes.Equal(first[again.Header], again.Body) {
				t.Errorf("%v has other bytes", again.Header)
			}
		}
		if len(e.Send) != want {
			t.Errorf("%d messages to %s", len(e.Send), g.Keepers[r])
		}
		_, err = m.Step(protocol.Received{Message: protocol.Message{Header: h, Body: nil}})
		blames(t, "again", err, g.Keepers[r], protocol.KindUnexpected)
	}
}

// A keeper that has begun anew draws all but its upload from its fresh bytes: with others it contributes other bytes,
// and commits to other coins and another token.
func TestAnewDrawsAfresh(t *testing.T) {
	g := newGroup(t, "three keepers", 5)
	name := g.Keepers[serverB]
	drawn := func(m *Machine) (list [][]byte) {
		k := m.duty.(*keeping)
		for msg, ok := k.gathered.send(); ok; msg, ok = k.gathered.send() {
			list = append(list, msg.Body)
		}
		c := &check{computation: k.computation, self: k.self, seed: k.seed}
		for _, purpose := range []string{"coins", "token", "challenge"} {
			s := c.secret(purpose)
			list = append(list, s[:])
		}
		return list
	}
	first, anew, other := g.machine(t, name), g.anew(t, name), g.setup(name)
	other.Anew = &[32]byte{1}
	third, err := NewMachine(other, g.sums[name])
	if err != nil {
		t.Fatal(err)
	}
	distinctBytes(t, slices.Concat(drawn(first), drawn(anew), drawn(third))...)
	if !slices.Equal(first.upload.masked, anew.upload.masked) || first.upload.document != anew.upload.document {
		t.Error("the upload is another one")
	}
}

// A keeper claims its name in the step that shows its coins, once, and then forgets its upload. A party that is no
// keeper has no name, and nothing begins anew there.
func TestAnewUntil(t *testing.T) {
	g := newGroup(t, "five", 5)
	for _, member := range []string{g.Keepers[0], "essen"} {
		keeps := slices.Contains(g.Keepers[:], member)
		m := g.machine(t, member)
		if until := protocol.AnewUntil(m); (until != "") != keeps || keeps && !strings.HasSuffix(until, g.session.ID().Hex()) {
			t.Errorf("%s: %q", member, until)
		}
		var claims []string
		coins := 0
		f := g.forgetful(t, member, func(_ int, e protocol.Effects) bool {
			coins += map[bool]int{true: 1}[len(claims) == 0 && sendsFirst(kindCoins)(0, e) && len(e.Claim) == 0]
			claims = append(claims, e.Claim...)
			return false
		})
		g.losing(t, sim.Schedule{}, f)
		if coins > 0 || keeps && !slices.Equal(claims, []string{protocol.AnewUntil(m)}) || !keeps && claims != nil {
			t.Errorf("%s claims %q, %d times too late", member, claims, coins)
		}
		if held := f.now.upload.masked != nil; held == keeps {
			t.Errorf("%s holds its upload in the end: %v", member, held)
		}
	}
	setup := g.setup("essen")
	setup.Anew = new([32]byte)
	if _, err := NewMachine(setup, g.sums["essen"]); err == nil {
		t.Error("a party that is no keeper begins anew")
	}
}

// Weights count if two keepers say them of one generation.
func TestWeightsOfOneGeneration(t *testing.T) {
	p, _, _ := small(t)
	c := computation{setting: settingOf(p)}
	said := func(from role, generation uint32, word byte) protocol.Message {
		h := c.header(from, from, 0, kindWeights)
		h.Receiver, h.Sequence = "home", generation
		return protocol.Message{Header: h, Body: bytes.Repeat([]byte{word}, c.vectors()*ring128.Bytes)}
	}
	r := newReceiving(c, nil)
	for _, m := range []protocol.Message{said(serverA, 0, 1), said(serverB, 2, 1), said(serverB, 3, 2)} {
		if err := r.receive(m); err != nil {
			t.Fatal(err)
		}
	}
	if r.done() || r.waits().member != c.keepers[dealerC] {
		t.Errorf("done %v, waits for %+v", r.done(), r.waits())
	}
	if err := r.receive(said(dealerC, 3, 2)); err != nil || !r.done() {
		t.Errorf("two keepers say the same, done %v: %v", r.done(), err)
	}
}
