package fdskl_test

import (
	"crypto/sha256"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdskl"
	"github.com/mercer-fl/mercer/protocol/memory"
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
	s := memory.New(protocol.Descriptor{
		Protocol: fdskl.Name, Version: fdskl.Version, Params: params.Encode(),
		Members: append(protocol.Members(protocol.RoleLeader, "bank"), protocol.Members(protocol.RoleParty, "shop", "insurer")...),
	})
	input := func(name string) fdskl.Input {
		return fdskl.Input{Source: constant(100), Hash: sha256.Sum256([]byte(name)), Rows: 2}
	}
	keys, table := s.Keys(protocol.RoleLeader), fdskl.NewTable(params)
	bank, err := fdskl.NewActive(s.Setup("bank"), input("bank"), fdskl.Identity{Sign: s.Sign("bank"), Keys: keys}, table)
	s.Add("bank", bank, err)
	for _, name := range s.With(protocol.RoleParty) {
		worker, err := fdskl.NewPassive(s.Setup(name), input(name), fdskl.Identity{Keys: keys})
		s.Add(name, worker, err)
	}
	err = s.Run()
	fmt.Printf("%d %v\n", table.Words(), err)
	// Output: [44 44 44 44 44 44] <nil>
}

// Trees over four workers by which the root would read the phase
// of another worker, though no subtree of two leaves is common to both.
func ExampleSafeTrees() {
	fmt.Println(fdskl.SafeTrees(fdskl.Tree{fdskl.Root, 0, 0, 2}, fdskl.Tree{fdskl.Root, 0, 0, fdskl.Absent}))
	// Output: fdskl: worker 0 would learn 1 combinations of other workers' phases from these two trees; choose other trees
}
