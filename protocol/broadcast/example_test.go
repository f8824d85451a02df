package broadcast_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/broadcast"
	"github.com/mercer-fl/mercer/protocol/memory"
)

// A server tells two parties a model.
func Example() {
	body := []byte("a model")
	s := memory.New(protocol.Descriptor{
		Protocol: broadcast.Name, Version: broadcast.Version, Params: broadcast.Encode(len(body)),
		Members: append(protocol.Members(protocol.RoleServer, "server"), protocol.Members(protocol.RoleParty, "north", "south")...),
	})
	server, err := broadcast.NewServer(s.Setup("server"), body)
	s.Add("server", server, err)
	north, err := broadcast.NewParty(s.Setup("north"))
	s.Add("north", north, err)
	south, err := broadcast.NewParty(s.Setup("south"))
	s.Add("south", south, err)
	if err := s.Run(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, %s\n", north.Body(), south.Body())
	// Output: a model, a model
}
