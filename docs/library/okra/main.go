// Okra lets a server compute the inner products of two hospitals' rows from encoded rows.
package main

import "fmt"
import "github.com/mercer-fl/mercer/linalg"
import "github.com/mercer-fl/mercer/protocol"
import "github.com/mercer-fl/mercer/protocol/memory"
import "github.com/mercer-fl/mercer/protocol/okra"

func main() {
	params, err := okra.NewParams(okra.Spec{})
	if err != nil {
		panic(err)
	}
	hospitals := append(protocol.Members(protocol.RoleLeader, "north"), protocol.Members(protocol.RoleParty, "south")...)
	members := append(protocol.Members(protocol.RoleServer, "server"), hospitals...)
	s := memory.New(protocol.Descriptor{Protocol: okra.Name, Version: okra.Version, Params: params.Encode(), Members: members})
	server, err := okra.NewServer(s.Setup("server"), params, okra.Limits{})
	s.Add("server", server, err)
	for name, rows := range map[string][]float64{"north": {1, 2, 3, 1}, "south": {2, 2}} {
		x := linalg.Matrix[float64]{Rows: len(rows) / 2, Cols: 2, Stride: 2, Data: rows}
		party, err := okra.NewParty(s.Setup(name), params, okra.Input{Rows: x})
		s.Add(name, party, err)
	}
	if err := s.Run(); err != nil {
		panic(err)
	}
	gram := server.Gram()
	for i := range gram.Rows {
		fmt.Printf("%.2f\n", gram.Row(i))
	}
	// Output:
	// [5.00 5.00 6.00]
	// [5.00 10.00 8.00]
	// [6.00 8.00 8.00]
}
