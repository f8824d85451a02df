package transcript_test

import (
	"crypto/ed25519"
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/internal/check/transcript"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// sum is a secure sum of six clinics, one of which vanishes before it sends its vector.
func sum(t *testing.T) transcript.Session {
	t.Helper()
	names := []string{"north", "south", "east", "west", "hill", "lake"}
	params, err := secagg.NewParams(secagg.Spec{Dropped: 0.2, Minimum: 3, Epoch: "2026", Groups: []secagg.Group{{Entries: 100, Bound: 1000}}}, len(names))
	if err != nil {
		t.Fatal(err)
	}
	s, err := protocol.NewSession(protocol.Descriptor{
		Protocol: secagg.Name, Version: secagg.Version, Params: params.Encode(), Purpose: "ages",
		Members: append(protocol.Members(protocol.RoleServer, methodtest.Coordinator), protocol.Members(protocol.RoleParty, names...)...),
	})
	if err != nil {
		t.Fatal(err)
	}
	var keys []ed25519.PublicKey
	for _, name := range names {
		keys = append(keys, methodtest.Identity(name).Public().(ed25519.PublicKey))
	}
	timers := map[protocol.Timer]int64{secagg.TimerServer: 20_000}
	for _, timer := range []protocol.Timer{secagg.TimerAdvertise, secagg.TimerShare, secagg.TimerMasked, secagg.TimerConsistency, secagg.TimerUnmask} {
		timers[timer] = 1000
	}
	server := func() (*secagg.Server, error) {
		return secagg.NewServer(methodtest.Setup(s, methodtest.Coordinator).Setup, params, keys, secagg.Limits{})
	}
	nodes := []sim.Node{{Name: methodtest.Coordinator, Timers: timers, New: func() (protocol.Machine, error) { return server() }}}
	for i, name := range names {
		vector := make([]int64, 100)
		for k := range vector {
			vector[k] = int64(draw(1000, name, k))
		}
		own := methodtest.Setup(s, name)
		build := func() (*secagg.Client, error) {
			return secagg.NewClient(own.Setup, params, secagg.Ints(vector), secagg.Identity{Sign: own.Sign, Keys: keys})
		}
		first, err := build()
		if err != nil {
			t.Fatal(err, i)
		}
		nodes = append(nodes, sim.Node{Name: name, Timers: timers, InputHash: first.InputHash(), New: func() (protocol.Machine, error) { return build() }})
	}
	seen := transcript.Session{
		Members: []string{fmt.Sprintf("%d clinics, each with 100 counts up to 1,000; lake vanishes before it sends them", len(names)), methodtest.Coordinator + ": the server"},
		Group:   transcript.Group{Role: "clinic", Members: names}, Steps: []string{"sum"},
	}
	r, err := sim.Run(sim.Config{
		Session: s, Nodes: nodes, Schedule: sim.Schedule{Gone: map[string]int{"lake": 3}},
		Intercept: func(m protocol.Message) []protocol.Message {
			seen.Messages = append(seen.Messages, sent("sum", m))
			return []protocol.Message{m}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if in := r.Outcome(methodtest.Coordinator).Machine.(*secagg.Server).Survivors(); len(in) != len(names)-1 {
		t.Fatalf("the sum is over %v: %v", in, r.Err())
	}
	return seen
}
