// Sum adds up the counts of three clinics. The server learns the sums alone.
package main

import "fmt"
import "github.com/mercer-fl/mercer/protocol"
import "github.com/mercer-fl/mercer/protocol/memory"
import "github.com/mercer-fl/mercer/protocol/secagg"

func main() {
	counts := map[string]secagg.Ints{"north": {1, 0, 2}, "south": {0, 3, 1}, "east": {2, 0, 6}}
	params, err := secagg.NewParams(secagg.Spec{Minimum: 3, Epoch: "2026", Groups: []secagg.Group{{Entries: 3, Bound: 1000}}}, 3)
	if err != nil {
		panic(err)
	}
	members := append(protocol.Members(protocol.RoleServer, "server"), protocol.Members(protocol.RoleParty, "north", "south", "east")...)
	s := memory.New(protocol.Descriptor{Protocol: secagg.Name, Version: secagg.Version, Params: params.Encode(), Members: members})
	keys := s.Keys(protocol.RoleParty)
	server, err := secagg.NewServer(s.Setup("server"), params, keys, secagg.Limits{})
	s.Add("server", server, err)
	for name, list := range counts {
		client, err := secagg.NewClient(s.Setup(name), params, list, secagg.Identity{Sign: s.Sign(name), Keys: keys})
		s.Add(name, client, err)
	}
	if err := s.Run(); err != nil {
		panic(err)
	}
	fmt.Println(server.Sums())
	// Output: [[3 3 9]]
}
