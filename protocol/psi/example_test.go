package psi_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
	"github.com/mercer-fl/mercer/protocol/psi"
)

// A bank and a shop find their common customers.
func Example() {
	params, _ := psi.NewParams(psi.Spec{MaxIDs: 1000})
	s := memory.New(protocol.Descriptor{
		Protocol: psi.Name, Version: psi.Version, Params: params.Encode(), Purpose: "align", Members: protocol.Members(protocol.RoleParty, "bank", "shop"),
	})
	ids := map[string][]string{"bank": {"ada", "bob", "cyd"}, "shop": {"cyd", "dan", "ada", "eve"}}
	parties := make(map[string]*psi.Party)
	for name, list := range ids {
		var own [][]byte
		for _, id := range list {
			own = append(own, []byte(id))
		}
		party, err := psi.NewParty(s.Setup(name), params, own)
		s.Add(name, party, err)
		parties[name] = party
	}
	if err := s.Run(); err != nil {
		fmt.Println(err)
		return
	}
	bank, shop := parties["bank"], parties["shop"]
	for i, row := range bank.Order() {
		fmt.Println(ids["bank"][row] == ids["shop"][shop.Order()[i]])
	}
	fmt.Println(bank.Alignment() == shop.Alignment())
	// Output:
	// true
	// true
	// true
}
