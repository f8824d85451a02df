package memory_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/memory"
)

// A server sends a party a model. Run returns the first error, also of the constructors.
func Example() {
	body := []byte("a model")
	s := memory.New(protocol.Descriptor{
		Protocol: collective.BroadcastName, Version: collective.BroadcastVersion, Params: collective.EncodeBroadcast(len(body)),
		Members: append(protocol.Members(protocol.RoleServer, "server"), protocol.Members(protocol.RoleParty, "north")...),
	})
	server, err := collective.NewBroadcastServer(s.Setup("server"), body)
	s.Add("server", server, err)
	north, err := collective.NewBroadcastParty(s.Setup("north"))
	s.Add("north", north, err)
	if err := s.Run(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", north.Body())
	// Output: a model
}
