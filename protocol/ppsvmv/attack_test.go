package ppsvmv

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// changed is the federation with another table of one site.
func (f *federation) changed(t *testing.T, site int) *federation {
	t.Helper()
	other := *f
	other.parts = slices.Clone(f.parts)
	m := linalg.New[float64](f.tables[site].Rows, f.tables[site].Cols)
	for i := range m.Data {
		m.Data[i] = -f.tables[site].Data[i] / 2
	}
	var err error
	if other.parts[site], err = f.params.Part(m, site); err != nil {
		t.Fatal(err)
	}
	return &other
}

// heard digests everything that two sites get, in the order of the headers.
func heard(all []protocol.Message, sites ...string) [sha256.Size]byte {
	all = slices.DeleteFunc(slices.Clone(all), func(m protocol.Message) bool { return !slices.Contains(sites, m.Receiver) })
	slices.SortFunc(all, func(a, b protocol.Message) int { return bytes.Compare(tail(a), tail(b)) })
	h := sha256.New()
	for _, m := range all {
		h.Write(tail(m))
		h.Write(m.Body)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func tail(m protocol.Message) []byte { return m.Header.Encode() }

// The coalition that reads the site between it in the ring gets, where secure aggregation adds
// up the same matrices (protocol gram), the same bytes whatever that site's columns are.
func TestAttackFailsAgainstSecureAggregation(t *testing.T) {
	f := newFederation(t, 4, 30, 5, 100)
	other := f.changed(t, 2)
	_, ring := f.run(t)
	_, changed := other.run(t)
	if heard(ring, "site2", "site4") == heard(changed, "site2", "site4") {
		t.Error("in the ring the neighbours get the same bytes for other columns: the comparison is blind")
	}
	if heard(f.aggregate(t), "site2", "site4") != heard(other.aggregate(t), "site2", "site4") {
		t.Error("in secure aggregation the neighbours' bytes depend on the columns between them")
	}
}

// aggregate adds the matrices up as protocol gram does, and returns all messages.
func (f *federation) aggregate(t *testing.T) []protocol.Message {
	t.Helper()
	spec := secagg.Spec{Adversary: secagg.Active, Corrupted: 0.5, Minimum: len(f.names), Epoch: "epoch"}
	for _, entries := range f.params.Groups() {
		spec.Groups = append(spec.Groups, secagg.Group{Entries: entries, Bound: f.params.Bound(), Signed: true})
	}
	params, err := secagg.NewParams(spec, len(f.names))
	if err != nil {
		t.Fatal(err)
	}
	s, err := protocol.NewSession(protocol.Descriptor{
		Protocol: secagg.Name, Version: secagg.Version, Params: params.Encode(), Purpose: "train",
		Members: append(protocol.Members(protocol.RoleServer, hub), protocol.Members(protocol.RoleParty, f.names...)...),
	})
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := f.clients(s, params)
	if err != nil {
		t.Fatal(err)
	}
	var all []protocol.Message
	r, err := sim.Run(sim.Config{Session: s, Nodes: nodes, Intercept: func(m protocol.Message) []protocol.Message {
		all = append(all, m)
		return []protocol.Message{m}
	}})
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Outcome(hub).Machine.(*secagg.Server).Sums(); !slices.EqualFunc(got, f.alone(f.parts...), slices.Equal) {
		t.Fatal("secure aggregation gives another sum")
	}
	return all
}

// clients are the members of secure aggregation, whose seeds follow from their names.
func (f *federation) clients(s *protocol.Session, params secagg.Params) ([]sim.Node, error) {
	var keys []ed25519.PublicKey
	for _, name := range f.names {
		keys = append(keys, identity(name).Public().(ed25519.PublicKey))
	}
	server, err := secagg.NewServer(protocol.Setup{Session: s, Self: hub, Seed: sha256.Sum256([]byte(hub))}, params, keys, secagg.Limits{})
	if err != nil {
		return nil, err
	}
	nodes := []sim.Node{{Name: hub, New: func() (protocol.Machine, error) { return server, nil }}}
	for i, name := range f.names {
		setup := protocol.Setup{Session: s, Self: name, Seed: sha256.Sum256([]byte(name))}
		vector, ok := f.parts[i].(secagg.Vector)
		if !ok {
			return nil, fmt.Errorf("%s has no vector", name)
		}
		m, err := secagg.NewClient(setup, params, vector, secagg.Identity{Keys: keys, Sign: func(b []byte) []byte { return ed25519.Sign(identity(name), b) }})
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, sim.Node{Name: name, InputHash: m.InputHash(), New: func() (protocol.Machine, error) { return m, nil }})
	}
	return nodes, nil
}

func identity(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("identity of " + name))
	return ed25519.NewKeyFromSeed(seed[:])
}
