package ppsvmv

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/gram"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

const hub = "hub"

// federation is a session with the parts of its sites.
type federation struct {
	session *protocol.Session
	params  gram.Params
	names   []string // the leader first
	tables  []linalg.Matrix[float64]
	parts   []Part
	most    int // entries of a message
}

// newFederation has sites with random columns of some rows.
func newFederation(t testing.TB, sites, training, heldOut, most int) *federation {
	t.Helper()
	f := &federation{most: most}
	var holders []gram.Holder
	for i := range sites {
		f.names = append(f.names, fmt.Sprintf("site%d", i+1))
		holders = append(holders, gram.Holder{Columns: 2 + i})
	}
	var err error
	if f.params, err = gram.NewParams(holders, training, heldOut); err != nil {
		t.Fatal(err)
	}
	for i, h := range holders {
		rng := rand.New(rand.NewPCG(uint64(i), 9))
		m := linalg.New[float64](training+heldOut, h.Columns)
		for k := range m.Data {
			m.Data[k] = 2*rng.Float64() - 1
		}
		part, err := f.params.Part(m, i)
		if err != nil {
			t.Fatal(err)
		}
		f.tables, f.parts = append(f.tables, m), append(f.parts, part)
	}
	f.session = newSession(t, f.params.Groups(), f.names)
	return f
}

func newSession(t testing.TB, groups []int, names []string) *protocol.Session {
	t.Helper()
	p, err := NewParams(groups, sha256.Sum256([]byte("epoch")))
	if err != nil {
		t.Fatal(err)
	}
	members := append(protocol.Members(protocol.RoleServer, hub), protocol.Members(protocol.RoleParty, names...)...)
	members[1].Role = protocol.RoleLeader
	s, err := protocol.NewSession(protocol.Descriptor{Protocol: Name, Version: Version, Params: p.Encode(), Purpose: "train", Members: members})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// machine is a member's machine, with a seed that follows from its name.
func (f *federation) machine(name string) (protocol.Machine, [sha256.Size]byte, error) {
	setup := protocol.Setup{Session: f.session, Self: name, Seed: sha256.Sum256([]byte(name))}
	switch at := slices.Index(f.names, name); at {
	case -1:
		m, err := newServer(setup, f.most)
		return m, [sha256.Size]byte{}, err
	case 0:
		m, err := newLeader(setup, f.parts[at], f.most)
		return m, f.parts[at].Hash(), err
	default:
		m, err := newSite(setup, f.parts[at], f.most)
		return m, f.parts[at].Hash(), err
	}
}

func (f *federation) nodes(t testing.TB) []sim.Node {
	t.Helper()
	var list []sim.Node
	for _, name := range append([]string{hub}, f.names...) {
		_, hash, err := f.machine(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, sim.Node{Name: name, InputHash: hash, Timers: map[protocol.Timer]int64{TimerTile: 1000}, New: func() (protocol.Machine, error) {
			m, _, err := f.machine(name)
			return m, err
		}})
	}
	return list
}

// run runs the session and returns the server's sums and all messages.
func (f *federation) run(t testing.TB) ([][]int64, []protocol.Message) {
	t.Helper()
	var all []protocol.Message
	r, err := sim.Run(sim.Config{Session: f.session, Nodes: f.nodes(t), Intercept: func(m protocol.Message) []protocol.Message {
		all = append(all, m)
		return []protocol.Message{m}
	}})
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.Outcome(hub).Machine.(*Server).Sums(), all
}

// alone adds the sites' matrices up without a ring.
func (f *federation) alone(parts ...Part) [][]int64 {
	var sums [][]int64
	for g, entries := range f.params.Groups() {
		sum := make([]int64, entries)
		for _, part := range parts {
			for i, v := range ownEntries(part, tile{g, 0, entries}) {
				sum[i] += v
			}
		}
		sums = append(sums, sum)
	}
	return sums
}

func TestProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	protocoltest.Run(t, protocoltest.Protocol{Name: Name, New: func(t testing.TB) protocoltest.Case {
		f := newFederation(t, 4, 9, 3, 10)
		want := f.alone(f.parts...)
		return protocoltest.Case{
			Session: f.session, Nodes: f.nodes(t), Runs: 100,
			// A window of tiles in the ring, and as much more on its way to a slow server.
			InFlight: int64((2*window + protocoltest.Window) * f.most * wordBytes),
			Trusts:   func(protocol.Header) bool { return true }, // nobody can verify what a site adds
			Check: func(_ string, m protocol.Machine) error {
				if s, ok := m.(*Server); ok && !slices.EqualFunc(s.Sums(), want, slices.Equal) {
					return fmt.Errorf("the sums are %v, want %v", s.Sums(), want)
				}
				return nil
			},
		}
	}})
}

// The sum is the Gram matrix of all columns in one place, computed by float64 alone.
func TestMatrixIsThePooledOne(t *testing.T) {
	for _, sites := range []int{2, 3, 5} {
		f := newFederation(t, sites, 70, 20, 1000)
		sums, _ := f.run(t)
		dot, err := f.params.Matrix(sums)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i := range 90 {
			for j := range 90 {
				if i != j && i >= 70 && j >= 70 {
					continue
				}
				want := 0.0
				for _, m := range f.tables {
					for c, x := range m.Row(i) {
						want += x * m.Row(j)[c]
					}
				}
				worst = math.Max(worst, math.Abs(dot.Row(i)[j]-want))
			}
		}
		// Each of at most 20 columns is rounded to a multiple of 2^-24.
		if limit := 20 * math.Ldexp(1, -24); worst > limit {
			t.Errorf("%d sites: an entry is off by %g, more than %g", sites, worst, limit)
		}
		if !slices.EqualFunc(sums, f.alone(f.parts...), slices.Equal) {
			t.Errorf("%d sites: the sums differ from the sites' matrices, added up", sites)
		}
	}
}

// The published attack: a site's output minus its input is its matrix, so its two neighbours
// together read it exactly.
func TestAttackNeighboursReadTheSiteBetween(t *testing.T) {
	f := newFederation(t, 4, 30, 5, 100)
	_, all := f.run(t)
	p, err := ValidateSession(f.session)
	if err != nil {
		t.Fatal(err)
	}
	const victim = 2 // site3: site2 sends to it, and it sends to site4
	in, out := words(all, f.names[victim-1], f.names[victim]), words(all, f.names[victim], f.names[victim+1])
	want := f.alone(f.parts[victim])
	for chunk, at := range p.tiles(f.most) {
		for i := range at.entries {
			read := int64(out[chunk][i] - in[chunk][i])
			if read != want[at.group][at.first+i] {
				t.Fatalf("entry %d of group %d is read as %d, it is %d", at.first+i, at.group, read, want[at.group][at.first+i])
			}
		}
	}
}

// The server has the sum, the last site has sent the leader R plus the sum, and the second site has received
// R plus the leader's matrix: these three read the leader's matrix, however many sites there are.
func TestAttackServerAndNeighboursReadTheLeader(t *testing.T) {
	f := newFederation(t, 5, 30, 5, 100)
	sums, all := f.run(t)
	p, err := ValidateSession(f.session)
	if err != nil {
		t.Fatal(err)
	}
	first, last := words(all, f.names[0], f.names[1]), words(all, f.names[4], f.names[0])
	want := f.alone(f.parts[0])
	for chunk, at := range p.tiles(f.most) {
		for i := range at.entries {
			if read := sums[at.group][at.first+i] - int64(last[chunk][i]-first[chunk][i]); read != want[at.group][at.first+i] {
				t.Fatalf("entry %d of group %d is read as %d, it is %d", at.first+i, at.group, read, want[at.group][at.first+i])
			}
		}
	}
}

// A site alone sees words of which half the bits are set, whatever the matrices are. Tiles go to the next
// site only, and the sum from the leader to the server only.
func TestTilesLookLikeNoise(t *testing.T) {
	f := newFederation(t, 3, 60, 0, 1000)
	_, all := f.run(t)
	for _, m := range all {
		at := slices.Index(f.names, m.Sender)
		if m.Round == roundTile && m.Receiver != f.names[(at+1)%3] || m.Round == roundSum && (at != 0 || m.Receiver != hub) {
			t.Errorf("%s sends %s a %s", m.Sender, m.Receiver, m.Kind)
		}
	}
	for at := range f.names {
		set, total := 0, 0
		for _, tile := range words(all, f.names[at], f.names[(at+1)%3]) {
			for _, word := range tile {
				for ; word != 0; word &= word - 1 {
					set++
				}
				total += 64
			}
		}
		// Six standard deviations of a fair coin.
		if d := float64(2*set - total); total == 0 || d*d > 36*float64(total) {
			t.Errorf("from %s: %d of %d bits are set", f.names[at], set, total)
		}
	}
}

// The leader's mask follows from its own secret: with another seed it sends the second site other
// words, although the matrices, the session and the sums are the same. No two tiles have one mask.
func TestMaskIsTheLeadersSecret(t *testing.T) {
	f := newFederation(t, 3, 30, 5, 100)
	masks := make(map[string]bool)
	tiles := 0
	for seed := range byte(3) {
		setup := protocol.Setup{Session: f.session, Self: f.names[0], Seed: [32]byte{seed}}
		l, err := newLeader(setup, f.parts[0], f.most)
		if err != nil {
			t.Fatal(err)
		}
		for chunk := range l.tiles {
			masks[string(l.mask(chunk)[:wordBytes])] = true
			tiles++
		}
	}
	if len(masks) != tiles || tiles < 6 {
		t.Errorf("%d masks for %d tiles of three leaders", len(masks), tiles)
	}
}

// words returns the tiles from one site to another, by number.
func words(all []protocol.Message, from, to string) map[int][]uint64 {
	tiles := make(map[int][]uint64)
	for _, m := range all {
		if m.Sender != from || m.Receiver != to || m.Round != roundTile {
			continue
		}
		for b := m.Body; len(b) > 0; b = b[wordBytes:] {
			tiles[int(m.Chunk)] = append(tiles[int(m.Chunk)], binary.LittleEndian.Uint64(b))
		}
	}
	return tiles
}

func TestTranscript(t *testing.T) {
	f := newFederation(t, 3, 9, 3, 20)
	r, err := sim.Run(sim.Config{Session: f.session, Nodes: f.nodes(t)})
	if err != nil {
		t.Fatal(err)
	}
	protocoltest.Golden(t, "ring.txt", r.Transcript())
}
