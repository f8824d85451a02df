package columnorder_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/columnorder"
	"github.com/mercer-fl/mercer/protocol/memory"
)

// Two hospitals hold the same columns in two orders.
func Example() {
	s := memory.New(protocol.Descriptor{
		Protocol: columnorder.Name, Version: columnorder.Version,
		Members: append(protocol.Members(protocol.RoleLeader, "north"), protocol.Members(protocol.RoleParty, "south")...),
	})
	north, err := columnorder.NewLeader(s.Setup("north"), columnorder.Table{Columns: []string{"age", "creatinine", "sbp"}, Width: 3})
	s.Add("north", north, err)
	own := columnorder.Table{Columns: []string{"sbp", "age", "creatinine"}, Width: 3}
	south, err := columnorder.NewParty(s.Setup("south"), own)
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
