package heading_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/heading"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// Two hospitals hold the same columns in two orders.
func Example() {
	session, _ := protocol.NewSession(protocol.Descriptor{
		Protocol: heading.Name, Version: heading.Version,
		Members: []protocol.Member{{Name: "north", Role: protocol.RoleLeader}, {Name: "south", Role: protocol.RoleParty}},
	})
	north := heading.Table{Columns: []string{"age", "creatinine", "sbp"}, Width: 3}
	south := heading.Table{Columns: []string{"sbp", "age", "creatinine"}, Width: 3}
	result, err := sim.Run(sim.Config{Session: session, Nodes: []sim.Node{
		{Name: "north", InputHash: north.Hash(), New: func() (protocol.Machine, error) {
			return heading.NewLeader(protocol.Setup{Session: session, Self: "north"}, north)
		}},
		{Name: "south", InputHash: south.Hash(), New: func() (protocol.Machine, error) {
			return heading.NewParty(protocol.Setup{Session: session, Self: "south"}, south)
		}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, i := range result.Outcome("south").Machine.(*heading.Party).Order() {
		fmt.Println(south.Columns[i])
	}
	// Output:
	// age
	// creatinine
	// sbp
}
