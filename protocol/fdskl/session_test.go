package fdskl

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// columns is a worker's part of rows with its part of directions.
type columns struct {
	ring       ring
	rows       [][]float64 // N x d
	directions [][]float64 // M x d
}

func (c columns) Block(dst []byte, rows []int, first, count int) {
	for i, r := range rows {
		for j := range count {
			o := 0.0
			for k, v := range c.rows[r] {
				o += v * c.directions[first+j][k]
			}
			c.ring.put(dst, i*count+j, encodePhase(c.ring, o))
		}
	}
}

// encodePhase rounds an angle to the ring's steps of a turn.
func encodePhase(r ring, angle float64) uint32 {
	turn := angle / (2 * math.Pi)
	return uint32(uint64(math.Floor((turn-math.Floor(turn))*math.Exp2(float64(r)) + 0.5)))
}

// federation is a session with what its workers hold.
type federation struct {
	session *protocol.Session
	params  Params
	names   []string // the active worker first
	inputs  []Input
	key     ed25519.PrivateKey
	chunk   int
}

// newFederation gives each worker three random columns and directions of its own.
func newFederation(t testing.TB, s Spec, workers int) *federation {
	t.Helper()
	return joined(t, s, randomInputs(s, workers))
}

func randomInputs(s Spec, workers int) []Source {
	var list []Source
	for w := range workers {
		rng := rand.New(rand.NewPCG(uint64(w), 1))
		list = append(list, columns{ring(s.Bits), normal(rng, s.Rows, 3), normal(rng, s.Directions, 3)})
	}
	return list
}

func normal(rng *rand.Rand, n, d int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		for range d {
			m[i] = append(m[i], rng.NormFloat64())
		}
	}
	return m
}

// joined is a federation of workers with the given sources. The active worker is
// not the first member, so that nothing may rely on it.
func joined(t testing.TB, s Spec, sources []Source) *federation {
	t.Helper()
	f := &federation{chunk: protocol.MaxChunkBytes, key: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))}
	s.Alignment = sha256.Sum256([]byte("alignment"))
	var err error
	if f.params, err = NewParams(s); err != nil {
		t.Fatal(err)
	}
	f.names = []string{"bank"}
	for w := range sources {
		if w > 0 {
			f.names = append(f.names, fmt.Sprintf("shop%d", w))
		}
		f.inputs = append(f.inputs, Input{sources[w], sha256.Sum256(fmt.Append(nil, "rows of ", w)), s.Rows, s.Alignment})
	}
	var members []protocol.Member
	for _, name := range f.names[1:] {
		members = append(members, protocol.Member{Name: name, Role: protocol.RoleParty})
	}
	members = append(members[:1:1], append([]protocol.Member{{Name: "bank", Role: protocol.RoleLeader}}, members[1:]...)...)
	f.session, err = protocol.NewSession(protocol.Descriptor{Protocol: Name, Version: Version, Params: f.params.Encode(), Members: members, Purpose: "train"})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *federation) setup(w int) protocol.Setup {
	return protocol.Setup{Session: f.session, Self: f.names[w], Seed: sha256.Sum256([]byte("seed of " + f.names[w]))}
}

// identity is the active worker's; the others cannot sign.
func (f *federation) identity(w int) Identity {
	id := Identity{Keys: []ed25519.PublicKey{f.key.Public().(ed25519.PublicKey)}}
	if w == 0 {
		id.Sign = func(m []byte) []byte { return ed25519.Sign(f.key, m) }
	}
	return id
}

func (f *federation) active(s Schedule) (*Active, error) {
	return newActive(f.setup(0), f.inputs[0], f.identity(0), s, f.chunk)
}

func (f *federation) passive(w int) (*Passive, error) {
	return newPassive(f.setup(w), f.inputs[w], f.identity(w), f.chunk)
}

// nodes are all workers; the active one requests what a fresh schedule decides.
func (f *federation) nodes(schedule func() Schedule) []sim.Node {
	timers := map[protocol.Timer]int64{TimerPhases: 1 << 22, TimerRequest: 1 << 23}
	nodes := []sim.Node{{Name: f.names[0], InputHash: f.inputs[0].Hash, Timers: timers, New: func() (protocol.Machine, error) { return f.active(schedule()) }}}
	for w := 1; w < len(f.names); w++ {
		nodes = append(nodes, sim.Node{Name: f.names[w], InputHash: f.inputs[w].Hash, Timers: timers, New: func() (protocol.Machine, error) { return f.passive(w) }})
	}
	return nodes
}

func (f *federation) table() Schedule { return NewTable(f.params) }

// run runs the session undisturbed unless intercepted and returns the active
// worker's schedule.
func (f *federation) run(t testing.TB, schedule func() Schedule, intercept func(protocol.Message) []protocol.Message) (Schedule, *sim.Result) {
	t.Helper()
	r, err := sim.Run(sim.Config{Session: f.session, Nodes: f.nodes(schedule), Intercept: intercept})
	if err != nil {
		t.Fatal(err)
	}
	return r.Outcome("bank").Machine.(*Active).schedule, r
}

// sum returns the sum of all workers' words for a block.
func (f *federation) sum(rows []int, d Span) []byte {
	r := f.params.ring()
	total := make([]byte, len(rows)*d.Count*r.bytes())
	for _, in := range f.inputs {
		words := make([]byte, len(total))
		in.Source.Block(words, rows, d.First, d.Count)
		for i := range len(rows) * d.Count {
			r.put(total, i, r.word(total, i)+r.word(words, i))
		}
	}
	return total
}

// addPhases adds what mode paper adds to each direction.
func (f *federation) addPhases(words []byte, d Span) {
	r := f.params.ring()
	for w := 1; w < len(f.names); w++ {
		row := directionOffsets(f.setup(w), w, len(f.names), d, r)
		for i := 0; i < len(words)/r.bytes(); i++ {
			r.put(words, i, r.word(words, i)+r.word(row, i%d.Count))
		}
	}
}

// expected is the table of the session.
func (f *federation) expected() []byte {
	s := f.params.Spec()
	all := Span{0, s.Directions}
	words := f.sum(numbers(0, s.Rows), all)
	if s.Mode == Paper {
		f.addPhases(words, all)
	}
	return words
}

// The active worker gets the sum of all workers' words, in every mode, topology,
// size of words and number of workers, however they are cut.
func TestTable(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, mode := range []Mode{Hardened, Paper} {
		for _, topology := range []Topology{Binary, Star, Chain} {
			for _, q := range []int{2, 3, 4, 7} {
				for _, bits := range []int{8, 16, 32} {
					f := newFederation(t, Spec{Mode: mode, Topology: topology, Bits: bits, Rows: 53, Directions: 5}, q)
					f.chunk = 5 * bits / 8 * 3 // three rows
					s, r := f.run(t, f.table, nil)
					if err := r.Err(); err != nil || len(r.Refusals) > 0 {
						t.Fatalf("%s, %s, %d workers, %d bits: %v, refusals %v", mode, topology, q, bits, err, r.Refusals)
					}
					if !bytes.Equal(s.(*Table).Words(), f.expected()) {
						t.Errorf("%s, %s, %d workers, %d bits: the table is not the sum of all words", mode, topology, q, bits)
					}
				}
			}
		}
	}
}
