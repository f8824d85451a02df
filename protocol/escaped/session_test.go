package escaped

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

var hospitals = []protocol.Member{
	{Name: "hub", Role: protocol.RoleServer}, {Name: "north", Role: protocol.RoleLeader},
	{Name: "south", Role: protocol.RoleParty}, {Name: "east", Role: protocol.RoleParty}, {Name: "west", Role: protocol.RoleParty},
}

// timers end a party's wait for a partner first: only that party knows which partner is late.
var timers = map[protocol.Timer]int64{TimerAnnounce: 1000, TimerPartner: 1000, TimerProducts: 2000, TimerGrant: 3000, TimerReceipt: 3000}

func randomRows(label string, n, f int) linalg.Matrix[float64] {
	s := prg.New([32]byte{1}, label)
	m := linalg.New[float64](n, f)
	for i := range m.Data {
		m.Data[i] = s.Float64()
	}
	return m
}

// share cuts x into inputs of the given numbers of rows, with labels and every fourth row held out.
func share(x linalg.Matrix[float64], sizes ...int) (inputs []Input) {
	at := 0
	for _, n := range sizes {
		in := Input{Rows: x.Panel(at, at+n)}
		for i := range n {
			in.Labels = append(in.Labels, []string{"benign", "malignant"}[(at+i)%3%2])
			in.Test = append(in.Test, (at+i)%4 == 0)
		}
		inputs, at = append(inputs, in), at+n
	}
	return inputs
}

// session returns a session of inputs, one for each hospital but the hub.
func session(t testing.TB, inputs ...Input) sim.Config {
	t.Helper()
	s, err := protocol.NewSession(protocol.Descriptor{Protocol: Name, Version: Version, Members: hospitals[:1+len(inputs)], Purpose: "train"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := sim.Config{Session: s, Nodes: []sim.Node{{Name: "hub", Timers: timers, New: func() (protocol.Machine, error) {
		return NewServer(protocol.Setup{Session: s, Self: "hub"}, Limits{})
	}}}}
	for i, in := range inputs {
		setup := protocol.Setup{Session: s, Self: hospitals[1+i].Name, Seed: [32]byte{byte(i)}}
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: setup.Self, InputHash: in.Hash(), Timers: timers,
			New: func() (protocol.Machine, error) { return NewParty(setup, in) }})
	}
	return cfg
}

func mustRun(t testing.TB, cfg sim.Config) *sim.Result {
	t.Helper()
	r, err := sim.Run(cfg)
	if err == nil {
		err = r.Err()
	}
	if err != nil || len(r.Refusals) > 0 {
		t.Fatalf("%v, refusals %v", err, r.Refusals)
	}
	return r
}

// naiveGram is the dumb twin: one plain sum for each entry.
func naiveGram(x linalg.Matrix[float64]) linalg.Matrix[float64] {
	g := linalg.New[float64](x.Rows, x.Rows)
	for i := range x.Rows {
		for j := range x.Rows {
			for c, v := range x.Row(i) {
				g.Row(i)[j] += v * x.Row(j)[c]
			}
		}
	}
	return g
}

func TestTheGramMatrixIsTheNaiveOne(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		f     int
		sizes []int
	}{
		{1, []int{1, 1}}, {5, []int{4, 2, 3}}, {64, []int{40, 1, 25, 7}}, {1000, []int{70, 80, 1}}, // several chunks
		{600_000, []int{1, 1}},   // several steps for a sheet
		{2, []int{400, 300, 20}}, // several chunks of a product
	} {
		t.Run(fmt.Sprint(c.f, c.sizes), func(t *testing.T) {
			total := 0
			for _, n := range c.sizes {
				total += n
			}
			x := randomRows("twin", total, c.f)
			inputs := share(x, c.sizes...)
			r := mustRun(t, session(t, inputs...))
			s, want := r.Outcome("hub").Machine.(*Server), naiveGram(x)
			for i, v := range s.Gram().Data {
				if math.Abs(v-want.Data[i]) > 1e-9*max(1, want.Data[i]) {
					t.Fatalf("entry %d is %v, want %v", i, v, want.Data[i])
				}
			}
			var labels []string
			var test []bool
			for _, in := range inputs {
				labels, test = append(labels, in.Labels...), append(test, in.Test...)
			}
			if !slices.Equal(s.Labels(), labels) || !slices.Equal(s.Test(), test) {
				t.Error("other labels or held-out rows")
			}
			if got := r.Outcome("north").Machine.(*Party).TotalRows(); got != total {
				t.Errorf("north learns of %d rows, want %d", got, total)
			}
		})
	}
}

// Everybody meets everybody once, and both meet in the same round.
func TestEverybodyMeetsInACircle(t *testing.T) {
	for m := 2; m <= 11; m++ {
		n := m + m%2
		for i := range m {
			seen := partnersOf(m, i)
			slices.Sort(seen)
			if want := slices.DeleteFunc(linalg.Range(0, m), func(j int) bool { return j == i }); !slices.Equal(seen, want) {
				t.Errorf("%d parties: %d meets %v", m, i, seen)
			}
			for r := range n - 1 {
				if j := opponent(n, r, i); opponent(n, r, j) != i {
					t.Errorf("%d parties, round %d: %d meets %d, who does not", m, r, i, j)
				}
			}
		}
	}
}

func TestWithoutLabels(t *testing.T) {
	in := share(randomRows("bare", 5, 3), 3, 2)
	in[0].Labels, in[1].Labels, in[1].Test = nil, nil, nil
	if s := mustRun(t, session(t, in...)).Outcome("hub").Machine.(*Server); s.Labels() != nil || slices.Contains(s.Test()[3:], true) {
		t.Errorf("labels %v, held out %v", s.Labels(), s.Test())
	}
	in[0].Labels = []string{"a", "b", "c"}
	r, err := sim.Run(session(t, in...))
	if err != nil {
		t.Fatal(err)
	}
	if end := r.Outcome("hub").End; end == nil || !errors.Is(end.Err, protocol.ErrInput) || end.Err.Error() != "escaped: one of south and north has labels and the other has none; all or none must have labels" {
		t.Errorf("one has labels: %+v", end)
	}
}

func TestTooManyRows(t *testing.T) {
	cfg := session(t, share(randomRows("many", 5, 3), 3, 2)...)
	cfg.Nodes[0].New = func() (protocol.Machine, error) {
		return NewServer(protocol.Setup{Session: cfg.Session, Self: "hub"}, Limits{Rows: 4})
	}
	r, err := sim.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var limit *LimitError
	if end := r.Outcome("hub").End; end == nil || !errors.As(end.Err, &limit) || end.Err.Error() != "escaped: the parties announce 5 rows; this server allows at most 4; use fewer rows" {
		t.Errorf("ends with %+v", end)
	}
}

func TestBadInputs(t *testing.T) {
	good := randomRows("good", 2, 3)
	with := func(v float64) linalg.Matrix[float64] {
		m := randomRows("good", 2, 3)
		m.Row(1)[2] = v
		return m
	}
	cfg := session(t, Input{Rows: good}, Input{Rows: good})
	for _, c := range []struct {
		in   Input
		want string
	}{
		{Input{}, "0 rows of 0 features"},
		{Input{Rows: linalg.New[float64](2, 0)}, "2 rows of 0 features"},
		{Input{Rows: linalg.Matrix[float64]{Rows: 1 << 10, Cols: 1 << 18}}, "the party has 1024 rows of 262144 features; 1 to 1048576 rows and at most 134217728 values are allowed; use protocol okra"},
		{Input{Rows: good, Labels: []string{"a"}}, "1 labels were given for 2 rows"},
		{Input{Rows: good, Labels: []string{"a", ""}}, `row 1: label ""`},
		{Input{Rows: good, Test: []bool{true}}, "1 test flags were given for 2 rows"},
		{Input{Rows: with(math.NaN())}, "row 1, feature 2: NaN"},
		{Input{Rows: with(-2e6)}, "row 1, feature 2: -2e+06"},
	} {
		_, err := NewParty(protocol.Setup{Session: cfg.Session, Self: "north"}, c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
