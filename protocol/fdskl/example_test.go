package fdskl_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdskl"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// constant is a worker whose phases are all the same.
type constant byte

func (c constant) Block(dst []byte, _ []int, _, _ int) {
	for i := range dst {
		dst[i] = byte(c)
	}
}

// Three workers add up their phases, in steps of a turn's 256th, over a network
// in memory.
func Example() {
	params, err := fdskl.NewParams(fdskl.Spec{Bits: 8, Rows: 2, Directions: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	session, err := protocol.NewSession(protocol.Descriptor{Protocol: fdskl.Name, Version: fdskl.Version, Params: params.Encode(), Members: []protocol.Member{
		{Name: "bank", Role: protocol.RoleLeader}, {Name: "shop", Role: protocol.RoleParty}, {Name: "insurer", Role: protocol.RoleParty},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	identity := fdskl.Identity{Keys: []ed25519.PublicKey{key.Public().(ed25519.PublicKey)}}
	table := fdskl.NewTable(params)
	var nodes []sim.Node
	for i, m := range session.Members {
		setup := protocol.Setup{Session: session, Self: m.Name, Seed: [32]byte{byte(i)}} // drawn at random in earnest
		input := fdskl.Input{Source: constant(100), Hash: sha256.Sum256([]byte(m.Name)), Rows: 2}
		nodes = append(nodes, sim.Node{Name: m.Name, InputHash: input.Hash, New: func() (protocol.Machine, error) {
			if m.Role == protocol.RoleParty {
				return fdskl.NewPassive(setup, input, identity)
			}
			signer := fdskl.Identity{Keys: identity.Keys, Sign: func(b []byte) []byte { return ed25519.Sign(key, b) }}
			return fdskl.NewActive(setup, input, signer, table)
		}})
	}
	result, err := sim.Run(sim.Config{Session: session, Nodes: nodes})
	if err == nil {
		err = result.Err()
	}
	fmt.Printf("%d %v\n", table.Words(), err)
	// Output: [44 44 44 44 44 44] <nil>
}

// Trees over four workers by which the root would read the phase
// of another worker, though no subtree of two leaves is common to both.
func ExampleSafeTrees() {
	fmt.Println(fdskl.SafeTrees(fdskl.Tree{fdskl.Root, 0, 0, 2}, fdskl.Tree{fdskl.Root, 0, 0, fdskl.Absent}))
	// Output: fdskl: worker 0 learns 1 combinations of others' phases from these two trees; choose others
}
