package columnorder

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// named returns a table with names.
func named(columns ...string) Table { return Table{Columns: columns, Width: len(columns)} }

// of adds classes to a table.
func (t Table) of(classes ...string) Table {
	t.Classes = classes
	return t
}

// descriptor returns a session of the parties p0, p1, ..., the first of which leads.
func descriptor(parties int) protocol.Descriptor {
	d := protocol.Descriptor{Protocol: Name, Version: Version, Purpose: "train"}
	for i := range parties {
		d.Members = append(d.Members, protocol.Member{Name: fmt.Sprintf("p%d", i), Role: protocol.RoleParty})
	}
	d.Members[0].Role = protocol.RoleLeader
	return d
}

func session(t testing.TB, d protocol.Descriptor) *protocol.Session {
	t.Helper()
	s, err := protocol.NewSession(d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// member holds the methods that both machines have.
type member interface {
	protocol.Machine
	Order() []int
	Own() error
}

func node(s *protocol.Session, name string, own Table, size sizing) (member, error) {
	setup := protocol.Setup{Session: s, Self: name, Seed: [32]byte{byte(len(name)), name[len(name)-1]}}
	if s.RoleOf(name) == protocol.RoleLeader {
		return newLeader(setup, own, size)
	}
	return newParty(setup, own, size)
}

func nodes(s *protocol.Session, tables []Table, size sizing) []sim.Node {
	var list []sim.Node
	for i, m := range s.Members {
		list = append(list, sim.Node{
			Name: m.Name, InputHash: tables[i].Hash(),
			Timers: map[protocol.Timer]int64{TimerMatch: 2000, TimerColumns: 5000},
			New:    func() (protocol.Machine, error) { return node(s, m.Name, tables[i], size) },
		})
	}
	return list
}

func run(t testing.TB, size sizing, tables ...Table) *sim.Result {
	t.Helper()
	s := session(t, descriptor(len(tables)))
	r, err := sim.Run(sim.Config{Session: s, Nodes: nodes(s, tables, size)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// abc are three tables of 70 columns in three orders.
func abc() []Table {
	a := named()
	for i := range 70 {
		a.Columns = append(a.Columns, fmt.Sprintf("column %d", i))
	}
	a.Width = 70
	b, c := named(slices.Clone(a.Columns)...), named(slices.Clone(a.Columns)...)
	slices.Reverse(b.Columns)
	c.Columns = append(c.Columns[31:], c.Columns[:31]...)
	return []Table{a.of("ill", "well"), b.of("well"), c.of("ill")}
}

// inOrder returns a check of the order with which a machine ended.
func inOrder(tables []Table) func(string, protocol.Machine) error {
	return func(name string, m protocol.Machine) error {
		own := tables[name[1]-'0']
		order := m.(member).Order()
		if len(order) != tables[0].Width {
			return fmt.Errorf("%s has an order of %d columns", name, len(order))
		}
		for place, i := range order {
			if own.Columns != nil && own.Columns[i] != tables[0].Columns[place] || own.Columns == nil && i != place {
				return fmt.Errorf("%s has its column %d in place %d", name, i, place)
			}
		}
		return nil
	}
}

func TestProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for name, c := range map[string]struct {
		tables []Table
		size   sizing
	}{
		"whole":    {abc(), bulk()},
		"chunks":   {abc(), sizing{chunk: 32, batch: 1}},
		"numbered": {[]Table{{Width: 9}, {Width: 9}}, bulk()},
	} {
		protocoltest.Run(t, protocoltest.Protocol{Name: name, New: func(t testing.TB) protocoltest.Case {
			s := session(t, descriptor(len(c.tables)))
			return protocoltest.Case{
				Session: s, Nodes: nodes(s, c.tables, c.size), InFlight: 1 << 16,
				Trusts: func(protocol.Header) bool { return true },
				Check:  inOrder(c.tables),
			}
		}})
	}
}

// The transcripts fix the bytes on the wire. A change in them is a new version of
// the protocol.
func TestTranscripts(t *testing.T) {
	for file, c := range map[string]struct {
		tables   []Table
		size     sizing
		schedule sim.Schedule
	}{
		"plain.txt":   {abc(), bulk(), sim.Schedule{}},
		"chunks.txt":  {abc(), sizing{chunk: 32, batch: 1}, sim.Schedule{Window: 2}},
		"rough.txt":   {abc(), bulk(), sim.Schedule{Seed: 4, Loss: 0.5, Duplicate: 0.5, Reorder: 1, MaxDelay: 9, Crash: []sim.Crash{{Node: "p1", Event: 1}}}},
		"lacking.txt": {[]Table{named("a", "b"), named("b", "A")}, bulk(), sim.Schedule{}},
		"missing.txt": {abc(), bulk(), sim.Schedule{Gone: map[string]int{"p2": 0}}},
	} {
		s := session(t, descriptor(len(c.tables)))
		r, err := sim.Run(sim.Config{Session: s, Nodes: nodes(s, c.tables, c.size), Schedule: c.schedule})
		if err != nil {
			t.Fatal(err)
		}
		protocoltest.Golden(t, file, r.Transcript())
	}
}

// Whatever the tables' orders, all end with the leader's.
func TestOrders(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.String(), 1, 100, rapid.ID[string]).Draw(rt, "names")
		tables := []Table{named(names...)}
		for range rapid.IntRange(1, 3).Draw(rt, "others") {
			tables = append(tables, named(rapid.Permutation(names).Draw(rt, "order")...))
		}
		for _, n := range run(t, sizing{chunk: 16, batch: 2}, tables...).Nodes {
			if n.End == nil || n.End.Err != nil {
				rt.Fatalf("%s ends with %v", n.Name, n.End)
			}
			if err := inOrder(tables)(n.Name, n.Machine); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// The party with a conflict names it in its own log; the coordinator learns no name.
func TestMismatches(t *testing.T) {
	many := abc()[0].Columns
	for _, c := range []struct {
		name                  string
		tables                []Table
		leader, public, party []string // parts of each member's text
	}{
		{"another column", []Table{named("age", "sbp"), named("sbp", "bmi")},
			[]string{`p1 has no column "age" (1 of this table)`},
			[]string{"column 1 of the table of p0 (the leader) has no partner at p1"},
			[]string{`p0 (the leader) has no column "bmi"`, "column 1 of the table"}},
		{"another case", []Table{named("age", "sbp"), named("sbp", "Age")},
			[]string{`"age" (1 of this table), but one that differs only by case`},
			[]string{"column 1 (one there differs only by case, blanks or Unicode form) of the table of p0"},
			[]string{`this table's column "Age" differs from column 1 of the table of p0 (the leader) only by case`}},
		{"one too many", []Table{named("age"), named("sbp", "age")},
			[]string{"p1 has a column without a partner"},
			[]string{"p1 has a column without a partner in the table of p0 (the leader)"},
			[]string{`p0 (the leader) has no column "sbp"`}},
		{"one too few", []Table{named("age", "sbp"), named("age")},
			[]string{`p1 has no column "sbp" (2 of this table)`},
			[]string{"column 2 of the table of p0 (the leader) has no partner at p1"},
			[]string{"column 2 of the table"}},
		{"many too few", []Table{named(many...), named("column 0")},
			[]string{`"column 1"`, `"column 8"`},
			[]string{"column 2, 3, 4, 5, 6, 7, 8, 9, and 61 more of the table"},
			[]string{"and 61 more"}},
		{"many too many", []Table{named("column 0"), named(many...)},
			[]string{"p1 has a column"},
			[]string{"p1 has a column"},
			[]string{`"column 8", and 61 more`}},
		{"no names there", []Table{named("age", "sbp"), {Width: 2}},
			[]string{"the columns of p0 (the leader) have names, and those of p1 have none"},
			[]string{"the columns of p0 (the leader) have names, and those of p1 have none"},
			[]string{"those of p1 have none"}},
		{"no names here", []Table{{Width: 2}, named("age", "sbp")},
			[]string{"the columns of p1 have names"},
			[]string{"the columns of p1 have names, and those of p0 (the leader) have none"},
			[]string{"those of p0 (the leader) have none"}},
		{"other widths", []Table{{Width: 122}, {Width: 121}},
			[]string{`write "features:" with the number of columns`},
			[]string{"p1 and p0 (the leader) have different numbers of columns, and neither has names"},
			[]string{`write "features:"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, bulk(), c.tables...)
			leader := r.Outcome("p0").End.Err
			party := r.Outcome("p1").End.Err
			var own *Mismatch
			if !errors.As(party, &own) || !errors.Is(party, protocol.ErrInput) || !errors.Is(leader, protocol.ErrInput) {
				t.Fatalf("ends with %v and %v", leader, party)
			}
			wantParts(t, "the leader", leader.Error(), c.leader)
			wantParts(t, "the party", party.Error(), c.party)
			public := []string{leader.(interface{ Public() string }).Public(), own.Public()}
			for _, said := range public {
				wantParts(t, "the coordinator", said, c.public)
				for _, name := range append(c.tables[0].Columns, c.tables[1].Columns...) {
					if strings.Contains(said, `"`+name) || len(name) == 3 && strings.Contains(said, name) {
						t.Errorf("the coordinator hears of %q: %s", name, said)
					}
				}
			}
			if got := r.Outcome("p1").Machine.(*Party).Own(); !errors.Is(got, protocol.ErrInput) {
				t.Errorf("the party says of itself %v", got)
			}
		})
	}
}

func wantParts(t *testing.T, who, said string, parts []string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(said, part) {
			t.Errorf("%s reads %q, which lacks %q", who, said, part)
		}
	}
}

// Of three parties, the one whose table matches learns that another's does not.
func TestAThirdPartyHearsOfIt(t *testing.T) {
	r := run(t, bulk(), named("a", "b"), named("b", "a"), named("b", "c"), named("d"))
	if err := r.Outcome("p1").End.Err; !errors.Is(err, protocol.ErrInput) || r.Outcome("p1").Machine.(*Party).Own() != nil {
		t.Errorf("p1 ends with %v", err)
	}
	leader := r.Outcome("p0").End.Err
	wantParts(t, "p1", r.Outcome("p1").End.Err.Error(), []string{"no partner at p2", "no partner at p3"})
	wantParts(t, "the leader", leader.Error(), []string{`p2 has no column "a"`, `p3 has no column "a"`})
	if said := leader.(interface{ Public() string }).Public(); strings.Contains(said, `"`) || !strings.Contains(said, "at p3") {
		t.Errorf("the coordinator hears %s", said)
	}
}

// Classes that differ only by case, blanks or Unicode form are refused with both
// spellings and the parties that have them, whichever they are.
func TestClasses(t *testing.T) {
	x := named("x")
	for _, c := range []struct {
		tables []Table
		want   string // "" if they match
	}{
		{[]Table{x.of("ill", "well"), x.of("well"), x.of("dead")}, ""},
		{[]Table{x.of("ill", "well"), x.of("ILL", "WELL")}, `p0 has the class "ill" and p1 "ILL"`},
		{[]Table{x.of("well"), x.of("größe"), x.of("gro\u0308ße")}, `p1 has the class "gr\u00f6\u00dfe" and p2 "gro\u0308\u00dfe"`},
		{[]Table{x.of("well"), x.of("not ill", "notill")}, `p1 has the classes "not ill" and "notill"`},
		{[]Table{x, x.of("a"), x}, ""},
	} {
		r := run(t, bulk(), c.tables...)
		for _, n := range r.Nodes {
			if (n.End.Err == nil) != (c.want == "") {
				t.Errorf("%v: %s ends with %v", c.tables, n.Name, n.End.Err)
			}
		}
		if err := r.Outcome("p0").End.Err; c.want != "" && (!errors.Is(err, protocol.ErrInput) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: the leader ends with %v, want %q", c.tables, err, c.want)
		}
	}
}

func TestTablesThatAreRefused(t *testing.T) {
	s := session(t, descriptor(2))
	for want, own := range map[string]Table{
		"1 names for 2 columns":            {Columns: []string{"a"}, Width: 2},
		"0 columns":                        {},
		"16777217 columns":                 {Width: MaxNumbered + 1},
		`column names are "a"`:             named("a", "b", "a"),
		"a column has a name of 1025":      named(strings.Repeat("a", MaxNameBytes+1)),
		"a class has a name of 1025":       named("a").of(strings.Repeat("a", MaxNameBytes+1)),
		"4097 classes":                     named("a").of(make([]string, MaxClasses+1)...),
		"names of the 1000 classes have 3": named("a").of(slices.Repeat([]string{strings.Repeat("a", 300)}, 1000)...),
	} {
		for _, name := range []string{"p0", "p1"} {
			if _, err := node(s, name, own, bulk()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s with a table of %d columns: %v, want %q", name, own.Width, err, want)
			}
		}
	}
}

func TestSessionsThatAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*protocol.Descriptor){
		"of another protocol": func(d *protocol.Descriptor) { d.Protocol = "scale" },
		"of another version":  func(d *protocol.Descriptor) { d.Version++ },
		"with parameters":     func(d *protocol.Descriptor) { d.Params = []byte{1} },
		"of one party":        func(d *protocol.Descriptor) { d.Members = d.Members[:1] },
		"of two leaders":      func(d *protocol.Descriptor) { d.Members[1].Role = protocol.RoleLeader },
		"with a server":       func(d *protocol.Descriptor) { d.Members[2].Role = protocol.RoleServer },
	} {
		d := descriptor(3)
		spoil(&d)
		if _, err := NewLeader(protocol.Setup{Session: session(t, d), Self: "p0"}, named("a")); err == nil {
			t.Errorf("a leader takes part in a session %s", name)
		}
		if _, err := NewParty(protocol.Setup{Session: session(t, d), Self: "p1"}, named("a")); err == nil {
			t.Errorf("a party takes part in a session %s", name)
		}
	}
}

// A party detects a wrong verdict of its leader: its columns in another order would train
// without a warning.
func TestALeaderThatLiesAboutTheVerdict(t *testing.T) {
	s := session(t, descriptor(2))
	tables := []Table{named("a", "b"), named("b", "c")}
	r, err := sim.Run(sim.Config{Session: s, Nodes: nodes(s, tables, bulk()), Intercept: func(m protocol.Message) []protocol.Message {
		if m.Kind == kindVerdict {
			m.Body = encodeVerdict("")
		}
		return []protocol.Message{m}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Outcome("p1"); n.End != nil && n.End.Err == nil || n.Machine.(*Party).Own() == nil {
		t.Errorf("the party ends with %v", n.End)
	}
}

// A verdict is the leader's text in another party's log: it neither controls that terminal
// nor fills it.
func TestVerdictsThatAreRefused(t *testing.T) {
	for name, text := range map[string]string{"escapes": "\x1b[31mred", "lines": "one\ntwo", "no text": "\xff"} {
		if _, err := decodeVerdict(padded([]byte(text))); err == nil {
			t.Errorf("a verdict with %s is taken", name)
		}
	}
	long := strings.Repeat("long ", maxVerdict)
	if got, err := decodeVerdict(encodeVerdict(long)); err != nil || got != long[:maxVerdict] {
		t.Errorf("a long verdict becomes %d bytes, error %v", len(got), err)
	}
	if _, err := decodeVerdict(padded([]byte(long))); err == nil {
		t.Error("a long verdict is taken")
	}
}

// A leader that sends two chunks under two keys, or a chunk twice, is refused.
func TestColumnsOutOfPlace(t *testing.T) {
	s := session(t, descriptor(2))
	size := sizing{chunk: 32, batch: 1}
	table := abc()[0]
	l, err := node(s, "p0", table, size)
	if err != nil {
		t.Fatal(err)
	}
	p, err := node(s, "p1", table, size)
	if err != nil {
		t.Fatal(err)
	}
	eff, err := l.Step(protocol.Start{InputHash: table.Hash()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Step(protocol.Start{InputHash: table.Hash()}); err != nil {
		t.Fatal(err)
	}
	first := eff.Send[0]
	verdict := protocol.Message{Header: s.Header("p0", "p1", roundVerdict, kindVerdict), Body: encodeVerdict("")}
	other := first.Piece(1, 4)
	other.Body = bytes.Clone(first.Body)
	other.Body[0] ^= 1
	for i, step := range []struct {
		m   protocol.Message
		bad bool
	}{{verdict, true}, {first, false}, {first, true}, {other, true}, {verdict, true}} {
		_, err := p.Step(protocol.Received{Message: step.m})
		var blame *protocol.BlameError
		if step.bad != errors.As(err, &blame) {
			t.Errorf("step %d gives %v", i, err)
		}
	}
	match := protocol.Message{Header: s.Header("p1", "p0", roundMatch, MatchKind), Body: match{named: true, width: 70}.encode()}
	if _, err := l.Step(protocol.Received{Message: match}); err == nil {
		t.Error("an answer to what has not been told is taken")
	}
}

// Sizes reveal the number of named columns within a factor of two, and nothing about other
// tables; answers without classes have one size.
func TestSizes(t *testing.T) {
	sent := func(own Table) int64 {
		var n int64
		for _, e := range run(t, bulk(), own, own).Edges {
			n += e.Bytes
		}
		return n
	}
	wide := func(n int) Table {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprint("x", i))
		}
		return named(names...)
	}
	for _, pair := range [][2]Table{{wide(1), wide(64)}, {wide(65), wide(128)}, {{Width: 1}, {Width: 1 << 20}}, {{Width: 1}, wide(3)}} {
		if a, b := sent(pair[0]), sent(pair[1]); a != b {
			t.Errorf("tables of %d and %d columns take %d and %d bytes", pair[0].Width, pair[1].Width, a, b)
		}
	}
	if sent(wide(64)) == sent(wide(65)) {
		t.Error("65 columns take no more than 64")
	}
}

func TestLeakage(t *testing.T) {
	l := Leakage(Facts{Leader: "north", Classes: true})
	if !strings.Contains(l["leader"][0], "north") || !strings.Contains(l["leader"][0], "classes") || len(l) != 4 {
		t.Errorf("%v", l)
	}
	if l := Leakage(Facts{Leader: "north"}); strings.Contains(l["leader"][0], "classes") {
		t.Errorf("%v", l)
	}
}

// A machine refuses any message with blame, accepts it, or ends; every decoded message has
// one encoding.
func FuzzMessages(f *testing.F) {
	l := newLayout(true, 2, bulk())
	d := newDigester([32]byte{1})
	good := digests{[]exact{d.exact("a"), d.exact("b")}, []folded{d.folded("a"), d.folded("b")}}
	f.Add(l.encode([32]byte{1}, good), uint32(0), uint32(1))
	f.Add(newLayout(false, 9, bulk()).encode([32]byte{}, digests{}), uint32(0), uint32(1))
	f.Add(match{named: true, width: 2, missing: 1, listed: []gap{{1, true}}, classes: []string{"ill"}}.encode(), uint32(0), uint32(1))
	f.Add(match{width: 3}.encode()[:100], uint32(1), uint32(2))
	f.Add(encodeVerdict("it does not fit"), uint32(0), uint32(1))
	f.Fuzz(func(t *testing.T, b []byte, at, of uint32) {
		s := session(t, descriptor(2))
		table := named("a", "b")
		for _, c := range []struct {
			self, from, kind string
			round            uint16
		}{{"p0", "p1", MatchKind, roundMatch}, {"p1", "p0", kindColumns, roundColumns}, {"p1", "p0", kindVerdict, roundVerdict}} {
			m, err := node(s, c.self, table, bulk())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Step(protocol.Start{InputHash: table.Hash()}); err != nil {
				t.Fatal(err)
			}
			message := protocol.Message{Header: s.Header(c.from, c.self, c.round, c.kind), Body: b}
			message.Chunk, message.Chunks = at, of
			var blame *protocol.BlameError
			if _, err := m.Step(protocol.Received{Message: message}); err != nil && !errors.As(err, &blame) {
				t.Errorf("refused without blame: %v", err)
			}
			if c, err := decodeColumns(message, bulk()); err == nil && !bytes.Equal(c.layout.encode(c.key, c.digests), b) {
				t.Errorf("%x decodes to columns that are encoded otherwise", b)
			}
		}
		if text, err := decodeVerdict(b); err == nil && !bytes.Equal(encodeVerdict(text), b) {
			t.Errorf("%x decodes to %q, which is encoded otherwise", b, text)
		}
		if m, err := decodeMatch(b, 2); err == nil && !bytes.Equal(m.encode(), b) {
			t.Errorf("%x decodes to %v, which is encoded otherwise", b, m)
		}
	})
}
