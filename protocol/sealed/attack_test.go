package sealed

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// A keeper whose opening needed no message of the third keeper takes its late token and part while it delivers. To refuse
// them would name an honest keeper.
func TestLateMessagesOfTheOpening(t *testing.T) {
	k, in, words := solvedSmall(t)
	for late := serverA; late <= dealerC; late++ {
		j := judgesOf(t, k, in)
		var held []protocol.Message
		j.alter = func(m protocol.Message) protocol.Message {
			if m.Sender == j.computation.keepers[late] && (m.Kind == kindPart || m.Kind == kindToken && m.Receiver == j.computation.keepers[late.others()[0]]) {
				held = append(held, m)
				m.Kind = "later"
			}
			return m
		}
		j.run()
		if len(held) != 3 {
			t.Fatalf("%d messages are late", len(held))
		}
		for _, r := range late.others() {
			c := j.keepers[r]
			if !c.done() || !slices.Equal(c.weights(), words) {
				t.Fatalf("%s lacks the weights", j.computation.keepers[r])
			}
			d := &keeping{computation: j.computation, self: r, gathered: &gathering{uploads: &collection{}}, phase: delivers, stage: newDelivery(c, []string{"delphi"}, words)}
			for _, m := range held {
				if m.Receiver != j.computation.keepers[r] {
					continue
				}
				if err := d.receive(m); err != nil {
					t.Errorf("late %s of %s: %v", m.Kind, m.Sender, err)
				}
				m.Round--
				blames(t, "another round", d.receive(m), m.Sender, protocol.KindUnexpected)
			}
		}
	}
}

// What comes early is put back, again and again. So a keeper puts back only messages that an honest one sends: a liar
// cannot make up any number of them by numbers of chunks.
func TestOnlyTrueMessagesArePutBack(t *testing.T) {
	k, in, _ := solvedSmall(t)
	whole := judgesOf(t, k, in)
	whole.opened()
	k.all = append(slices.Clone(k.all), whole.all...)
	p, sums, _ := small(t)
	s := settingOf(p)
	fresh := newTrio(t, p, 2, inputsOf(t, s, uploads(t, s, 2, sums.outer, sums.cross)))
	judges := judgesOf(t, k, in)
	receive := func(r role, m protocol.Message) error {
		if int(m.Round) < k.steps() {
			return fresh.keeper(r).receive(m)
		}
		return judges.keepers[r].receive(m)
	}
	later := 0
	for _, m := range k.all {
		r := role(slices.Index(judges.computation.keepers[:], m.Receiver))
		for _, chunks := range []uint32{0, 2, 1 << 31} {
			wrong := m
			wrong.Chunks = chunks
			var blame *protocol.BlameError
			if err := receive(r, wrong); !errors.As(err, &blame) || blame.Party != m.Sender {
				t.Errorf("%v of %d chunks: %v", m.Header, chunks, err)
			}
		}
		if m.Kind != kindPart && m.Kind != kindInputs && errors.Is(receive(r, m), protocol.ErrLater) {
			later++
		}
	}
	if later < 50 {
		t.Errorf("%d messages come early", later)
	}
}

// sent returns all messages of a session whose members have the seeds of setup, in order.
func (g *group) sent(t *testing.T) (list []protocol.Message) {
	t.Helper()
	r := g.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
		list = append(list, m)
		return []protocol.Message{m}
	})
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// again returns the group's session with another nonce, and so another name. Its members have the same seeds and sums.
func (g *group) again(t *testing.T, nonce byte) *group {
	t.Helper()
	d := g.session.Descriptor
	d.Nonce[0] = nonce
	s, err := protocol.NewSession(d)
	if err != nil {
		t.Fatal(err)
	}
	other := *g
	other.session = s
	return &other
}

// covered are the kinds of messages whose words are sums of something and of a cover.
var covered = []string{kindMasked, kindOpening, kindDealing, kindMaskedWeights}

// No cover serves twice, neither in one session nor in two whose members have the same seeds: the difference of two words
// that a keeper gets is never short. With one cover for both it would be the difference of what it covers, which has far
// fewer bits than 128.
func TestNoCoverServesTwice(t *testing.T) {
	g := newGroup(t, "five", 5)
	list := append(g.sent(t), g.again(t, 1).sent(t)...)
	for _, keeper := range g.Keepers {
		var words []ring128.Word
		for _, m := range list {
			if m.Receiver == keeper && slices.Contains(covered, m.Kind) {
				next := make([]ring128.Word, len(m.Body)/ring128.Bytes)
				if err := ring128.Decode(next, m.Body); err != nil {
					t.Fatal(err)
				}
				words = append(words, next...)
			}
		}
		for i, w := range words {
			for _, v := range words[:i] {
				for _, d := range []ring128.Word{w.Sub(v), v.Sub(w), w.Add(v)} {
					if bits.LeadingZeros64(d.Hi) > 40 {
						t.Errorf("%s: two words of %d differ by %x", keeper, len(words), d)
					}
				}
			}
		}
	}
}

// Of two sessions whose members have the same seeds, no secret of one occurs in the other: no seed, salt, contribution,
// coin, challenge, token, mask of a proof or total.
func TestSessionsShareNoSecret(t *testing.T) {
	g := newGroup(t, "five", 5)
	seen := map[string]protocol.Header{}
	for i, s := range []*group{g, g.again(t, 1)} {
		for _, m := range s.sent(t) {
			body := m.Body
			switch m.Kind {
			case kindWeights, kindVerdict, kindInputs:
				continue // public, or a digest of the problem and of documents
			case kindUpload:
				body = body[len(body)-3*32:] // two salts and a seed at least, and what is before them is public
			}
			for at := 0; at+16 <= len(body); at += 8 {
				word := string(body[at : at+16])
				first, known := seen[word]
				if known && i == 1 && first.Session != m.Session {
					t.Fatalf("byte %d of %v is in %v of another session", at, m.Header, first)
				}
				seen[word] = m.Header
			}
		}
	}
}

// After its token a keeper does not end, whatever it is sent: refused messages and timers change nothing. When the last
// token comes, long after the data parties that are no keepers have given up, it opens.
func TestNothingEndsAKeeperAfterItsToken(t *testing.T) {
	g := newGroup(t, "five", 5)
	liar := g.Keepers[2]
	tokens := map[string]protocol.Message{}
	r := g.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
		switch {
		case m.Sender == liar && m.Kind == kindPart:
			return nil
		case m.Sender != liar || m.Kind != kindToken:
			return []protocol.Message{m}
		}
		tokens[m.Receiver] = m
		wrong, long, part := m, m, m
		wrong.Body, long.Body = make([]byte, 32), make([]byte, 33)
		part.Kind, part.Round, part.Chunks = kindPart, m.Round+1, 2
		return []protocol.Message{wrong, long, part}
	})
	if len(r.Refusals) != 6 {
		t.Errorf("refused: %v", r.Refusals)
	}
	for _, home := range []string{"bergen", "essen"} {
		if end := r.Outcome(home).End; end == nil || end.Err == nil {
			t.Errorf("%s waits for the weights without a limit: %+v", home, end)
		}
	}
	for _, keeper := range g.Keepers[:2] {
		if end := r.Outcome(keeper).End; end != nil {
			t.Fatalf("%s ends: %v", keeper, end.Err)
		}
		m := r.Outcome(keeper).Machine.(*Machine)
		for _, timer := range []protocol.Timer{TimerUpload, TimerKeeper, TimerWeights} {
			if e, err := m.Step(protocol.Expired{Timer: timer}); err != nil || e.End != nil {
				t.Errorf("%s: %s ends it: %+v, %v", keeper, timer, e, err)
			}
		}
		e, err := m.Step(protocol.Received{Message: tokens[keeper]})
		if err != nil || len(e.Send) != 2 || e.Send[0].Kind != kindPart || e.Send[1].Kind != kindPart {
			t.Errorf("%s sends %d messages after the last token: %v", keeper, len(e.Send), err)
		}
	}
}

// Whatever messages of the check and the opening a keeper withholds or sends late to one other or to both, and whenever
// timers run out and machines crash: if one keeper opens the weights, all do, and all members that have weights have the
// same.
func TestOpeningIsFairInAnySchedule(t *testing.T) {
	runs := uint64(60)
	if thorough {
		runs = 1000
	}
	g := newGroup(t, "five", 5)
	want := weightsOf(g.run(t, sim.Schedule{}, nil), g.Keepers[0])
	opened := 0
	for seed := range runs {
		liar := g.Keepers[seed%3]
		r := rand.New(rand.NewPCG(seed, 8))
		lost := map[string]float64{kindToken: r.Float64(), kindPart: r.Float64(), kindRange: r.Float64() / 10, kindWeights: r.Float64()}
		result := g.run(t, sim.Schedule{Seed: seed, Reorder: 1, MaxDelay: 40, Loss: .2, Duplicate: .2, CrashRate: .02, Hasty: .001 * float64(seed%3)}, func(m protocol.Message) []protocol.Message {
			if m.Sender == liar && r.Float64() < lost[m.Kind] {
				return nil
			}
			return []protocol.Message{m}
		})
		have := 0
		for _, o := range result.Nodes {
			if o.End == nil || o.End.Err != nil {
				continue
			}
			if slices.Contains(g.Keepers[:], o.Name) {
				have++
			}
			if !slices.Equal(weightsOf(result, o.Name), want) {
				t.Errorf("run %d: %s has other weights", seed, o.Name)
			}
		}
		if have != 0 && have != 3 {
			t.Errorf("run %d: %d keepers have the weights", seed, have)
		}
		opened += have / 3
	}
	t.Logf("%d of %d runs open the weights", opened, runs)
	if opened < int(runs)/10 || opened > int(runs)*9/10 {
		t.Errorf("%d of %d runs open the weights: the schedules test too little", opened, runs)
	}
}

// One keeper changes a byte of one message: the two others open the same weights, which the check lets pass, or none.
func TestOneAlteredMessage(t *testing.T) {
	g := newGroup(t, "three keepers", 5)
	want := weightsOf(g.run(t, sim.Schedule{}, nil), g.Keepers[0])
	opens := map[string]bool{kindToken: true, kindPart: true} // the other honest keeper sends these, too
	for i, m := range g.sent(t) {
		if m.Kind == kindUpload || m.Kind == kindMasked || len(m.Body) == 0 {
			continue // a data party's lie is an upload of its own
		}
		changed := m
		changed.Body = slices.Clone(m.Body)
		changed.Body[(i*31)%len(m.Body)] ^= 1 << (i % 8)
		result := g.run(t, sim.Schedule{}, func(n protocol.Message) []protocol.Message {
			if n.Header == m.Header {
				return []protocol.Message{changed}
			}
			return []protocol.Message{n}
		})
		have := 0
		for _, k := range g.Keepers {
			if end := result.Outcome(k).End; k == m.Sender || end == nil || end.Err != nil {
				continue
			}
			have++
			if err := near(g.Problem, weightsOf(result, k), want); err != nil {
				t.Errorf("%v changed: %s: %v", m.Header, k, err)
			}
		}
		if have == 1 {
			t.Errorf("%v changed: one honest keeper has the weights, the other does not", m.Header)
		}
		if inSteps := m.Kind == kindOpening || m.Kind == kindDealing; !inSteps && (have == 2) != opens[m.Kind] {
			t.Errorf("%v changed: %d honest keepers have the weights", m.Header, have)
		}
	}
}

// A keeper contributes other bytes to each of its two pairs: with the same, the third keeper would know both contributions
// to the seed of the two others, and so their covers and noise.
func TestContributionsDiffer(t *testing.T) {
	g := newGroup(t, "three keepers", 5)
	seen := map[string]protocol.Header{}
	for _, m := range g.sent(t) {
		if m.Kind != kindContribution {
			continue
		}
		if first, known := seen[string(m.Body)]; known {
			t.Errorf("%v has the bytes of %v", m.Header, first)
		}
		seen[string(m.Body)] = m.Header
	}
	if len(seen) != 6 {
		t.Errorf("%d contributions", len(seen))
	}
}

// The opening needs a runner that does not end a keeper after its token (see "Opening" in the package's comment), not even
// for two messages under one header: else the dealer alone gets the weights. Runners ask MustGoOn.
func TestNoRunnerEndsAnOpening(t *testing.T) {
	g := newGroup(t, "three keepers", 5)
	victim, liar := g.Keepers[0], g.Keepers[2]
	var earlier protocol.Message
	r := g.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
		switch {
		case m.Sender != liar || m.Receiver != victim:
		case m.Kind == kindContribution:
			earlier = m
		case m.Kind == kindToken:
			other := earlier
			other.Body = make([]byte, len(earlier.Body))
			return []protocol.Message{other}
		}
		if m.Sender == liar && m.Kind == kindPart {
			return nil
		}
		return []protocol.Message{m}
	})
	if end := r.Outcome(liar).End; end == nil || end.Err != nil {
		t.Errorf("the liar ends with %+v", end)
	}
	for _, honest := range g.Keepers[:2] {
		if end := r.Outcome(honest).End; end == nil || end.Err != nil {
			t.Errorf("%s does not have the weights: %+v", honest, end)
		}
	}
}
