package declare_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/declare"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// Two parties tell each other, and a server, how many rows they bring.
func Example() {
	s, err := protocol.NewSession(protocol.Descriptor{
		Protocol: declare.Name, Version: declare.Version, Purpose: "train",
		Members: []protocol.Member{{Name: "hub", Role: protocol.RoleServer}, {Name: "bank", Role: protocol.RoleParty}, {Name: "shop", Role: protocol.RoleParty}},
	})
	if err != nil {
		panic(err)
	}
	hub, err := declare.NewServer(protocol.Setup{Session: s, Self: "hub"})
	if err != nil {
		panic(err)
	}
	nodes := []sim.Node{{Name: "hub", InputHash: hub.InputHash(), New: func() (protocol.Machine, error) { return hub, nil }}}
	for name, statement := range map[string]string{"bank": "512 rows", "shop": "512 rows too"} {
		m, err := declare.NewParty(protocol.Setup{Session: s, Self: name}, []byte(statement))
		if err != nil {
			panic(err)
		}
		nodes = append(nodes, sim.Node{Name: name, InputHash: m.InputHash(), New: func() (protocol.Machine, error) { return m, nil }})
	}
	if _, err := sim.Run(sim.Config{Session: s, Nodes: nodes}); err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", hub.Statements())
	// Output: [512 rows 512 rows too]
}
