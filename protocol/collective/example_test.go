package collective_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/memory"
)

// members returns a server and two parties.
func members(server, one, other string) []protocol.Member {
	return append(protocol.Members(protocol.RoleServer, server), protocol.Members(protocol.RoleParty, one, other)...)
}

// Two parties send a coordinator, and each other, their numbers of rows.
func ExampleAllGather() {
	s := memory.New(protocol.Descriptor{
		Protocol: collective.AllGatherName, Version: collective.AllGatherVersion, Purpose: "train",
		Members: members("coordinator", "bank", "shop"),
	})
	coordinator, err := collective.NewAllGatherServer(s.Setup("coordinator"))
	s.Add("coordinator", coordinator, err)
	for name, statement := range map[string]string{"bank": "512 rows", "shop": "512 rows too"} {
		party, err := collective.NewAllGather(s.Setup(name), []byte(statement))
		s.Add(name, party, err)
	}
	if err := s.Run(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", coordinator.Statements())
	// Output: [512 rows 512 rows too]
}

// Two parties send a third one four bytes each.
func ExampleGatherServer() {
	s := memory.New(protocol.Descriptor{
		Protocol: collective.GatherName, Version: collective.GatherVersion, Params: collective.EncodeGather(4),
		Members: members("north", "south", "east"),
	})
	north, err := collective.NewGatherServer(s.Setup("north"))
	s.Add("north", north, err)
	south, err := collective.NewGatherParty(s.Setup("south"), []byte("warm"))
	s.Add("south", south, err)
	east, err := collective.NewGatherParty(s.Setup("east"), []byte("cold"))
	s.Add("east", east, err)
	if err := s.Run(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", north.Bodies())
	// Output: [warm cold]
}

// A server sends two parties a model.
func ExampleBroadcastServer() {
	body := []byte("a model")
	s := memory.New(protocol.Descriptor{
		Protocol: collective.BroadcastName, Version: collective.BroadcastVersion, Params: collective.EncodeBroadcast(len(body)),
		Members: members("server", "north", "south"),
	})
	server, err := collective.NewBroadcastServer(s.Setup("server"), body)
	s.Add("server", server, err)
	north, err := collective.NewBroadcastParty(s.Setup("north"))
	s.Add("north", north, err)
	south, err := collective.NewBroadcastParty(s.Setup("south"))
	s.Add("south", south, err)
	if err := s.Run(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, %s\n", north.Body(), south.Body())
	// Output: a model, a model
}
