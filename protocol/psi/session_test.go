package psi

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// small splits a few ids into several messages.
func small() sizing { return sizing{elements: 3, positions: 2, messages: 2} }

func params(t testing.TB, s Spec) Params {
	t.Helper()
	p, err := NewParams(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// names of parties in tests.
var names = []string{"north", "south", "east", "west", "center"}

// newSession returns a session of the first parties in names, with a comparer called hub if
// they need one.
func newSession(t testing.TB, p Params, parties int) *protocol.Session {
	t.Helper()
	d := protocol.Descriptor{Protocol: Name, Version: Version, Params: p.Encode(), Purpose: "train"}
	if parties > 2 {
		d.Members = append(d.Members, protocol.Member{Name: "hub", Role: protocol.RoleServer})
	}
	for i := range parties {
		d.Members = append(d.Members, protocol.Member{Name: names[i], Role: protocol.RoleParty})
	}
	s, err := protocol.NewSession(d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func setup(s *protocol.Session, name string) protocol.Setup {
	return protocol.Setup{Session: s, Self: name, Seed: sha256.Sum256([]byte("seed of " + name))}
}

// ids returns the ids of words.
func ids(words ...string) [][]byte {
	list := make([][]byte, len(words))
	for i, w := range words {
		list[i] = []byte(w)
	}
	return list
}

// cast returns the nodes of a session in which the i-th party has the i-th set.
func cast(s *protocol.Session, p Params, size sizing, sets ...[][]byte) []sim.Node {
	timers := map[protocol.Timer]int64{TimerNext: 1000}
	var nodes []sim.Node
	if len(sets) > 2 {
		nodes = append(nodes, sim.Node{Name: "hub", Timers: timers, New: func() (protocol.Machine, error) { return newServer(setup(s, "hub"), p, size) }})
	}
	for i, set := range sets {
		nodes = append(nodes, sim.Node{
			Name: names[i], Timers: timers, InputHash: hashIDs(set),
			New: func() (protocol.Machine, error) { return newParty(setup(s, names[i]), p, set, size) },
		})
	}
	return nodes
}

// run runs a session over the sets and returns the parties' machines.
func run(t testing.TB, size sizing, schedule sim.Schedule, sets ...[][]byte) *sim.Result {
	t.Helper()
	p := params(t, Spec{})
	s := newSession(t, p, len(sets))
	r, err := sim.Run(sim.Config{Session: s, Nodes: cast(s, p, size, sets...), Schedule: schedule})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func party(r *sim.Result, i int) *Party { return r.Outcome(names[i]).Machine.(*Party) }

// common returns the intersection of sets, computed without the protocol.
func common(sets ...[][]byte) map[string]bool {
	count := make(map[string]int)
	for _, set := range sets {
		for _, id := range set {
			count[string(id)]++
		}
	}
	all := make(map[string]bool)
	for id, n := range count {
		if n == len(sets) {
			all[id] = true
		}
	}
	return all
}

// aligned returns the fault of orders: all must name the same ids in the same order, and
// those must be the intersection.
func aligned(sets [][][]byte, orders [][]int) error {
	want := common(sets...)
	for i, order := range orders {
		if len(order) != len(want) {
			return fmt.Errorf("%s has %d common rows, want %d", names[i], len(order), len(want))
		}
		seen := make(map[string]bool)
		for k, row := range order {
			id := string(sets[i][row])
			if !want[id] || seen[id] {
				return fmt.Errorf("%s has %q at place %d", names[i], id, k)
			}
			seen[id] = true
			if first := string(sets[0][orders[0][k]]); id != first {
				return fmt.Errorf("at place %d %s has %q and %s %q", k, names[0], first, names[i], id)
			}
		}
	}
	return nil
}

func testSets(parties int) [][][]byte {
	return [][][]byte{
		ids("ada", "bob", "cyd", "dan", "eve", "fay", "gus"),
		ids("eve", "ida", "bob", "gus", "dan"),
		ids("dan", "gus", "hal", "bob", "ada", "eve"),
	}[:parties]
}

func testProperties(t *testing.T, parties, runs int) {
	protocoltest.Run(t, protocoltest.Protocol{Name: fmt.Sprintf("%d parties", parties), New: func(t testing.TB) protocoltest.Case {
		p, sets := params(t, Spec{MaxIDs: 100}), testSets(parties)
		s := newSession(t, p, parties)
		// What an undisturbed run ends with is checked against the plain
		// intersection below; other runs end with the same orders.
		plain, err := sim.Run(sim.Config{Session: s, Nodes: cast(s, p, small(), sets...)})
		if err != nil {
			t.Fatal(err)
		}
		orders := make(map[string][]int)
		for i := range sets {
			orders[names[i]] = party(plain, i).Order()
		}
		return protocoltest.Case{
			Session: s, Nodes: cast(s, p, small(), sets...), InFlight: 8 << 10, Runs: runs,
			// Blinded sets are whatever their senders make them, and so are tokens for the
			// comparer. A peer's answer to the owner is not trusted: the confirmation finds
			// lies.
			Trusts: func(h protocol.Header) bool {
				return h.Kind == kindBlinded || h.Kind == kindTokens && h.Receiver == "hub"
			},
			Check: func(name string, m protocol.Machine) error {
				if p, ok := m.(*Party); ok && !slices.Equal(p.Order(), orders[name]) {
					return fmt.Errorf("%s has the order %v, want %v", name, p.Order(), orders[name])
				}
				return nil
			},
		}
	}})
}

func TestPropertiesOfTwo(t *testing.T) { testProperties(t, 2, 40) }
func TestPropertiesOfThree(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	testProperties(t, 3, 20)
}
