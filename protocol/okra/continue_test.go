package okra

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// epoch holds everything that the members of an epoch keep.
type epoch struct {
	spec      Spec
	base      *Base
	standings map[string]EpochState
}

// bring names a party and its new rows; in a session the first one leads.
type bring struct {
	party string
	input Input
}

// cast returns the members of a session of these parties.
func cast(parties []bring) []protocol.Member {
	members := []protocol.Member{hospitals[0]}
	for i, b := range parties {
		role := protocol.RoleParty
		if i == 0 {
			role = protocol.RoleLeader
		}
		members = append(members, protocol.Member{Name: b.party, Role: role})
	}
	return members
}

// session is one session of an epoch; the first if it has no predecessor.
func (e *epoch) session(t testing.TB, parties ...bring) sim.Config {
	t.Helper()
	p := mustParams(t, e.spec)
	d := protocol.Descriptor{Protocol: Name, Version: Version, Params: p.Encode(), Members: cast(parties), Purpose: "train"}
	if e.base != nil {
		d.Parent = e.base.Session
	}
	s, err := protocol.NewSession(d)
	if err != nil {
		t.Fatal(err)
	}
	cfg := sim.Config{Session: s, Nodes: []sim.Node{{Name: "hub", Timers: timers, New: func() (protocol.Machine, error) {
		setup := protocol.Setup{Session: s, Self: "hub"}
		if e.base != nil {
			return NewContinuingServer(setup, p, e.base, Limits{})
		}
		return NewServer(setup, p, Limits{})
	}}}}
	for i, b := range parties {
		setup := protocol.Setup{Session: s, Self: b.party, Seed: [32]byte{byte(i)}}
		b.input.Kept = true
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: b.party, InputHash: b.input.Hash(), Timers: timers, New: func() (protocol.Machine, error) {
			before, known := e.standings[b.party]
			switch {
			case known:
				return NewContinuingParty(setup, p, before, b.input)
			case e.base != nil:
				return NewLateParty(setup, p, b.input, nil)
			}
			return NewParty(setup, p, b.input)
		}})
	}
	return cfg
}

// after returns the state that is kept after a session.
func (e *epoch) after(o *outcome, parties ...bring) *epoch {
	next := &epoch{spec: e.spec, base: o.server().Base(), standings: make(map[string]EpochState)}
	for _, b := range parties {
		next.standings[b.party] = o.party(b.party).EpochState()
	}
	return next
}

// then runs a session and returns the state that is kept after it.
func (e *epoch) then(t testing.TB, parties ...bring) (*epoch, *outcome) {
	t.Helper()
	o := mustRun(t, e.session(t, parties...))
	return e.after(o, parties...), o
}

// emptied is the epoch without rows: all are sent again under its seed.
func (e *epoch) emptied() *epoch {
	next := &epoch{spec: e.spec, base: e.base.Emptied(), standings: make(map[string]EpochState)}
	for name, s := range e.standings {
		next.standings[name] = s.Emptied()
	}
	return next
}

// join puts the rows of several inputs behind each other.
func join(parts ...Input) (all Input) {
	var values []float64
	rows, cols := 0, 0
	for _, in := range parts {
		m := matrixOf(in.Rows)
		for i := range m.Rows {
			values = append(values, m.Row(i)...)
		}
		rows, cols = rows+m.Rows, m.Cols
		all.Labels, all.Test = append(all.Labels, in.Labels...), append(all.Test, in.Test...)
	}
	all.Rows = shaped(values, rows, cols)
	return all
}

func none(party string) bring { return bring{party: party} }

// fresh runs all rows anew under the epoch's seed.
func (e *epoch) fresh(t testing.TB, parties ...bring) *Server {
	t.Helper()
	_, o := e.emptied().then(t, parties...)
	return o.server()
}

// sameRows compares, bit by bit, the input of a learner and the rows of a model.
func sameRows(got, want *Server) error {
	if err := equalServers(got, want); err != nil {
		return err
	}
	index := make([]int, got.total)
	for i := range index {
		index[i] = i
	}
	if !slices.Equal(matrixOf(got.Rows(index)).Data, matrixOf(want.Rows(index)).Data) {
		return errors.New("other encoded rows")
	}
	return nil
}

// A session that continues another gives the bits of a session with all rows: parties come
// late, bring more or leave, on every wire, and beyond a panel and a slice.
func TestContinuedSessionsEqualFreshOnes(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		name  string
		spec  Spec
		f     int
		sizes []int // of five inputs
	}{
		{"a few rows", Spec{}, 5, []int{4, 3, 2, 1, 2}},
		{"float64", Spec{Wire: Float64}, 7, []int{4, 3, 2, 1, 2}},
		{"haar", Spec{Encoder: Haar, Wire: Float64}, 5, []int{4, 3, 2, 1, 2}},
		{"several panels and slices", Spec{Rounds: 2}, 3000, []int{530, 70, 41, 13, 90}},
	} {
		t.Run(c.name, func(t *testing.T) {
			total := 0
			for _, n := range c.sizes {
				total += n
			}
			in := share(randomRows("continued", total, c.f), c.sizes...)
			north, south, east, moreNorth, moreSouth := in[0], in[1], in[2], in[3], in[4]
			first, _ := (&epoch{spec: c.spec}).then(t, bring{"north", north}, bring{"east", east})

			late, o := first.then(t, none("north"), bring{"south", south}, none("east"))
			want := late.fresh(t, bring{"north", north}, bring{"south", south}, bring{"east", east})
			if err := sameRows(o.server(), want); err != nil {
				t.Errorf("a party comes late: %v", err)
			}

			more, o := late.then(t, bring{"north", moreNorth}, bring{"south", moreSouth}, none("east"))
			want = more.fresh(t, bring{"north", join(north, moreNorth)}, bring{"south", join(south, moreSouth)}, bring{"east", east})
			if err := sameRows(o.server(), want); err != nil {
				t.Errorf("parties bring more rows: %v", err)
			}

			left, o := more.then(t, none("south"), none("east"))
			want = left.fresh(t, bring{"south", join(south, moreSouth)}, bring{"east", east})
			if err := sameRows(o.server(), want); err != nil {
				t.Errorf("the leader withdraws: %v", err)
			}
			if got := o.server().Costs(); got.Products != 0 || slices.Max(got.Bytes) != 0 {
				t.Errorf("a withdrawal costs %+v, want nothing", got)
			}
		})
	}
}

// A late party with a tenth of the rows costs a tenth of the bytes and a fifth of the
// products, counted as they come and are computed.
func TestLateTenthCostsAFifth(t *testing.T) {
	in := share(randomRows("tenth", 600, 64), 300, 240, 60)
	first, _ := (&epoch{}).then(t, bring{"north", in[0]}, bring{"south", in[1]})
	late, o := first.then(t, none("north"), none("south"), bring{"east", in[2]})
	part, whole := o.server().Costs(), late.fresh(t, bring{"north", in[0]}, bring{"south", in[1]}, bring{"east", in[2]}).Costs()
	if want := int64(600 * 601 / 2); whole.Products != want {
		t.Errorf("%d products in all, want %d", whole.Products, want)
	}
	if want := int64(60*540 + 60*61/2); part.Products != want || part.Products*100 > 20*whole.Products {
		t.Errorf("%d products of %d, want %d", part.Products, whole.Products, want)
	}
	if part.Bytes[0] != 0 || part.Bytes[1] != 0 || part.Bytes[2] != whole.Bytes[2] || part.Bytes[2]*100 > 11*(whole.Bytes[0]+whole.Bytes[1]+whole.Bytes[2]) {
		t.Errorf("%d bytes, %d in all", part.Bytes, whole.Bytes)
	}
}

// small is an epoch of three parties, of which south has joined late.
func small(t testing.TB) (first *epoch, in []Input) {
	in = share(randomRows("small epoch", 12, 5), 4, 2, 3, 2, 1)
	first, _ = (&epoch{}).then(t, bring{"north", in[0]}, bring{"east", in[1]})
	return first, in
}

func TestContinuedProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for name, who := range map[string]func(in []Input) []bring{
		"late": func(in []Input) []bring {
			return []bring{none("north"), {"south", in[2]}, none("east")}
		},
		"late and more": func(in []Input) []bring {
			return []bring{{"north", in[3]}, {"south", in[2]}, {"east", in[4]}}
		},
		"withdrawn": func([]Input) []bring { return []bring{none("east")} },
	} {
		protocoltest.Run(t, protocoltest.Protocol{Name: name, New: func(t testing.TB) protocoltest.Case {
			first, in := small(t)
			cfg := first.session(t, who(in)...)
			return protocoltest.Case{Session: cfg.Session, Nodes: cfg.Nodes, InFlight: 4096, Runs: 60,
				Check: sameAs(mustRun(t, cfg)), Trusts: ownWord}
		}})
	}
}

// The server names the party whose confirmation differs from its own record.
func TestConfirmationsThatDiffer(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*EpochState)
		want   string
	}{
		"other rows":  {func(s *EpochState) { s.Sent[0] ^= 1 }, "okra: east's confirmation does not match the rows that the server has kept; start a new session"},
		"more rows":   {func(s *EpochState) { s.Rows++ }, "okra: east's confirmation covers 3 rows, but the server has kept 2; continue with the same parties, or start a new session"},
		"a seed more": {func(s *EpochState) { s.Origin[0] ^= 1 }, "okra: east's encoding parameters differ from the earlier session's: features, seed or settings are not the same"},
		"no labels":   {func(s *EpochState) { s.Labels = false }, "okra: east's new rows and kept rows do not agree on labels: either all rows have labels or none"},
	} {
		t.Run(name, func(t *testing.T) {
			first, in := small(t)
			s := first.standings["east"]
			tt.change(&s)
			first.standings["east"] = s
			o := run(t, first.session(t, bring{"north", in[3]}, none("east")))
			o.wantEnd(t, "hub", tt.want)
			var mismatch *MismatchError
			if err := o.end("hub"); !errors.As(err, &mismatch) || !slices.Equal(mismatch.Parties, []string{"east"}) || !errors.Is(err, protocol.ErrInput) {
				t.Errorf("%v names %+v", err, mismatch)
			}
		})
	}
}

// A leader that gives a newcomer another seed, or another epoch, is detected before a row is sent.
// The error names the newcomer, since nobody can distinguish the two.
func TestLeaderWithAnotherSeed(t *testing.T) {
	first, in := small(t)
	cfg := first.session(t, none("north"), bring{"south", in[2]}, none("east"))
	cfg.Intercept = func(m protocol.Message) []protocol.Message {
		if m.Kind == kindWelcome {
			m.Body = slices.Clone(m.Body)
			m.Body[0] ^= 1
		}
		return []protocol.Message{m}
	}
	o := run(t, cfg)
	o.wantEnd(t, "hub", "okra: south's encoding parameters differ from the earlier session's: features, seed or settings are not the same")
	for _, m := range o.sent {
		if m.Kind == kindRows || m.Kind == kindLabels {
			t.Errorf("%v travels", m.Header)
		}
	}
}

// Security rule 20: without the consent of every party that has the seed, no newcomer gets
// it. A consent made without the seed is none.
func TestNewcomerNeedsEveryConsent(t *testing.T) {
	first, in := small(t)
	for name, change := range map[string]func(protocol.Message) []protocol.Message{
		"silence": func(protocol.Message) []protocol.Message { return nil },
		"a consent of somebody without the seed": func(m protocol.Message) []protocol.Message {
			m.Body = make([]byte, len(m.Body))
			return []protocol.Message{m}
		},
	} {
		cfg := first.session(t, none("north"), bring{"south", in[2]}, none("east"))
		cfg.Intercept = func(m protocol.Message) []protocol.Message {
			if m.Kind == kindConsent {
				return change(m)
			}
			return []protocol.Message{m}
		}
		o := run(t, cfg)
		for _, m := range o.sent {
			if m.Kind == kindWelcome || m.Kind == kindRows {
				t.Errorf("%s: %v travels", name, m.Header)
			}
		}
		var blame *protocol.BlameError
		if err := o.end("north"); !errors.As(err, &blame) || blame.Party != "east" {
			t.Errorf("%s: north ends with %v, want east blamed", name, err)
		}
	}
}

// Only parties receive the seed, and no party that has it receives it again. A party that leaves keeps it.
func TestContinuedSeedStaysAmongParties(t *testing.T) {
	first, in := small(t)
	next, o := first.then(t, none("north"), bring{"south", in[2]}, none("east"))
	seed := first.standings["north"].Seed
	for _, m := range o.sent {
		if secret := strings.Contains(string(m.Body), string(seed[:])); secret != (m.Kind == kindWelcome) || secret && (m.Receiver != "south" || m.Sender != "north") {
			t.Errorf("%v holds the seed: %v", m.Header, secret)
		}
	}
	for _, s := range next.standings {
		if s.Seed != seed || !slices.Contains(s.Holders, "south") || len(s.Holders) != 3 || s.Origin != first.base.Origin {
			t.Errorf("a party keeps %v of %v", s.Holders, s.Origin)
		}
	}
	without, _ := first.then(t, none("north"), bring{"south", in[2]})
	for _, name := range []string{"north", "south"} {
		if s := without.standings[name]; !slices.Contains(s.Holders, "east") {
			t.Errorf("%s forgets that east, who has left, has the seed: %v", name, s.Holders)
		}
	}
}

// A server cannot have less than a party knows that it has; a party continues a session in
// one other session only.
func TestContinuedSessionsOfLiars(t *testing.T) {
	first, in := small(t)
	cfg := first.session(t, none("north"), bring{"east", in[4]})
	cfg.Intercept = func(m protocol.Message) []protocol.Message {
		if m.Kind == kindReceipt {
			m.Body = encodeReceipt(2) // north alone has four
		}
		return []protocol.Message{m}
	}
	o := run(t, cfg)
	if len(o.Refusals) == 0 || o.end("north") == nil {
		t.Errorf("a receipt for fewer rows is taken: %v", o.Refusals)
	}
	s := first.standings["north"]
	if s.Seed.continuationClaim(s.Session) == s.Seed.continuationClaim(protocol.SessionID{1}) || s.Seed.continuationClaim(s.Session) == s.Seed.claim() {
		t.Error("two names are one")
	}
}

func TestContinuedConstructorsRefuse(t *testing.T) {
	first, in := small(t)
	p := mustParams(t, Spec{})
	other := newSession(t, p, hospitals[:3]...)
	if _, err := NewContinuingServer(protocol.Setup{Session: other, Self: "hub"}, p, first.base, Limits{}); err == nil {
		t.Error("a server continues another session than it has kept")
	}
	if _, err := NewContinuingParty(protocol.Setup{Session: other, Self: "north"}, p, first.standings["north"], Input{}); err == nil {
		t.Error("a party continues another session than it has kept")
	}
	if _, err := NewLateParty(protocol.Setup{Session: other, Self: "south"}, p, in[2], nil); err == nil {
		t.Error("a newcomer joins a first session")
	}
	d := protocol.Descriptor{Protocol: Name, Version: Version, Params: p.Encode(), Purpose: "train", Parent: first.base.Session,
		Members: cast([]bring{none("south"), none("north")})}
	led, err := protocol.NewSession(d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewLateParty(protocol.Setup{Session: led, Self: "south"}, p, in[2], nil); err == nil {
		t.Error("a newcomer leads")
	}
	wide := Input{Rows: randomRows("wide", 1, 6), Labels: []string{"a"}}
	if _, err := NewContinuingParty(protocol.Setup{Session: led, Self: "north"}, p, first.standings["north"], wide); err == nil {
		t.Error("new rows have another width")
	}
}

// A newcomer's rows are prepared with the leader's preparation, to another width than they had. A
// preparation that fails on them is the leader's fault. Rows that cannot be prepared are the
// newcomer's own problem, and nobody is blamed.
func TestNewcomersArePrepared(t *testing.T) {
	const late = "okra: the epoch's seed did not come in time" // a word that is refused is none
	ready := share(randomRows("small epoch", 12, 5), 4, 2, 3, 2, 1)[2]
	for name, tt := range map[string]struct {
		prepare Prepare
		want    string // of south's end
		blamed  string
	}{
		"as they should":    {func([]byte) (linalg.Rows, bool, error) { return ready.Rows, false, nil }, "", ""},
		"not at all":        {func([]byte) (linalg.Rows, bool, error) { return nil, false, errors.New("no preparation") }, late, "north"},
		"too few":           {func([]byte) (linalg.Rows, bool, error) { return randomRows("few", 2, 5), false, nil }, late, "north"},
		"not to numbers":    {func([]byte) (linalg.Rows, bool, error) { return shaped([]float64{math.Inf(1), 0, 0}, 3, 1), false, nil }, late, "north"},
		"to another width":  {func([]byte) (linalg.Rows, bool, error) { return randomRows("wide", 3, 6), false, nil }, "south has rows of 6; agree on the columns", ""},
		"rows of their own": {func([]byte) (linalg.Rows, bool, error) { return nil, false, fault.BadInputf("a word of mine") }, "a word of mine", ""},
	} {
		t.Run(name, func(t *testing.T) {
			first, in := small(t)
			for _, party := range []string{"north", "east"} {
				s := first.standings[party]
				s.Preparation = []byte("as all do")
				first.standings[party] = s
			}
			raw := ready
			raw.Rows = randomRows("raw", 3, 8)
			cfg := first.session(t, none("north"), bring{"south", raw}, none("east"))
			south := slices.IndexFunc(cfg.Nodes, func(n sim.Node) bool { return n.Name == "south" })
			setup := protocol.Setup{Session: cfg.Session, Self: "south", Seed: [32]byte{1}}
			raw.Kept = true
			cfg.Nodes[south].New = func() (protocol.Machine, error) {
				return NewLateParty(setup, mustParams(t, first.spec), raw, tt.prepare)
			}
			if tt.want == "" {
				next := first.after(mustRun(t, cfg), none("north"), none("south"), none("east"))
				if err := sameRows(mustRun(t, cfg).server(), next.fresh(t, bring{"north", in[0]}, bring{"south", ready}, bring{"east", in[1]})); err != nil {
					t.Error(err)
				}
				return
			}
			end := run(t, cfg).end("south")
			var blame *protocol.BlameError
			if end == nil || !strings.Contains(end.Error(), tt.want) || errors.As(end, &blame) != (tt.blamed != "") || blame != nil && blame.Party != tt.blamed {
				t.Errorf("south ends with %v, want %q of %q", end, tt.want, tt.blamed)
			}
		})
	}
}

func TestContinuedTranscript(t *testing.T) {
	inputs := share(grid(7, 6), 3, 2, 2)
	first, _ := (&epoch{spec: Spec{Wire: Float64}}).then(t, bring{"north", inputs[0]}, bring{"east", inputs[1]})
	_, o := first.then(t, none("north"), bring{"south", inputs[2]}, none("east"))
	protocoltest.Golden(t, "continue.txt", o.Transcript())
}

// The states that parties and server keep agree about the sent data.
func TestKeptDigests(t *testing.T) {
	first, in := small(t)
	next, _ := first.then(t, bring{"north", in[3]}, bring{"south", in[2]}, none("east"))
	for _, e := range []*epoch{first, next} {
		for _, part := range e.base.Parts {
			s := e.standings[part.Party]
			if d := cmp.Diff(part.Sent, s.Sent); d != "" || part.Rows != s.Rows || s.Sent == (Digest{}) {
				t.Errorf("%s: %d and %d rows, digests differ: %s", part.Party, part.Rows, s.Rows, d)
			}
		}
	}
}
