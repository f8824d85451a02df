package sim_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// A network loses and repeats messages, and a machine crashes and is rebuilt. The session
// ends as on a network without faults.
func Example() {
	s, err := protocol.NewSession(protocol.Descriptor{
		Protocol: collective.AllGatherName, Version: collective.AllGatherVersion,
		Members: append(protocol.Members(protocol.RoleParty, "bank", "shop"), protocol.Members(protocol.RoleServer, "hub")...),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var nodes []sim.Node
	for _, m := range s.Members {
		build := func() (*collective.AllGather, error) {
			if m.Role == protocol.RoleServer {
				return collective.NewAllGatherServer(protocol.Setup{Session: s, Self: m.Name})
			}
			return collective.NewAllGather(protocol.Setup{Session: s, Self: m.Name}, []byte("512 rows"))
		}
		first, err := build()
		if err != nil {
			fmt.Println(err)
			return
		}
		nodes = append(nodes, sim.Node{Name: m.Name, InputHash: first.InputHash(), New: func() (protocol.Machine, error) { return build() }})
	}
	result, err := sim.Run(sim.Config{
		Session: s, Nodes: nodes,
		Schedule: sim.Schedule{Seed: 1, Loss: 0.5, Duplicate: 0.5, Crash: []sim.Crash{{Node: "bank", Event: 0}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	hub := result.Outcome("hub").Machine.(*collective.AllGather)
	fmt.Printf("%s, crashes: %d, error: %v\n", hub.Statements(), result.Outcome("bank").Crashes, result.Err())
	// Output: [512 rows 512 rows], crashes: 1, error: <nil>
}
