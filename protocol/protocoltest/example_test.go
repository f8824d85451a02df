package protocoltest_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// A case is a small session whose machines can be built again, with a check of each
// machine's result. A test passes it to Run; here it runs once, without faults.
func ExampleCase() {
	s, err := protocol.NewSession(protocol.Descriptor{
		Protocol: collective.AllGatherName, Version: collective.AllGatherVersion, Members: protocol.Members(protocol.RoleParty, "bank", "shop"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := protocoltest.Case{Session: s, InFlight: 1 << 10, Check: func(name string, m protocol.Machine) error {
		if got := m.(*collective.AllGather).Statements(); len(got) != 2 || string(got[0]) != "2 rows" {
			return fmt.Errorf("%s heard %q", name, got)
		}
		return nil
	}}
	for _, name := range []string{"bank", "shop"} {
		build := func() (*collective.AllGather, error) {
			return collective.NewAllGather(protocol.Setup{Session: s, Self: name}, []byte("2 rows"))
		}
		first, err := build()
		if err != nil {
			fmt.Println(err)
			return
		}
		c.Nodes = append(c.Nodes, sim.Node{Name: name, InputHash: first.InputHash(), New: func() (protocol.Machine, error) { return build() }})
	}
	result, err := sim.Run(sim.Config{Session: c.Session, Nodes: c.Nodes})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range result.Nodes {
		fmt.Println(o.Name, c.Check(o.Name, o.Machine))
	}
	// Output:
	// bank <nil>
	// shop <nil>
}
