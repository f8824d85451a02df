package gather_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/gather"
	"github.com/mercer-fl/mercer/protocol/memory"
)

// Two parties give a third one four bytes each.
func Example() {
	s := memory.New(protocol.Descriptor{
		Protocol: gather.Name, Version: gather.Version, Params: gather.Encode(4),
		Members: append(protocol.Members(protocol.RoleServer, "north"), protocol.Members(protocol.RoleParty, "south", "east")...),
	})
	north, err := gather.NewServer(s.Setup("north"))
	s.Add("north", north, err)
	south, err := gather.NewParty(s.Setup("south"), []byte("warm"))
	s.Add("south", south, err)
	east, err := gather.NewParty(s.Setup("east"), []byte("cold"))
	s.Add("east", east, err)
	if err := s.Run(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", north.Bodies())
	// Output: [warm cold]
}
