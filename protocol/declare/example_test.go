package declare_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/declare"
	"github.com/mercer-fl/mercer/protocol/memory"
)

// Two parties tell a server, and each other, how many rows they bring.
func Example() {
	s := memory.New(protocol.Descriptor{
		Protocol: declare.Name, Version: declare.Version, Purpose: "train",
		Members: append(protocol.Members(protocol.RoleServer, "hub"), protocol.Members(protocol.RoleParty, "bank", "shop")...),
	})
	hub, err := declare.NewServer(s.Setup("hub"))
	s.Add("hub", hub, err)
	for name, statement := range map[string]string{"bank": "512 rows", "shop": "512 rows too"} {
		party, err := declare.NewParty(s.Setup(name), []byte(statement))
		s.Add(name, party, err)
	}
	if err := s.Run(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", hub.Statements())
	// Output: [512 rows 512 rows too]
}
