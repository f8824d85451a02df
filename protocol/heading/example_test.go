package heading_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/heading"
	"github.com/mercer-fl/mercer/protocol/memory"
)

// Two hospitals hold the same columns in two orders.
func Example() {
	s := memory.New(protocol.Descriptor{
		Protocol: heading.Name, Version: heading.Version,
		Members: append(protocol.Members(protocol.RoleLeader, "north"), protocol.Members(protocol.RoleParty, "south")...),
	})
	north, err := heading.NewLeader(s.Setup("north"), heading.Table{Columns: []string{"age", "creatinine", "sbp"}, Width: 3})
	s.Add("north", north, err)
	own := heading.Table{Columns: []string{"sbp", "age", "creatinine"}, Width: 3}
	south, err := heading.NewParty(s.Setup("south"), own)
	s.Add("south", south, err)
	if err := s.Run(); err != nil {
		fmt.Println(err)
		return
	}
	for _, i := range south.Order() {
		fmt.Println(own.Columns[i])
	}
	// Output:
	// age
	// creatinine
	// sbp
}
