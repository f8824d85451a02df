package secagg

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// cohort is a session with its clients' vectors.
type cohort struct {
	session *protocol.Session
	params  Params
	names   []string
	vectors []inMemory
	keys    []ed25519.PrivateKey
	masker  func(member int) Masker // of the clients and, as -1, of the server; nil: AESCTR
}

func newCohort(t testing.TB, s Spec, n int) *cohort {
	t.Helper()
	p, err := NewParams(s, n)
	if err != nil {
		t.Fatal(err)
	}
	c := &cohort{params: p}
	members := []protocol.Member{{Name: "server", Role: protocol.RoleServer}}
	for i := range n {
		c.names = append(c.names, fmt.Sprintf("c%03d", i))
		members = append(members, protocol.Member{Name: c.names[i], Role: protocol.RoleParty})
		seed := sha256.Sum256(fmt.Append(nil, "identity ", i))
		c.keys = append(c.keys, ed25519.NewKeyFromSeed(seed[:]))
		c.vectors = append(c.vectors, randomVector(uint64(i), p.Layout().Groups))
	}
	c.session, err = protocol.NewSession(protocol.Descriptor{Protocol: Name, Version: Version, Params: p.Encode(), Members: members, Purpose: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// again is another session among the same clients with the same vectors and,
// which no driver would do, the same seeds.
func (c *cohort) again(t testing.TB, nonce byte) *cohort {
	t.Helper()
	d := c.session.Descriptor
	d.Nonce = [32]byte{nonce}
	other := *c
	var err error
	if other.session, err = protocol.NewSession(d); err != nil {
		t.Fatal(err)
	}
	return &other
}

func randomVector(seed uint64, groups []Group) inMemory {
	rng := rand.New(rand.NewPCG(seed, 1))
	v := make(inMemory, len(groups))
	for g, group := range groups {
		v[g] = make([]int64, group.Entries)
		for i := range v[g] {
			v[g][i] = rng.Int64N(group.Bound + 1)
			if group.Signed && rng.IntN(2) == 1 {
				v[g][i] = -v[g][i]
			}
		}
	}
	return v
}

func (c *cohort) setup(name string) protocol.Setup {
	return protocol.Setup{Session: c.session, Self: name, Seed: sha256.Sum256([]byte("seed of " + name))}
}

func (c *cohort) public() []ed25519.PublicKey {
	var list []ed25519.PublicKey
	for _, k := range c.keys {
		list = append(list, k.Public().(ed25519.PublicKey))
	}
	return list
}

func (c *cohort) client(i int) (*Client, error) {
	sign := func(m []byte) []byte { return ed25519.Sign(c.keys[i], m) }
	return NewClient(c.setup(c.names[i]), c.paramsOf(i), c.vectors[i], Identity{sign, c.public()})
}

// paramsOf are the parameters with a member's own machinery.
func (c *cohort) paramsOf(member int) Params {
	if c.masker == nil {
		return c.params
	}
	return c.params.WithMasker(c.masker(member))
}

// everybody is a set of all n clients.
func everybody(n int) set {
	s := newSet(n)
	for i := range n {
		s.add(i)
	}
	return s
}

// begin starts a machine that a test then puts where it wants it.
func begin(t testing.TB, m protocol.Machine) {
	t.Helper()
	var start protocol.Start
	if c, ok := m.(*Client); ok {
		start.InputHash = c.InputHash()
	}
	if _, err := m.Step(start); err != nil {
		t.Fatal(err)
	}
}

// patience is the number of ticks that the tests' timers last: far more than any
// delivery takes.
const patience = 1 << 20

func timers() map[protocol.Timer]int64 {
	all := make(map[protocol.Timer]int64)
	for i, timer := range []protocol.Timer{TimerAdvertise, TimerShare, TimerMasked, TimerConsistency, TimerUnmask} {
		all[timer] = patience + int64(i)
	}
	all[TimerServer] = 20 * patience
	return all
}

func (c *cohort) nodes(t testing.TB) []sim.Node {
	t.Helper()
	nodes := []sim.Node{{Name: "server", Timers: timers(), New: func() (protocol.Machine, error) {
		return NewServer(c.setup("server"), c.paramsOf(-1), c.public(), Limits{Uploads: 3})
	}}}
	for i, name := range c.names {
		hash, err := Hash(c.params, c.vectors[i])
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, sim.Node{Name: name, InputHash: hash, Timers: timers(), New: func() (protocol.Machine, error) { return c.client(i) }})
	}
	return nodes
}

func (c *cohort) run(t testing.TB, s sim.Schedule, intercept func(protocol.Message) []protocol.Message) *sim.Result {
	t.Helper()
	r, err := sim.Run(sim.Config{Session: c.session, Nodes: c.nodes(t), Schedule: s, Intercept: intercept})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// plain adds the vectors of the named clients in clear.
func (c *cohort) plain(names []string) [][]int64 {
	in := make(map[string]bool)
	for _, name := range names {
		in[name] = true
	}
	sums := make([][]int64, len(c.params.Layout().Groups))
	for g, group := range c.params.Layout().Groups {
		sums[g] = make([]int64, group.Entries)
		for i, v := range c.vectors {
			if in[c.names[i]] {
				for e, x := range v[g] {
					sums[g][e] += x
				}
			}
		}
	}
	return sums
}

// checkSum demands that the server has the sum of its survivors' vectors.
func (c *cohort) checkSum(t testing.TB, r *sim.Result, survivors int) {
	t.Helper()
	o := r.Outcome("server")
	if o.End == nil || o.End.Err != nil {
		t.Fatalf("the server ended with %+v", o.End)
	}
	s := o.Machine.(*Server)
	if got := s.Survivors(); len(got) != survivors {
		t.Errorf("%d clients are in the sum, want %d", len(got), survivors)
	}
	if d := cmp.Diff(c.plain(s.Survivors()), s.Sums()); d != "" {
		t.Errorf("the sum is not the sum: %s", d)
	}
	for _, name := range c.names {
		o := r.Outcome(name)
		if o.End == nil || o.End.Err != nil {
			continue
		}
		if d := cmp.Diff(s.Survivors(), o.Machine.(*Client).Survivors()); d != "" {
			t.Errorf("%s believes that others are in the sum: %s", name, d)
		}
	}
}

func spec(a Adversary) Spec {
	return Spec{Adversary: a, Corrupted: .05, Dropped: .1, Minimum: 2, Epoch: "2026", Groups: []Group{{Entries: 40, Bound: 7}, {Entries: 9, Bound: 1 << 40, Signed: true}}}
}

func TestSum(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, a := range []Adversary{SemiHonest, Active} {
		for _, n := range []int{3, 12, 100} {
			t.Run(fmt.Sprintf("%s/%d", a, n), func(t *testing.T) {
				c := newCohort(t, spec(a), n)
				c.checkSum(t, c.run(t, sim.Schedule{}, nil), n)
			})
		}
	}
}
