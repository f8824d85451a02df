package escaped_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/escaped"
	"github.com/mercer-fl/mercer/protocol/memory"
)

func Example() {
	s := memory.New(protocol.Descriptor{
		Protocol: escaped.Name, Version: escaped.Version,
		Members: append(protocol.Members(protocol.RoleServer, "hub"), protocol.Members(protocol.RoleParty, "north", "south")...),
	})
	hub, err := escaped.NewServer(s.Setup("hub"), escaped.Limits{})
	s.Add("hub", hub, err)
	for name, row := range map[string][]float64{"north": {1, 2}, "south": {3, 4}} {
		rows := linalg.Matrix[float64]{Rows: 1, Cols: 2, Stride: 2, Data: row}
		party, err := escaped.NewParty(s.Setup(name), escaped.Input{Rows: rows})
		s.Add(name, party, err)
	}
	if err := s.Run(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", hub.Gram().Data)
	// Output: [5.000 11.000 11.000 25.000]
}
