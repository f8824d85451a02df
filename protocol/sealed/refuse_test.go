package sealed

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg/chebyshev"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// smallTrio are keepers of a small problem, and its weights in the clear.
func smallTrio(t testing.TB, block int) (*trio, []float64) {
	t.Helper()
	p, sums, _ := small(t)
	p.Plan = chebyshev.Plan{Steps: chebyshev.Steps(p.Rows, p.Ratio(), block), Block: block}
	plain, err := SolvePlain(p, sums.outer, sums.cross)
	if err != nil {
		t.Fatal(err)
	}
	s := settingOf(p)
	return newTrio(t, p, 2, inputsOf(t, s, uploads(t, s, 2, sums.outer, sums.cross))), plain.Data
}

// Every block gives the plain weights, and as many steps as planned.
func TestKeepersOfEachBlock(t *testing.T) {
	for block := 1; block <= chebyshev.MaxBlock; block *= 2 {
		k, plain := smallTrio(t, block)
		_, w := k.solved()
		for i, v := range w.Data {
			if d := v - plain[i]; d > 1e-5 || d < -1e-5 {
				t.Errorf("blocks of %d: weight %d is off by %g", block, i, d)
			}
		}
		told := 0
		for step := range k.steps() {
			if k.tells(step) {
				told++
			}
		}
		if sent := len(k.all); sent != 6+3*k.problem.Plan.InARow()+told {
			t.Errorf("blocks of %d: %d messages of %d steps", block, sent, k.problem.Plan.InARow())
		}
	}
}

// If all steps are one block, the weights are a public combination of vectors that were cut, without a product.
func TestKeepersOfOneBlock(t *testing.T) {
	p, sums, _ := small(t)
	p.Ridge, p.Plan = int64(1)<<p.unitBits(), chebyshev.Plan{Steps: 8, Block: 8}
	s := settingOf(p)
	k := newTrio(t, p, 0, inputsOf(t, s, uploads(t, s, 1, sums.outer, sums.cross)))
	_, w := k.solved()
	plain, err := SolvePlain(p, sums.outer, sums.cross)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range w.Data {
		if d := v - plain.Data[i]; d > 1e-6 || d < -1e-6 {
			t.Errorf("weight %d is off by %g", i, d)
		}
	}
}

// refusedBy runs the keepers, and changes the first message that matches. It returns the refusal.
func refusedBy(t *testing.T, kind string, to role, step int, change func(*protocol.Message)) error {
	t.Helper()
	k, _ := smallTrio(t, 4)
	done := false
	k.alter = func(m protocol.Message) protocol.Message {
		if !done && m.Kind == kind && m.Receiver == k.keepers[to] && int(m.Round) == step {
			done = true
			change(&m)
		}
		return m
	}
	err := k.run()
	if !done {
		t.Fatalf("no message %s of step %d to keeper %d", kind, step, to)
	}
	return err
}

// A keeper refuses a message of another session, generation, step, kind, size or sender, and names the sender.
func TestKeepersRefuse(t *testing.T) {
	type change = func(*protocol.Message)
	for what, c := range map[string]struct {
		kind   protocol.Kind
		change change
	}{
		"session":            {protocol.KindForeign, func(m *protocol.Message) { m.Session[3]++ }},
		"protocol":           {protocol.KindForeign, func(m *protocol.Message) { m.Protocol = "okra" }},
		"earlier generation": {protocol.KindUnexpected, func(m *protocol.Message) { m.Sequence-- }},
		"later generation":   {protocol.KindUnexpected, func(m *protocol.Message) { m.Sequence++ }},
		"kind":               {protocol.KindUnexpected, func(m *protocol.Message) { m.Kind = kindMasked }},
		"short":              {protocol.KindMalformed, func(m *protocol.Message) { m.Body = m.Body[1:] }},
		"long":               {protocol.KindMalformed, func(m *protocol.Message) { m.Body = append(slices.Clone(m.Body), 0) }},
		"step beyond":        {protocol.KindUnexpected, func(m *protocol.Message) { m.Round = 9999 }},
	} {
		for _, at := range []struct {
			kind string
			from string
			to   role
			step int
		}{
			{kindInputs, "coordinator", serverA, 0}, {kindInputs, "athens", dealerC, 0}, {kindOpening, "athens", serverB, 0}, {kindOpening, "bergen", serverA, 5},
			{kindDealing, "coordinator", serverB, 1}, {kindDealing, "coordinator", serverB, 4},
		} {
			blames(t, fmt.Sprintf("%s of %s in step %d", what, at.kind, at.step), refusedBy(t, at.kind, at.to, at.step, c.change), at.from, c.kind)
		}
	}
	blames(t, "an earlier step", refusedBy(t, kindOpening, serverA, 5, func(m *protocol.Message) { m.Round = 4 }), "bergen", protocol.KindUnexpected)
	blames(t, "an earlier step", refusedBy(t, kindDealing, serverB, 5, func(m *protocol.Message) { m.Round = 0 }), "coordinator", protocol.KindUnexpected)
	blames(t, "words of b by the dealer", refusedBy(t, kindOpening, serverA, 1, func(m *protocol.Message) { m.Sender = "coordinator" }), "coordinator", protocol.KindUnexpected)
	blames(t, "a party's words", refusedBy(t, kindOpening, serverA, 1, func(m *protocol.Message) { m.Sender = "x" }), "x", protocol.KindUnexpected)
	blames(t, "own words", refusedBy(t, kindOpening, serverA, 1, func(m *protocol.Message) { m.Sender = "athens" }), "athens", protocol.KindUnexpected)
	blames(t, "another receiver's", refusedBy(t, kindOpening, serverA, 1, func(m *protocol.Message) { m.Receiver = "bergen" }), "bergen", protocol.KindUnexpected)
	blames(t, "the dealer's words of a server", refusedBy(t, kindDealing, serverB, 1, func(m *protocol.Message) { m.Sender = "athens" }), "athens", protocol.KindUnexpected)
	blames(t, "another digest", refusedBy(t, kindInputs, serverB, 0, func(m *protocol.Message) { m.Body = slices.Clone(m.Body); m.Body[9] ^= 4 }), "athens", protocol.KindInconsistent)
	var other *documentError
	err := refusedBy(t, kindInputs, serverB, 0, func(m *protocol.Message) { m.Body = slices.Clone(m.Body); m.Body[len(m.Body)-1] ^= 4 })
	if !errors.As(err, &other) || *other != (documentError{"party 1", "athens"}) {
		t.Errorf("another document: %v", err)
	}
	blames(t, "words to the dealer", refusedBy(t, kindOpening, serverB, 1, func(m *protocol.Message) { m.Receiver = "coordinator" }), "athens", protocol.KindUnexpected)
}

// A message of a next step may come early, and one of a later step waits. One that was accepted is refused when it comes
// again. None of this changes the result.
func TestKeepersTakeEachMessageOnce(t *testing.T) {
	k, _ := smallTrio(t, 4)
	want, _ := smallTrio(t, 4)
	words, _ := want.solved()
	early := 0
	for _, m := range want.all {
		if m.Kind == kindInputs || m.Round == 0 || m.Receiver != "bergen" {
			continue
		}
		room := m.Kind == kindOpening && m.Round == 1 || m.Kind == kindDealing && (m.Round <= 2 || !k.squaring(int(m.Round)) && m.Round <= 8)
		switch err := k.b.receive(m); {
		case room && err == nil:
			early++
			blames(t, m.String(), k.b.receive(m), m.Sender, protocol.KindUnexpected)
		case room || !errors.Is(err, protocol.ErrLater):
			t.Errorf("%v: %v", m.Header, err)
		}
	}
	if early != 9 {
		t.Errorf("%d messages came early", early)
	}
	k.alter = func(m protocol.Message) protocol.Message { // these have arrived
		if m.Receiver == "bergen" && m.Kind != kindInputs && (m.Kind == kindOpening && m.Round == 1 || m.Kind == kindDealing && m.Round >= 1 && m.Round <= 8) {
			m.Kind = ""
		}
		return m
	}
	got, _ := k.solved()
	if !slices.Equal(got, words) {
		t.Error("other weights")
	}
	for _, m := range k.all {
		blames(t, m.String(), k.keeper(role(slices.Index(k.keepers[:], m.Receiver))).receive(m), m.Sender, protocol.KindUnexpected)
	}
}

// No keeper sends a word before all three have sent the same digest.
func TestNothingBeforeAgreement(t *testing.T) {
	for silent := serverA; silent <= dealerC; silent++ {
		for deaf := serverA; deaf <= dealerC; deaf++ {
			if deaf == silent {
				continue
			}
			k, _ := smallTrio(t, 4)
			k.alter = func(m protocol.Message) protocol.Message {
				if m.Kind == kindInputs && m.Sender == k.keepers[silent] && m.Receiver == k.keepers[deaf] {
					m.Kind = "lost"
				}
				if m.Kind != kindInputs && m.Sender == k.keepers[deaf] && m.Kind != "lost" {
					t.Errorf("%s sends %v without the digest of %s", m.Sender, m.Header, k.keepers[silent])
				}
				return m
			}
			for range 5 {
				for r := range k.boxes {
					k.boxes[r] = slices.DeleteFunc(k.boxes[r], func(m protocol.Message) bool { return m.Kind == "lost" })
					if _, err := k.turn(role(r)); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

// Keepers with another problem, plan or generation do not agree.
func TestDigestBindsTheComputation(t *testing.T) {
	p, _, _ := small(t)
	base := computation{settingOf(p), 0}
	var list [][]byte
	add := func(c computation) {
		d := c.digest()
		list = append(list, d[:])
	}
	add(base)
	for _, change := range []func(*computation){
		func(c *computation) { c.generation++ }, func(c *computation) { c.problem.Rows++ }, func(c *computation) { c.problem.Features++ },
		func(c *computation) { c.problem.Targets++ }, func(c *computation) { c.problem.Ridge++ }, func(c *computation) { c.problem.Plan.Steps++ },
		func(c *computation) { c.problem.Plan.Block++ },
	} {
		c := base
		change(&c)
		add(c)
	}
	distinctBytes(t, list...)
}

// spent is a source that has handed out all its words after some draws.
type spent struct {
	source
	left *int
}

func (s spent) draw(words []ring128.Word, step int, of purpose) error {
	if *s.left--; *s.left < 0 {
		return errors.New("spent")
	}
	return s.source.draw(words, step, of)
}

// A keeper whose source fails stops with its error and sends nothing more.
func TestKeepersStopWithoutCovers(t *testing.T) {
	for which := range 5 {
		for _, left := range []int{0, 1, 5} {
			draws := left
			k, _ := smallTrio(t, 4)
			of := []*source{&k.a.covers, &k.b.covers, &k.a.cutter.covers, &k.c.withA, &k.c.withB}[which]
			*of = spent{*of, &left}
			sender, sent := []string{"athens", "bergen", "athens", "coordinator", "coordinator"}[which], 0
			k.alter = func(m protocol.Message) protocol.Message {
				if m.Sender == sender && m.Kind != kindInputs && m.Kind != kindTaken {
					sent++
				}
				return m
			}
			if err := k.run(); err == nil || err.Error() != "spent" {
				t.Errorf("source %d: %v", which, err)
			}
			if most := []int{draws, draws, draws, draws, draws + 1}[which]; sent > most {
				t.Errorf("source %d: %d words served, and %d messages were sent", which, draws, sent)
			}
			if err := k.run(); err == nil || !k.a.out.empty() || !k.b.out.empty() || !k.c.out.empty() {
				t.Errorf("source %d: a keeper goes on after an error, or sends words", which)
			}
			if k.a.done() && k.b.done() {
				t.Errorf("source %d: weights without covers", which)
			}
		}
	}
}

// A server whose last cut fails is not done.
func TestLastCut(t *testing.T) {
	const many = 1 << 20
	left := many
	k, _ := smallTrio(t, 4)
	k.a.cutter.covers = spent{k.a.cutter.covers, &left}
	k.solved()
	last := many - left - 1
	other, _ := smallTrio(t, 4)
	other.a.cutter.covers = spent{other.a.cutter.covers, &last}
	if err := other.run(); err == nil || other.a.done() || other.a.step != other.steps()-1 {
		t.Errorf("%v; a is done: %v, in step %d of %d", err, other.a.done(), other.a.step, other.steps())
	}
}

// With blocks of one step the first cut comes before all steps.
func TestFirstCut(t *testing.T) {
	k, _ := smallTrio(t, 1)
	left := 0
	in := inputs{}
	for p := range in.parts {
		in.parts[p] = make([]ring128.Word, k.inputWords())
	}
	if _, err := newServer(k.computation, serverB, in, seeds(k.computation, pairBC), spent{nil, &left}); err == nil {
		t.Error("a server without words for its first cut")
	}
}

func TestNewKeepersRefuse(t *testing.T) {
	p, sums, _ := small(t)
	s := settingOf(p)
	in := inputsOf(t, s, uploads(t, s, 1, sums.outer, sums.cross))
	c := computation{s, 0}
	if _, err := newServer(c, serverA, in[serverB], seeds(c, pairAC), seeds(c, pairAB)); err == nil {
		t.Error("a server with the other's parts")
	}
	if _, err := newServer(c, serverA, in[dealerC], seeds(c, pairAC), seeds(c, pairAB)); err == nil {
		t.Error("a server with the dealer's parts")
	}
	if _, err := newDealer(c, in[serverA], seeds(c, pairAC), seeds(c, pairBC)); err == nil {
		t.Error("a dealer with a server's parts")
	}
	c.problem.Plan.Steps = 4
	if _, err := newDealer(c, in[dealerC], seeds(c, pairAC), seeds(c, pairBC)); err == nil {
		t.Error("a dealer with too few steps")
	}
	if _, err := newServer(c, serverB, in[serverB], seeds(c, pairBC), seeds(c, pairAB)); err == nil {
		t.Error("a server with too few steps")
	}
}

// BenchmarkKeepers reports the processor seconds of each keeper, and the bytes between them, on sums of digits' size.
func BenchmarkKeepers(b *testing.B) {
	for _, features := range []int{128, 512} {
		b.Run(fmt.Sprint(features), func(b *testing.B) {
			p, err := NewProblem(1347, features, 10, 1e-4)
			if err != nil {
				b.Fatal(err)
			}
			p.Plan = chebyshev.Plan{Steps: 592, Block: 8}
			s := settingOf(p)
			in := inputsOf(b, s, uploads(b, s, 1, make([]int64, s.triangle()), make([]int64, s.vectors())))
			var cpu [3]float64
			bytes := 0
			for b.Loop() {
				k := newTrio(b, p, 0, in)
				k.solved()
				bytes = 0
				for _, m := range k.all {
					bytes += len(m.Body)
				}
				for r, v := range k.cpu {
					cpu[r] += v
				}
			}
			for r, v := range cpu {
				b.ReportMetric(v/float64(b.N), "cpu-s/"+string("abc"[r]))
			}
			b.ReportMetric(float64(bytes)/1e6, "MB")
		})
	}
}
