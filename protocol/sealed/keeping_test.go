package sealed

import (
	"errors"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// gatherings are three keepers that have contributed, with seeds of their machines.
func gatherings(t *testing.T, c computation, seeds [3]byte) (list [3]*gathering) {
	t.Helper()
	for r := range list {
		list[r] = newGathering(c, role(r), [32]byte{seeds[r]}, newCollection(c.setting, role(r), nil))
	}
	for _, g := range list {
		for m, ok := g.send(); ok; m, ok = g.send() {
			if err := list[slices.Index(c.keepers[:], m.Receiver)].receive(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	return list
}

// The two keepers of a pair have the same words, which depend on both seeds, the pair, the session and the generation.
func TestContributionsMakeCommonWords(t *testing.T) {
	p, _, _ := small(t)
	base := computation{setting: settingOf(p)}
	session, generation := base, base
	session.session[3]++
	generation.generation++
	var all []ring128.Word
	for _, c := range []struct {
		computation
		seeds [3]byte
		kept  int // pairs that do not depend on what is new
	}{{base, [3]byte{1, 2, 3}, 0}, {session, [3]byte{1, 2, 3}, 0}, {generation, [3]byte{1, 2, 3}, 0}, {base, [3]byte{1, 2, 4}, 1}, {base, [3]byte{5, 2, 3}, 1}} {
		list, old := gatherings(t, c.computation, c.seeds), 0
		for _, pair := range [][2]role{{serverA, serverB}, {serverA, dealerC}, {serverB, dealerC}} {
			var words [2][1]ring128.Word
			for i, r := range pair {
				if err := list[r].covers(pair[1-i]).draw(words[i][:], 0, opening); err != nil {
					t.Fatal(err)
				}
			}
			if words[0] != words[1] {
				t.Errorf("the keepers of pair %v have other words", pair)
			}
			if slices.Contains(all, words[0][0]) {
				old++
			} else {
				all = append(all, words[0][0])
			}
		}
		if old != c.kept {
			t.Errorf("seeds %v: %d pairs have words of earlier ones, want %d", c.seeds, old, c.kept)
		}
		if !list[0].done() || list[0].waits() != (wait{}) {
			t.Error("a keeper with all contributions and no upload to wait for is not done")
		}
	}
}

// A keeper contributes other bytes in each session and generation, and to each of the others.
func TestContributionsAreNew(t *testing.T) {
	p, _, _ := small(t)
	base := computation{setting: settingOf(p)}
	session, generation := base, base
	session.session[3]++
	generation.generation++
	var all [][]byte
	for _, c := range []computation{base, session, generation} {
		g := newGathering(c, serverB, [32]byte{1}, newCollection(c.setting, serverB, nil))
		for m, ok := g.send(); ok; m, ok = g.send() {
			all = append(all, m.Body)
		}
	}
	if len(all) != 6 {
		t.Errorf("%d contributions", len(all))
	}
	distinctBytes(t, all...)
}

// A party refuses what is not a keeper's first words of the weights.
func TestReceivingRefuses(t *testing.T) {
	p, _, _ := small(t)
	c := computation{setting: settingOf(p)}
	r := newReceiving(c, nil)
	h := c.header(serverB, serverB, 0, kindWeights)
	h.Receiver = "home"
	genuine := protocol.Message{Header: h, Body: make([]byte, c.vectors()*ring128.Bytes)}
	for what, x := range map[string]struct {
		kind   protocol.Kind
		change func(*protocol.Message)
	}{
		"a party's":    {protocol.KindUnexpected, func(m *protocol.Message) { m.Sender = "x" }},
		"a round":      {protocol.KindUnexpected, func(m *protocol.Message) { m.Round = 1 }},
		"a generation": {protocol.KindUnexpected, func(m *protocol.Message) { m.Sequence = generations }},
		"a kind":       {protocol.KindUnexpected, func(m *protocol.Message) { m.Kind = kindMaskedWeights }},
		"two chunks":   {protocol.KindInconsistent, func(m *protocol.Message) { m.Chunks = 2 }},
		"short":        {protocol.KindMalformed, func(m *protocol.Message) { m.Body = m.Body[16:] }},
	} {
		m := genuine
		x.change(&m)
		blames(t, what, r.receive(m), m.Sender, x.kind)
	}
	if err := r.receive(genuine); err != nil {
		t.Fatal(err)
	}
	blames(t, "again", r.receive(genuine), "bergen", protocol.KindUnexpected)
	if r.done() || r.waits() != (wait{TimerWeights, "athens", "the weights"}) {
		t.Errorf("done %v with one keeper's words; it waits for %+v", r.done(), r.waits())
	}
}

// A keeper refuses a contribution that is not another keeper's first, and waits for one by name.
func TestGatheringRefuses(t *testing.T) {
	p, _, _ := small(t)
	c := computation{setting: settingOf(p)}
	g := newGathering(c, serverB, [32]byte{1}, newCollection(c.setting, serverB, nil))
	if w := g.waits(); w.member != "athens" || w.timer != TimerKeeper || g.done() {
		t.Errorf("it waits for %+v", w)
	}
	genuine := protocol.Message{Header: c.header(serverA, serverB, 0, kindContribution), Body: make([]byte, 32)}
	for what, x := range map[string]struct {
		kind   protocol.Kind
		change func(*protocol.Message)
	}{
		"short":            {protocol.KindMalformed, func(m *protocol.Message) { m.Body = m.Body[1:] }},
		"long":             {protocol.KindMalformed, func(m *protocol.Message) { m.Body = make([]byte, 33) }},
		"a round":          {protocol.KindUnexpected, func(m *protocol.Message) { m.Round = 1 }},
		"two chunks":       {protocol.KindUnexpected, func(m *protocol.Message) { m.Chunks = 2 }},
		"a generation":     {protocol.KindUnexpected, func(m *protocol.Message) { m.Sequence = 1 }},
		"its own":          {protocol.KindUnexpected, func(m *protocol.Message) { m.Sender = "bergen" }},
		"a party's":        {protocol.KindUnexpected, func(m *protocol.Message) { m.Sender = "x" }},
		"another kind":     {protocol.KindUnexpected, func(m *protocol.Message) { m.Kind = kindWeights }},
		"another receiver": {protocol.KindForeign, func(m *protocol.Message) { m.Receiver = "athens" }},
	} {
		m := genuine
		x.change(&m)
		blames(t, what, g.receive(m), m.Sender, x.kind)
	}
	if err := g.receive(genuine); err != nil {
		t.Fatal(err)
	}
	blames(t, "a second", g.receive(genuine), "athens", protocol.KindUnexpected)
	if w := g.waits(); w.member != "coordinator" {
		t.Errorf("it waits for %+v", w)
	}
}

// Messages of later stages wait at a keeper that still gathers, if an honest keeper can send them; all others are
// refused at once.
func TestKeeperAhead(t *testing.T) {
	g := newGroup(t, "two and a coordinator", 5)
	c := computation{setting: g.setting(g.session.ID())}
	square, product := 0, c.steps()-1
	for _, x := range []struct {
		from, to role
		step     int
		kind     string
		later    bool
	}{
		{serverA, serverB, 0, kindInputs, true}, {dealerC, serverB, 0, kindInputs, true}, {serverA, dealerC, 0, kindInputs, true},
		{serverA, serverB, square, kindOpening, true}, {serverB, serverA, product, kindOpening, true},
		{dealerC, serverB, product, kindDealing, true}, {serverA, serverB, product + 1, kindMaskedWeights, true}, {dealerC, serverB, product + 2, kindCommitments, true},
		{serverA, serverB, 1, kindInputs, false}, {serverA, dealerC, square, kindOpening, false}, {dealerC, serverB, square, kindOpening, false},
		{dealerC, serverA, square, kindDealing, false}, {serverA, serverB, square, kindDealing, false},
		{serverA, serverB, product + 1, kindOpening, false}, {dealerC, serverB, 9999, kindDealing, false}, {dealerC, serverB, product + 1, kindMaskedWeights, false},
		{serverA, serverB, product + 3, kindCoins, false}, {serverA, serverB, 0, kindMaskedWeights, false},
		{serverA, serverB, 0, kindWeights, false},
	} {
		m := g.machine(t, c.keepers[x.to])
		if _, err := m.Step(protocol.Start{InputHash: m.InputHash()}); err != nil {
			t.Fatal(err)
		}
		h := c.header(x.from, x.to, x.step, x.kind)
		_, err := m.Step(protocol.Received{Message: protocol.Message{Header: h}})
		if x.later != errors.Is(err, protocol.ErrLater) {
			t.Errorf("%v: %v", h, err)
		}
		if !x.later {
			blames(t, h.String(), err, h.Sender, protocol.KindUnexpected)
		}
		h.Chunks = 1 << 30
		_, err = m.Step(protocol.Received{Message: protocol.Message{Header: h}})
		blames(t, h.String(), err, h.Sender, protocol.KindUnexpected)
		h.Chunks, h.Sequence = 1, 1
		_, err = m.Step(protocol.Received{Message: protocol.Message{Header: h}})
		blames(t, h.String(), err, h.Sender, protocol.KindUnexpected)
	}
}
