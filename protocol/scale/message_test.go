package scale

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// meeting is a leader and a party that have started, with two columns each.
type meeting struct {
	session *protocol.Session
	leader  *Leader
	party   *Party
	sent    protocol.Message // the party's statistics
}

func meet(t testing.TB, method Method) meeting {
	t.Helper()
	d := descriptor(method, 3, 0)
	d.Members[0].Name, d.Members[1].Name, d.Members[2].Name = "north", "south", "east"
	s := session(t, d)
	own := summary(t, table([]float64{1, 5}, []float64{3, 4}), method)
	leader, err := NewLeader(protocol.Setup{Session: s, Self: "north"}, own)
	if err != nil {
		t.Fatal(err)
	}
	party, err := NewParty(protocol.Setup{Session: s, Self: "south"}, own)
	if err != nil {
		t.Fatal(err)
	}
	start := protocol.Start{InputHash: own.Hash()}
	if _, err := leader.Step(start); err != nil {
		t.Fatal(err)
	}
	eff, err := party.Step(start)
	if err != nil || len(eff.Send) != 1 {
		t.Fatalf("the party sends %d messages, error %v", len(eff.Send), err)
	}
	return meeting{s, leader, party, eff.Send[0]}
}

// body encodes two columns, with the sizing of real sessions.
func body(rows int, first, second []float64) []byte {
	return newLayout(2, bulk()).encode(rows, columns{first, second})
}

func TestBadStatistics(t *testing.T) {
	good := body(2, []float64{1, 4}, []float64{3, 5})
	changed := func(at int, to byte) []byte {
		b := bytes.Clone(good)
		b[at] = to
		return b
	}
	one, two := []float64{1, 4}, []float64{3, 5}
	tests := []struct {
		name string
		body []byte
		kind protocol.Kind
		want string
	}{
		{"empty", nil, protocol.KindMalformed, "the bytes end too early"},
		{"short", good[:len(good)-1], protocol.KindMalformed, "the numbers have 1023 bytes and are chunk 1 of 1, which does not fit a table with 2 columns"},
		{"long", append(bytes.Clone(good), 0), protocol.KindMalformed, "the numbers have 1025 bytes"},
		{"no columns", changed(8, 0), protocol.KindMalformed, "0 columns"},
		{"too many columns", changed(11, 255), protocol.KindMalformed, "columns; 1 to 16777216 are allowed"},
		{"columns of two chunks", changed(10, 1), protocol.KindMalformed, "chunk 1 of 1, which does not fit a table with 65538 columns"},
		{"padding", changed(len(good)-1, 1), protocol.KindMalformed, "the padding is not zero"},
		{"no rows", body(0, one, two), protocol.KindMalformed, "a party without rows"},
		{"too many rows", changed(6, 1), protocol.KindMalformed, "rows; at most 1099511627776"},
		{"NaN", body(2, []float64{math.NaN(), 0}, two), protocol.KindMalformed, "NaN and 3 cannot be the minmax statistics"},
		{"infinite", body(2, one, []float64{3, math.Inf(1)}), protocol.KindMalformed, "4 and +Inf cannot be"},
		{"upside down", body(2, two, one), protocol.KindMalformed, "3 and 1 cannot be"},
		{"one row, two values", body(1, one, two), protocol.KindMalformed, "of a column with 1 rows"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := meet(t, MinMax)
			bad := m.sent
			bad.Body = tt.body
			_, err := m.leader.Step(protocol.Received{Message: bad})
			wantBlame(t, err, "south", tt.kind, tt.want)
			if _, err := m.leader.Step(protocol.Received{Message: m.sent}); err != nil {
				t.Errorf("the genuine message after the bad one: %v", err)
			}
			if _, err := m.leader.Step(protocol.Received{Message: m.sent}); err == nil {
				t.Error("the genuine message is taken twice")
			}
		})
	}
}

func TestBadStandardStatistics(t *testing.T) {
	tests := []struct {
		name   string
		rows   int
		second float64
	}{
		{"negative", 2, -1}, {"NaN", 2, math.NaN()}, {"more than the values allow", 2, 1e281}, {"one row that deviates", 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := meet(t, Standard)
			bad := m.sent
			bad.Body = body(tt.rows, []float64{1, 4}, []float64{tt.second, 0})
			_, err := m.leader.Step(protocol.Received{Message: bad})
			wantBlame(t, err, "south", protocol.KindMalformed, "cannot be the standard statistics")
		})
	}
}

func TestBadCombined(t *testing.T) {
	tests := []struct {
		name string
		body []byte
		kind protocol.Kind
		want string
	}{
		{"empty", nil, protocol.KindMalformed, "the bytes end too early"},
		{"rows", body(5, []float64{1, 4}, []float64{0.5, 1}), protocol.KindMalformed, "the number of rows in a scaling must be 0"},
		{"infinite offset", body(0, []float64{math.Inf(-1), 4}, []float64{0.5, 1}), protocol.KindMalformed, "offset -Inf"},
		{"NaN factor", body(0, []float64{1, 4}, []float64{math.NaN(), 1}), protocol.KindMalformed, "factor NaN"},
		{"infinite factor", body(0, []float64{1, 4}, []float64{math.Inf(1), 1}), protocol.KindMalformed, "factor +Inf"},
		{"negative factor", body(0, []float64{1, 4}, []float64{-1, 1}), protocol.KindMalformed, "factor -1"},
		{"another width", newLayout(3, bulk()).encode(0, columns{make([]float64, 3), make([]float64, 3)}), protocol.KindInconsistent, "the scaling has 3 columns, but south has 2"},
		{"above the own minimum", body(0, []float64{1.5, 4}, []float64{0.5, 1}), protocol.KindInconsistent, "the rows of south do not fit"},
		{"beyond the own maximum", body(0, []float64{1, 4}, []float64{0.6, 1}), protocol.KindInconsistent, "the rows of south do not fit"},
		{"a constant that is none", body(0, []float64{1, 4}, []float64{0, 1}), protocol.KindInconsistent, "the rows of south do not fit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := meet(t, MinMax)
			message := protocol.Message{Header: m.session.Header("north", "south", roundCombined, kindCombined), Body: tt.body}
			_, err := m.party.Step(protocol.Received{Message: message})
			wantBlame(t, err, "north", tt.kind, tt.want)
			message.Body = body(0, []float64{1, 4}, []float64{0.5, 1})
			eff, err := m.party.Step(protocol.Received{Message: message})
			if err != nil || eff.End == nil || eff.End.Err != nil {
				t.Errorf("the genuine message after the bad one: end %v, error %v", eff.End, err)
			}
		})
	}
}

func wantBlame(t *testing.T, err error, party string, kind protocol.Kind, text string) {
	t.Helper()
	var blame *protocol.BlameError
	if !errors.As(err, &blame) || blame.Party != party || blame.Kind != kind || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want %s blamed as %s with %q", err, party, kind, text)
	}
}

// A party that reports one number of rows in one chunk and another in the next.
func TestRowsMustNotChange(t *testing.T) {
	s := session(t, descriptor(MinMax, 2, 0))
	own := summary(t, pool(table(make([]float64, 100)), table(make([]float64, 100))), MinMax)
	size := sizing{chunk: 64, batch: 1}
	leader, err := newLeader(protocol.Setup{Session: s, Self: "p0"}, own, size)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := leader.Step(protocol.Start{InputHash: own.Hash()}); err != nil {
		t.Fatal(err)
	}
	l := newLayout(100, size)
	for i, rows := range []int{7, 8} {
		lo, hi := l.span(i)
		h := s.Header("p1", "p0", roundStatistics, kindStatistics)
		h.Chunk, h.Chunks = uint32(i), 2
		_, err = leader.Step(protocol.Received{Message: protocol.Message{Header: h, Body: l.encode(rows, columns{own.First[lo:hi], own.Second[lo:hi]})}})
	}
	wantBlame(t, err, "p1", protocol.KindInconsistent, "the chunk names 8 rows, an earlier chunk 7")
}

func TestWidthsDiffer(t *testing.T) {
	d := descriptor(MinMax, 3, 1)
	d.Members[0].Name, d.Members[1].Name, d.Members[2].Name = "south", "north", "east"
	s := session(t, d)
	for _, columns := range []int{30, 65, 70000} { // padded like 64, more, and in several chunks
		var all []Statistics
		for _, f := range []int{columns, 64, 64} {
			all = append(all, summary(t, table(make([]float64, f)), MinMax))
		}
		r, err := sim.Run(sim.Config{Session: s, Nodes: nodes(s, all, bulk())})
		if err != nil {
			t.Fatal(err)
		}
		end := r.Outcome("north").End
		var width *WidthError
		if end == nil || !errors.As(end.Err, &width) || *width != (WidthError{"south", columns, "north", 64}) {
			t.Fatalf("the leader ends with %v, want a WidthError of south's %d columns", end, columns)
		}
		if columns == 30 && width.Error() != "scale: south has 30 columns, but north (the leader) has 64; give every party the same columns" {
			t.Errorf("message %q", width)
		}
		if !errors.Is(width, protocol.ErrInput) || strings.ContainsAny(width.Public(), "0123456789") {
			t.Errorf("the server is told %q", width.Public())
		}
		for _, name := range []string{"south", "east"} {
			wantBlame(t, r.Outcome(name).End.Err, "north", protocol.KindSilent, "the complete scaling from north did not arrive in time")
		}
	}
}

// Inputs are on disk before their statistics are sent, and all statistics before the
// scaling is sent.
func TestSync(t *testing.T) {
	s := session(t, descriptor(MinMax, 2, 0))
	own := summary(t, table([]float64{1}), MinMax)
	leader, err := NewLeader(protocol.Setup{Session: s, Self: "p0"}, own)
	if err != nil {
		t.Fatal(err)
	}
	party, err := NewParty(protocol.Setup{Session: s, Self: "p1"}, own)
	if err != nil {
		t.Fatal(err)
	}
	start := protocol.Start{InputHash: own.Hash()}
	a, errA := leader.Step(start)
	b, errB := party.Step(start)
	if errA != nil || errB != nil || !a.Sync || !b.Sync {
		t.Fatalf("start: sync %v and %v, errors %v and %v", a.Sync, b.Sync, errA, errB)
	}
	if c, err := leader.Step(protocol.Received{Message: b.Send[0]}); err != nil || len(c.Send) == 0 || !c.Sync {
		t.Errorf("the scaling is sent with sync %v, error %v", c.Sync, err)
	}
}

func TestUnexpectedMessages(t *testing.T) {
	m := meet(t, MinMax)
	combined := protocol.Message{Header: m.session.Header("north", "south", roundCombined, kindCombined), Body: body(0, []float64{1, 4}, []float64{0.5, 1})}
	for _, h := range []func(*protocol.Header){
		func(h *protocol.Header) { h.Sequence = 1 },
		func(h *protocol.Header) { h.Round++ },
		func(h *protocol.Header) { h.Kind = "Rows" },
		func(h *protocol.Header) { h.Sender = "east" },
	} {
		bad := combined
		h(&bad.Header)
		_, err := m.party.Step(protocol.Received{Message: bad})
		wantBlame(t, err, bad.Sender, protocol.KindUnexpected, "was not expected; this machine expects only message Combined from a leader")
	}
}

// A leader that sends the scaling before it can have all statistics, or a part of it twice.
func TestCombinedOutOfPlace(t *testing.T) {
	s := session(t, descriptor(MinMax, 2, 0))
	own := summary(t, table(make([]float64, 100)), MinMax)
	size := sizing{chunk: 64, batch: 1}
	party, err := newParty(protocol.Setup{Session: s, Self: "p1"}, own, size)
	if err != nil {
		t.Fatal(err)
	}
	combined := protocol.Message{Header: s.Header("p0", "p1", roundCombined, kindCombined)}
	combined.Chunks, combined.Body = 2, newLayout(100, size).encode(0, columns{make([]float64, 64), make([]float64, 64)})
	steps := []struct {
		event protocol.Event
		early bool
	}{
		{protocol.Start{InputHash: own.Hash()}, false},
		{protocol.Received{Message: combined}, true},
		{protocol.Resumed{}, false},
		{protocol.Received{Message: combined}, false},
		{protocol.Received{Message: combined}, true},
	}
	for i, step := range steps {
		_, err := party.Step(step.event)
		if step.early {
			wantBlame(t, err, "p0", protocol.KindUnexpected, "the chunk is repeated or too early")
		} else if err != nil {
			t.Errorf("step %d: %v", i, err)
		}
	}
}

// The leader holds only the blocks in which a member's part is missing.
func TestLeaderFreesWhatItMerged(t *testing.T) {
	s := session(t, descriptor(MinMax, 3, 0))
	own := summary(t, table(make([]float64, 1000)), MinMax)
	size := sizing{chunk: 64, batch: 1}
	leader, err := newLeader(protocol.Setup{Session: s, Self: "p0"}, own, size)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := leader.Step(protocol.Start{InputHash: own.Hash()}); err != nil {
		t.Fatal(err)
	}
	l := newLayout(1000, size)
	for i := range l.chunks() {
		for _, sender := range []string{"p1", "p2"} {
			h := s.Header(sender, "p0", roundStatistics, kindStatistics)
			h.Chunk, h.Chunks = uint32(i), uint32(l.chunks())
			lo, hi := l.span(i)
			body := l.encode(1, columns{own.First[lo:hi], own.Second[lo:hi]})
			if _, err := leader.Step(protocol.Received{Message: protocol.Message{Header: h, Body: body}}); err != nil {
				t.Fatal(err)
			}
		}
		for _, b := range leader.blocks {
			if b.parts != nil {
				t.Fatalf("after block %d, which is complete, something is held", i)
			}
		}
	}
}

func TestStepsOutOfPlace(t *testing.T) {
	m := meet(t, MinMax)
	start := protocol.Start{InputHash: m.leader.own.Hash()}
	for _, machine := range []protocol.Machine{m.leader, m.party} {
		for _, e := range []protocol.Event{start, protocol.Resumed{}, nil} {
			if _, err := machine.Step(e); err == nil {
				t.Errorf("%T accepts %#v", machine, e)
			}
		}
		if eff, err := machine.Step(protocol.Expired{Timer: "another"}); err != nil || eff.End != nil {
			t.Errorf("%T answers a foreign timer with %v, %v", machine, eff, err)
		}
	}
	fresh, err := NewParty(protocol.Setup{Session: m.session, Self: "south"}, m.party.own)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fresh.Step(protocol.Resumed{}); err == nil {
		t.Error("a party resumes before it starts")
	}
}

// A leader that has all statistics is not disturbed by their timer.
func TestLateTimer(t *testing.T) {
	s := session(t, descriptor(MinMax, 2, 0))
	own := summary(t, table(make([]float64, 100)), MinMax)
	setup := func(name string) protocol.Setup { return protocol.Setup{Session: s, Self: name} }
	leader, err := newLeader(setup("p0"), own, sizing{chunk: 64, batch: 1})
	if err != nil {
		t.Fatal(err)
	}
	party, err := newParty(setup("p1"), own, sizing{chunk: 64, batch: 2})
	if err != nil {
		t.Fatal(err)
	}
	start := protocol.Start{InputHash: own.Hash()}
	if _, err := leader.Step(start); err != nil {
		t.Fatal(err)
	}
	eff, err := party.Step(start)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range eff.Send {
		if eff, err = leader.Step(protocol.Received{Message: m}); err != nil {
			t.Fatal(err)
		}
	}
	if !eff.Resume || eff.End != nil {
		t.Fatalf("the leader should be in the middle of sending: %v", eff)
	}
	if eff, err = leader.Step(protocol.Expired{Timer: TimerStatistics}); err != nil || eff.End != nil {
		t.Errorf("a late timer gives %v, %v", eff, err)
	}
	if eff, err = leader.Step(protocol.Resumed{}); err != nil || eff.End == nil || eff.End.Err != nil {
		t.Errorf("the last step gives %v, %v", eff, err)
	}
}
