package secagg_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Three clinics add up their numbers of patients in three age groups. The server learns the
// sums, and no clinic's own numbers.
func Example() {
	counts := map[string]secagg.Ints{"north": {1, 0, 2}, "south": {0, 3, 1}, "east": {2, 0, 6}}
	params, err := secagg.NewParams(secagg.Spec{Minimum: 2, Epoch: "2026", Groups: []secagg.Group{{Entries: 3, Bound: 1000}}}, len(counts))
	if err != nil {
		fmt.Println(err)
		return
	}
	s := memory.New(protocol.Descriptor{
		Protocol: secagg.Name, Version: secagg.Version, Params: params.Encode(), Purpose: "ages",
		Members: append(protocol.Members(protocol.RoleServer, "server"), protocol.Members(protocol.RoleParty, "north", "south", "east")...),
	})
	keys := s.Keys(protocol.RoleParty)
	server, err := secagg.NewServer(s.Setup("server"), params, keys, secagg.Limits{})
	s.Add("server", server, err)
	for name, list := range counts {
		client, err := secagg.NewClient(s.Setup(name), params, list, secagg.Identity{Sign: s.Sign(name), Keys: keys})
		s.Add(name, client, err)
	}
	if err := s.Run(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(server.Sums())
	// Output: [[3 3 9]]
}
