package okra

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// forgery is a bad message made from a good one, and how it is refused.
type forgery struct {
	name   string
	kind   string // of the good message
	change func(*protocol.Message)
	blame  protocol.Kind
	want   string // part of the error
}

func body(b []byte) func(*protocol.Message) {
	return func(m *protocol.Message) { m.Body = b }
}

func truncate(m *protocol.Message) { m.Body = m.Body[:len(m.Body)-1] }

func extend(m *protocol.Message) { m.Body = append(slices.Clone(m.Body), 0) }

func changeAnnounce(change func(*announce)) func(*protocol.Message) {
	return func(m *protocol.Message) {
		a, err := decodeAnnounce(m.Body)
		if err != nil {
			panic(err)
		}
		change(&a)
		m.Body = a.encode()
	}
}

// number overwrites the second number of a body of rows.
func number(v float64) func(*protocol.Message) {
	return func(m *protocol.Message) {
		var w wire.Writer
		w.Float64s([]float64{v})
		m.Body = slices.Clone(m.Body)
		copy(m.Body[8:], w.Bytes())
	}
}

// general applies to a message of any kind.
var general = []forgery{
	{"other session", "", func(m *protocol.Message) { m.Session[0] ^= 1 }, protocol.KindForeign, "message of session"},
	{"other protocol", "", func(m *protocol.Message) { m.Protocol = "scale" }, protocol.KindForeign, `message of protocol "scale"`},
	{"other receiver", "", func(m *protocol.Message) { m.Receiver = "west" }, protocol.KindForeign, `message for "west"`},
	{"stranger", "", func(m *protocol.Message) { m.Sender = "mallory" }, protocol.KindForeign, `sender "mallory" is not a member`},
	{"from oneself", "", func(m *protocol.Message) { m.Sender = m.Receiver }, protocol.KindUnexpected, "is not expected"},
	{"other round", "", func(m *protocol.Message) { m.Round++ }, protocol.KindUnexpected, "is not expected"},
	{"other kind", "", func(m *protocol.Message) { m.Kind = "Gossip" }, protocol.KindUnexpected, "Gossip of round"},
	{"numbered", "", func(m *protocol.Message) { m.Sequence = 1 }, protocol.KindUnexpected, "is sent once, with sequence number 0"},
}

var specific = []forgery{
	{"seed truncated", kindSeed, truncate, protocol.KindMalformed, "okra: seed: the bytes end too early"},
	{"seed extended", kindSeed, extend, protocol.KindMalformed, "okra: seed: 1 bytes are left over"},
	{"seed of no feature", kindSeed, body(seedBody{}.encode()), protocol.KindMalformed, "0 features"},
	{"seed of too many features", kindSeed, body(seedBody{features: MaxFeatures + 1}.encode()), protocol.KindMalformed, "4194305 features"},
	{"seed from a party", kindSeed, func(m *protocol.Message) { m.Sender = "east" }, protocol.KindUnexpected, "is not expected from east"},
	{"seed from the server", kindSeed, func(m *protocol.Message) { m.Sender = "hub" }, protocol.KindUnexpected, "is not expected from hub"},
	{"seed in parts", kindSeed, func(m *protocol.Message) { m.Chunks = 2 }, protocol.KindUnexpected, "must be sent whole"},

	{"announcement truncated", kindAnnounce, truncate, protocol.KindMalformed, "okra: announcement: the bytes end too early"},
	{"announcement extended", kindAnnounce, extend, protocol.KindMalformed, "1 bytes are left over"},
	{"announcement empty", kindAnnounce, body(nil), protocol.KindMalformed, "the bytes end too early"},
	{"no rows", kindAnnounce, changeAnnounce(func(a *announce) { a.rows = 0 }), protocol.KindMalformed, "0 rows"},
	{"too many rows", kindAnnounce, changeAnnounce(func(a *announce) { a.rows = maxRows + 1 }), protocol.KindMalformed, "67108865 rows"},
	{"no width", kindAnnounce, changeAnnounce(func(a *announce) { a.width = 0 }), protocol.KindMalformed, "the encoded width is 0"},
	{"too wide", kindAnnounce, changeAnnounce(func(a *announce) { a.width = math.MaxUint32 }), protocol.KindMalformed, "the encoded width is 4294967295"},
	{"odd numbers", kindAnnounce, changeAnnounce(func(a *announce) { a.wire = 2 }), protocol.KindMalformed, "each number has 2 bytes; 4 or 8 are allowed"},
	{"other wire", kindAnnounce, changeAnnounce(func(a *announce) { a.wire = 4 }), protocol.KindInconsistent, "numbers have 4 bytes; the session's have 8"},
	{"a flag of 2", kindAnnounce, func(m *protocol.Message) { m.Body = slices.Clone(m.Body); m.Body[len(m.Body)-1] = 2 }, protocol.KindMalformed, "a flag is 2; it must be 0 or 1"},
	{"announcement in parts", kindAnnounce, func(m *protocol.Message) { m.Chunks = 2 }, protocol.KindUnexpected, "must be sent whole"},

	{"rows truncated", kindRows, truncate, protocol.KindMalformed, "okra: rows: the bytes end too early"},
	{"rows extended", kindRows, extend, protocol.KindMalformed, "1 bytes are left over"},
	{"a row too many", kindRows, func(m *protocol.Message) { m.Body = make([]byte, len(m.Body)+8*72) }, protocol.KindMalformed, "576 bytes are left over"},
	{"not a number", kindRows, number(math.NaN()), protocol.KindMalformed, "okra: rows: row 0, coordinate 1 is NaN; encoded numbers are finite and at most 1e19"},
	{"infinite", kindRows, number(math.Inf(-1)), protocol.KindMalformed, "coordinate 1 is -Inf"},
	{"huge", kindRows, number(1.01 * maxEncoded), protocol.KindMalformed, "coordinate 1 is 1.01e+19"},
	{"a chunk too many", kindRows, func(m *protocol.Message) { m.Chunk, m.Chunks = 1, 2 }, protocol.KindInconsistent, "chunk 1 of 2 of Rows does not match the announcement of 1 chunks"},
	{"a chunk beyond", kindRows, func(m *protocol.Message) { m.Chunk = 1 }, protocol.KindInconsistent, "chunk 1 of 1 of Rows"},
	{"rows from the server", kindRows, func(m *protocol.Message) { m.Sender = "hub" }, protocol.KindUnexpected, "not expected from hub"},

	{"labels truncated", kindLabels, truncate, protocol.KindMalformed, "okra: labels: the bytes end too early"},
	{"labels extended", kindLabels, extend, protocol.KindMalformed, "1 bytes are left over"},
	{"labels missing", kindLabels, body(make([]byte, 9)), protocol.KindMalformed, "row 0 of the chunk: the row's label does not match the announcement"},
	{"label too long", kindLabels, body(append([]byte{65, 0}, make([]byte, 100)...)), protocol.KindMalformed, "a name has 65 bytes; at most 64 are allowed"},
	{"labels in more chunks", kindLabels, func(m *protocol.Message) { m.Chunks = 3 }, protocol.KindInconsistent, "chunk 0 of 3 of Labels does not match the announcement of 1 chunks"},

	{"receipt truncated", kindReceipt, truncate, protocol.KindMalformed, "okra: receipt: the bytes end too early"},
	{"receipt for fewer rows", kindReceipt, body(encodeReceipt(1)), protocol.KindInconsistent, "the receipt counts 1 rows, but this party alone has sent 2"},
	{"receipt beyond belief", kindReceipt, body(encodeReceipt(math.MaxInt)), protocol.KindInconsistent, "the receipt counts 9223372036854775807 rows"},
	{"grant from a party", kindGrant, func(m *protocol.Message) { m.Sender = "north" }, protocol.KindUnexpected, "is not expected from north"},
	{"grant in parts", kindGrant, func(m *protocol.Message) { m.Chunks = 2 }, protocol.KindUnexpected, "must be sent whole"},
	{"grant with a body", kindGrant, func(m *protocol.Message) { m.Body = []byte{1} }, protocol.KindMalformed, "grant: the message has 1 bytes; it must be empty"},
	{"receipt from a party", kindReceipt, func(m *protocol.Message) { m.Sender = "north" }, protocol.KindUnexpected, "is not expected from north"},
	{"receipt in parts", kindReceipt, func(m *protocol.Message) { m.Chunks = 2 }, protocol.KindUnexpected, "must be sent whole"},
}

// Before each good message come all bad ones made from it. Each is refused and
// blamed as it should be.
func TestBadMessages(t *testing.T) {
	checkRefusals(t, training(t, Spec{Wire: Float64}, share(randomRows("bad", 6, 5), 2, 2, 2)...), specific)
}

// checkRefusals runs the session with all forgeries before every message that
// they can be made from. Every accepted message is offered a second time too,
// which no runner would do.
func checkRefusals(t *testing.T, cfg sim.Config, specific []forgery) {
	t.Helper()
	var tried []trial
	cfg.Intercept = func(good protocol.Message) (all []protocol.Message) {
		for _, f := range slices.Concat(general, specific) {
			if f.kind == "" || f.kind == good.Kind {
				bad := good
				f.change(&bad)
				all, tried = append(all, bad), append(tried, trial{f, bad, good.Receiver})
			}
		}
		return append(all, good)
	}
	r := run(t, watch(cfg, offerAgain(t)))
	if err := r.Err(); err != nil {
		t.Fatalf("%v\n%s", err, r.Transcript())
	}
	for _, f := range specific {
		if !slices.ContainsFunc(tried, func(x trial) bool { return x.name == f.name }) {
			t.Errorf("%q was never tried", f.name)
		}
	}
	if len(r.Refusals) != len(tried) {
		t.Errorf("%d refusals of %d bad messages", len(r.Refusals), len(tried))
	}
	for _, x := range tried {
		x.check(t, r)
	}
}

// trial is a forgery that was delivered.
type trial struct {
	forgery
	bad      protocol.Message
	receiver string
}

func (x trial) check(t *testing.T, r *outcome) {
	t.Helper()
	for _, refusal := range r.Refusals {
		if e, ok := refusal.Event.(protocol.Received); !ok || refusal.Node != x.receiver || e.Message.Digest() != x.bad.Digest() {
			continue
		}
		var blame *protocol.BlameError
		if err := refusal.Err; !errors.As(err, &blame) || blame.Kind != x.blame || blame.Party != x.bad.Sender || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v to %s: %v, want %s blamed: %s", x.name, x.bad.Header, x.receiver, err, x.blame, x.want)
		}
		return
	}
	t.Errorf("%s: %v to %s: not refused", x.name, x.bad.Header, x.receiver)
}

// offerAgain offers every accepted message once more to the machine itself.
func offerAgain(t *testing.T) func(protocol.Machine, protocol.Event, protocol.Effects, error) {
	return func(m protocol.Machine, e protocol.Event, first protocol.Effects, err error) {
		received, ok := e.(protocol.Received)
		if !ok || err != nil {
			return
		}
		effects, err := m.Step(e)
		var blame *protocol.BlameError
		switch {
		case !cmp.Equal(effects, protocol.Effects{}):
			t.Errorf("%v twice: effects %+v", received.Message.Header, effects)
		case first.End != nil && (err == nil || err.Error() != "okra: the session is over"):
			t.Errorf("%v after the end: %v", received.Message.Header, err)
		case first.End == nil && (!errors.As(err, &blame) || blame.Kind != protocol.KindUnexpected):
			t.Errorf("%v twice: %v", received.Message.Header, err)
		}
	}
}

func TestEventsOutOfPlace(t *testing.T) {
	cfg := training(t, Spec{}, share(randomRows("place", 4, 5), 2, 2)...)
	for _, n := range cfg.Nodes {
		m, err := n.New()
		if err != nil {
			t.Fatal(err)
		}
		check := func(e protocol.Event, want string) {
			t.Helper()
			if _, err := m.Step(e); err == nil || err.Error() != want {
				t.Errorf("%s: %T: %v, want %s", n.Name, e, err, want)
			}
		}
		check(protocol.Resumed{}, "okra: the session has not started")
		check(protocol.Received{}, "okra: the session has not started")
		check(protocol.Expired{Timer: TimerRows}, "okra: the session has not started")
		if n.Name != "hub" {
			check(protocol.Start{InputHash: [32]byte{1}}, "okra: the rows or their labels have changed since the session started; restore them, or start a new session")
		}
		if _, err := m.Step(protocol.Start{InputHash: n.InputHash}); err != nil {
			t.Fatal(err)
		}
		check(protocol.Start{InputHash: n.InputHash}, "okra: the session has started already")
		check(nil, "okra: unknown event <nil>")
		if _, err := m.Step(protocol.Expired{Timer: "okra/other"}); err == nil || !strings.Contains(err.Error(), `has no timer "okra/other"`) {
			t.Errorf("%s: a timer that it never armed: %v", n.Name, err)
		}
		switch n.Name {
		case "hub":
			check(protocol.Resumed{}, "okra: the server was resumed before all rows arrived")
		case "south": // has no seed yet
			check(protocol.Resumed{}, "okra: the party was resumed, but it has nothing to send")
		}
	}
	for _, o := range train(t, Spec{}, share(randomRows("place", 4, 5), 2, 2)...).Nodes {
		if _, err := o.Machine.Step(protocol.Resumed{}); err == nil || err.Error() != "okra: the session is over" {
			t.Errorf("%s, at its end: %v", o.Name, err)
		}
	}
}

func TestConstructorsRefuse(t *testing.T) {
	p := mustParams(t, Spec{})
	good := Input{Rows: randomRows("good", 2, 3)}
	all := newSession(t, p, hospitals...)
	other := newSession(t, mustParams(t, Spec{Rounds: 2}), hospitals...)
	with := func(change func(*protocol.Descriptor), members ...protocol.Member) *protocol.Session {
		d := protocol.Descriptor{Protocol: Name, Version: Version, Params: p.Encode(), Members: members}
		change(&d)
		s, err := protocol.NewSession(d)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	keep := func(*protocol.Descriptor) {}
	hub, north, south := hospitals[0], hospitals[1], hospitals[2]
	for _, c := range []struct {
		name    string
		session *protocol.Session
		self    string
		server  bool
		want    string
	}{
		{"no session", nil, "north", false, "okra: the setup has no session"},
		{"other protocol", with(func(d *protocol.Descriptor) { d.Protocol = "scale" }, hub, north), "north", false, "okra: the session runs scale version 2; this machine runs okra version 2"},
		{"other version", with(func(d *protocol.Descriptor) { d.Version = 1 }, hub, north), "hub", true, "okra: the session runs okra version 1; this machine runs okra version 2"},
		{"other parameters", other, "hub", true, "okra: the parameters differ from the session's descriptor"},
		{"no server", newSession(t, p, north, south), "north", false, "okra: the session has 0 servers; exactly one is required"},
		{"two servers", newSession(t, p, hub, protocol.Member{Name: "hub2", Role: protocol.RoleServer}, north), "hub", true, "okra: the session has 2 servers; exactly one is required"},
		{"no leader", with(keep, hub, south), "south", false, "okra: the session has 0 leaders; a training session has exactly one"},
		{"no leader, server", with(keep, hub, south), "hub", true, "okra: the session has 0 leaders; a training session has exactly one"},
		{"two leaders", with(keep, hub, north, protocol.Member{Name: "west", Role: protocol.RoleLeader}), "north", false, "okra: the session has 2 leaders; a training session has exactly one"},
		{"unknown role", with(keep, hub, north, protocol.Member{Name: "eve", Role: "witness"}), "north", false, "okra: a member's role is not server, leader or party"},
		{"server as party", all, "hub", false, `okra: "hub" is not a party in this session`},
		{"party as server", all, "north", true, `okra: "north" is not a server in this session`},
		{"stranger", all, "west", false, `okra: "west" is not a party in this session`},
	} {
		setup := protocol.Setup{Session: c.session, Self: c.self}
		var err error
		if c.server {
			_, err = NewServer(setup, p, Limits{})
		} else {
			_, err = NewParty(setup, p, good)
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func TestBadInputs(t *testing.T) {
	with := func(v float64) linalg.Matrix[float64] {
		m := randomRows("bad", 2, 3)
		m.Row(1)[2] = v
		return m
	}
	good := with(0)
	for _, c := range []struct {
		in   Input
		want string
	}{
		{Input{}, "okra: the input has 0 rows; 1 to 67108864 are allowed"},
		{Input{Rows: linalg.New[float64](2, 0)}, "okra: the rows have 0 features; 1 to 4194304 are allowed"},
		{Input{Rows: good, Labels: []string{"a"}}, "okra: 1 labels were given for 2 rows"},
		{Input{Rows: good, Labels: []string{"a", ""}}, `okra: row 1: label "" has a wrong length; use 1 to 64 bytes`},
		{Input{Rows: good, Labels: []string{strings.Repeat("a", 65), "b"}}, `okra: row 0: label "` + strings.Repeat("a", 65) + `" has a wrong length; use 1 to 64 bytes`},
		{Input{Rows: good, Test: []bool{true}}, "okra: 1 test flags were given for 2 rows"},
		{Input{Rows: with(math.NaN())}, "okra: row 1, feature 2: NaN is not a number of magnitude up to 1e+15; fill in missing values and scale the features first"},
		{Input{Rows: with(math.Inf(1))}, "okra: row 1, feature 2: +Inf is not a number of magnitude up to 1e+15; fill in missing values and scale the features first"},
		{Input{Rows: with(-2e15)}, "okra: row 1, feature 2: -2e+15 is not a number of magnitude up to 1e+15; fill in missing values and scale the features first"},
	} {
		p := mustParams(t, Spec{})
		_, err := NewParty(protocol.Setup{Session: newSession(t, p, hospitals...), Self: "north"}, p, c.in)
		if err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// The largest values that are let in survive encoding and multiplication on
// either wire.
func TestLargestValues(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	x := linalg.New[float64](4, 700)
	for i := range x.Data {
		x.Data[i] = MaxValue * float64(1-2*(i%2))
	}
	for _, spec := range []Spec{{}, {Wire: Float64}, {Encoder: Haar}, {Encoder: HBH}, {Mode: Paper}, {Encoder: Flake}} {
		w := train(t, spec, Input{Rows: x.Panel(0, 2)}, Input{Rows: x.Panel(2, 4)})
		for _, v := range w.server().Gram().Data {
			if want := 700 * MaxValue * MaxValue; math.Abs(v-want) > 1e-6*want {
				t.Errorf("%v: %v, want %v", spec, v, want)
			}
		}
	}
}
