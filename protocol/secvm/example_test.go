package secvm_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

func Example() {
	p, err := secvm.NewParams(secvm.Spec{Name: "demo", Bins: 64, Packages: 8, Cohort: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	weights, err := p.Weights(make([]float64, p.Features()))
	if err != nil {
		fmt.Println(err)
		return
	}
	tally := secvm.NewTally(p)
	for i, words := range [][]string{{"sea", "salt"}, {"stone", "salt"}} {
		d, err := secvm.NewDevice(p, secvm.Record{Vector: p.Vector(words), Label: int8(2*i - 1)}, secvm.Train)
		if err != nil {
			fmt.Println(err)
			return
		}
		packages, err := d.Answer(0, weights, prg.New([32]byte{byte(i)}, "in earnest: a secret seed"))
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, one := range packages {
			if err := tally.Add(one); err != nil {
				fmt.Println(err)
				return
			}
		}
	}
	salt := secvm.Bin("salt", 0, 64)
	fmt.Println(tally.Count(), "participants;", "salt:", tally.Minus[salt], "against and", tally.Plus[salt], "for")
	// Output: 2 participants; salt: 1 against and 1 for
}
