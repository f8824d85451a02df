package psi_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/psi"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// A bank and a shop find their common customers.
func Example() {
	params, _ := psi.NewParams(psi.Spec{MaxIDs: 1000})
	session, _ := protocol.NewSession(protocol.Descriptor{
		Protocol: psi.Name, Version: psi.Version, Params: params.Encode(), Purpose: "align",
		Members: []protocol.Member{{Name: "bank", Role: protocol.RoleParty}, {Name: "shop", Role: protocol.RoleParty}},
	})
	bank := [][]byte{[]byte("ada"), []byte("bob"), []byte("cyd")}
	shop := [][]byte{[]byte("cyd"), []byte("dan"), []byte("ada"), []byte("eve")}
	node := func(name string, ids [][]byte) sim.Node {
		build := func() (*psi.Party, error) {
			return psi.NewParty(protocol.Setup{Session: session, Self: name, Seed: sha256.Sum256([]byte(name))}, params, ids)
		}
		party, err := build()
		if err != nil {
			fmt.Println(err)
			return sim.Node{}
		}
		return sim.Node{Name: name, InputHash: party.InputHash(), New: func() (protocol.Machine, error) { return build() }}
	}
	result, err := sim.Run(sim.Config{Session: session, Nodes: []sim.Node{node("bank", bank), node("shop", shop)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ours, theirs := result.Outcome("bank").Machine.(*psi.Party), result.Outcome("shop").Machine.(*psi.Party)
	for i, row := range ours.Order() {
		fmt.Println(bytes.Equal(bank[row], shop[theirs.Order()[i]]))
	}
	fmt.Println(ours.Alignment() == theirs.Alignment())
	// Output:
	// true
	// true
	// true
}
