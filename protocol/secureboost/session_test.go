package secureboost

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/mercer-fl/mercer/learn/boost"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// toyKey is far too short to protect anything.
const toyKey = 256

// federation is a session with what its parties hold. The guest is not the first member.
type federation struct {
	session *protocol.Session
	params  Params
	names   []string // the guest first
	inputs  []Input
	columns boost.Columns // of all parties
	y       []float64     // of all rows
	depth   int
	rounds  int
}

// newFederation shares random columns out, the widths to the parties in turn.
func newFederation(t testing.TB, s Spec, widths ...int) *federation {
	t.Helper()
	width := 0
	for _, w := range widths {
		width += w
	}
	rng := rand.New(rand.NewPCG(uint64(s.Rows), uint64(width)))
	x, y := linalg.New[float64](s.Rows, width), make([]float64, s.Rows)
	for i := range s.Rows {
		sum := rng.NormFloat64() / 2
		for f := range width {
			x.Row(i)[f] = float64(rng.IntN(2 + 3*f))
			sum += x.Row(i)[f] / float64(1+3*f)
		}
		if sum > float64(width)/2 {
			y[i] = 1
		}
	}
	return shared(t, s, boost.Bin(x, s.Training, 8), y, widths...)
}

func shared(t testing.TB, s Spec, columns boost.Columns, y []float64, widths ...int) *federation {
	t.Helper()
	s.Alignment = sha256.Sum256([]byte("alignment"))
	if s.Encryption == Paillier {
		s.InsecureKeyBits = toyKey
	}
	f := &federation{columns: columns, y: y, rounds: s.Rounds, depth: s.Depth}
	var err error
	if f.params, err = NewParams(s); err != nil {
		t.Fatal(err)
	}
	var members []protocol.Member
	first := 0
	for p, w := range widths {
		name, role := fmt.Sprintf("shop%d", p), protocol.RoleParty
		if p == 0 {
			name, role = "bank", protocol.RoleLeader
		}
		f.names, members = append(f.names, name), append(members, protocol.Member{Name: name, Role: role})
		in := Input{Hash: sha256.Sum256([]byte(name)), Alignment: s.Alignment, Codes: f.columns.Codes[first : first+w]}
		for c := range w {
			in.Bins = append(in.Bins, f.columns.Bins(first+c))
		}
		f.inputs = append(f.inputs, in)
		first += w
	}
	members[0], members[1] = members[1], members[0]
	f.session, err = protocol.NewSession(protocol.Descriptor{Protocol: Name, Version: Version, Params: f.params.Encode(), Members: members, Purpose: "train"})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *federation) booster() (*boost.Booster, error) {
	s := f.params.Spec()
	return boost.New(boost.Params{Rounds: f.rounds, Depth: f.depth, Rate: 0.3, Lambda: 1}, f.y[:s.Training], s.Rows)
}

func (f *federation) setup(p int) protocol.Setup {
	return protocol.Setup{Session: f.session, Self: f.names[p], Seed: sha256.Sum256([]byte("seed of " + f.names[p]))}
}

func (f *federation) machine(p int) (protocol.Machine, error) {
	if p > 0 {
		return NewHost(f.setup(p), f.inputs[p])
	}
	b, err := f.booster()
	if err != nil {
		return nil, err
	}
	return NewGuest(f.setup(0), f.inputs[0], b)
}

func (f *federation) nodes() []sim.Node {
	var list []sim.Node
	for p, name := range f.names {
		list = append(list, sim.Node{
			Name: name, InputHash: f.inputs[p].Hash, New: func() (protocol.Machine, error) { return f.machine(p) },
			Timers: map[protocol.Timer]int64{TimerHosts: 1 << 22, TimerGuest: 1 << 23},
		})
	}
	return list
}

// run runs the session and returns the guest's learner and all hosts.
func (f *federation) run(t testing.TB, intercept func(protocol.Message) []protocol.Message) (*sim.Result, *boost.Booster, []*Host) {
	t.Helper()
	r, err := sim.Run(sim.Config{Session: f.session, Nodes: f.nodes(), Intercept: intercept})
	if err != nil {
		t.Fatal(err)
	}
	var hosts []*Host
	for _, name := range f.names[1:] {
		hosts = append(hosts, r.Outcome(name).Machine.(*Host))
	}
	return r, r.Outcome("bank").Machine.(*Guest).learner.(*boost.Booster), hosts
}

// runNodes runs the session with other machines.
func runNodes(t testing.TB, f *federation, nodes []sim.Node) {
	t.Helper()
	r, err := sim.Run(sim.Config{Session: f.session, Nodes: nodes})
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// pooled returns a booster that was trained on all columns in one place.
func (f *federation) pooled(t testing.TB) *boost.Booster {
	t.Helper()
	b, err := f.booster()
	if err != nil {
		t.Fatal(err)
	}
	if err := boost.Fit(b, f.columns, nil); err != nil {
		t.Fatal(err)
	}
	return b
}

// splits are the parts of a model that the columns from first on have.
func splits(m boost.Model, first, width int) map[Split]bool {
	set := make(map[Split]bool)
	for tree, nodes := range m.Trees {
		for place, n := range nodes {
			if column := int(n.Feature) - first; column >= 0 && column < width {
				set[Split{tree, place, column, int(n.Bin)}] = true
			}
		}
	}
	return set
}

func setOf(list []Split) map[Split]bool {
	set := make(map[Split]bool)
	for _, s := range list {
		set[s] = true
	}
	return set
}

// The claim of the paper: nothing is lost. The training on all columns in one place gives
// equal trees and scores, bit for bit, with encryption and without, and each host has its
// own part of every tree.
func TestLossless(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, encryption := range []Encryption{None, Paillier} {
		for _, widths := range [][]int{{2, 3}, {3, 1, 2}, {0, 4}, {2, 0, 3}} {
			for _, s := range []Spec{{Rows: 90, Training: 60, Rounds: 3, Depth: 3}, {Rows: 40, Training: 40, Rounds: 2, Depth: 1}, {Rows: 150, Training: 141, Rounds: 1, Depth: 5}} {
				s.Encryption = encryption
				f := newFederation(t, s, widths...)
				r, got, hosts := f.run(t, nil)
				if err := r.Err(); err != nil || len(r.Refusals) > 0 {
					t.Fatalf("%s, %v: %v, refusals %v", encryption, widths, err, r.Refusals)
				}
				want := f.pooled(t)
				if !reflect.DeepEqual(got.Model(), want.Model()) || !reflect.DeepEqual(got.Scores(), want.Scores()) {
					t.Errorf("%s, %v, %+v: the training in one place gives other trees", encryption, widths, s)
				}
				first, some := widths[0], len(splits(want.Model(), 0, widths[0])) > 0
				for h, host := range hosts {
					parts := splits(want.Model(), first, widths[h+1])
					if !reflect.DeepEqual(setOf(host.Splits()), parts) {
						t.Errorf("%s, %v: host %d has the splits %v, want %v", encryption, widths, h, host.Splits(), parts)
					}
					first, some = first+widths[h+1], some || len(parts) > 0
				}
				if !some {
					t.Errorf("%v, %+v: no node is split, so that the test shows nothing", widths, s)
				}
			}
		}
	}
}
