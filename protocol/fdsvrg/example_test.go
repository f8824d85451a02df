package fdsvrg_test

import (
	"crypto/sha256"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdsvrg"
	"github.com/mercer-fl/mercer/protocol/memory"
)

// column is a worker with one column and one weight.
type column struct {
	x      []int64
	weight int64
}

func (c *column) Hash() [sha256.Size]byte { return sha256.Sum256(fmt.Append(nil, c.x)) }

func (c *column) Margins(s fdsvrg.Step) (list []int64) {
	for _, row := range s.Rows {
		list = append(list, c.weight*c.x[row])
	}
	return list
}

func (c *column) Learn(s fdsvrg.Step, slopes []float64) {
	for i, row := range s.Rows {
		c.weight -= int64(slopes[i]) * c.x[row]
	}
}

// judge wants every margin to be 100.
type judge struct{ decided []int64 }

func (*judge) Slopes(_ fdsvrg.Step, margins []int64) []float64 {
	slopes := make([]float64, len(margins))
	for i, m := range margins {
		slopes[i] = float64(m-100) / 10
	}
	return slopes
}

func (j *judge) Decide(margins []int64) { j.decided = margins }

// A bank with the labels and a shop move their weights by the same slopes.
func Example() {
	params, err := fdsvrg.NewParams(fdsvrg.Spec{Rows: 2, Outputs: 1, Batch: 1, Epochs: 1})
	if err != nil {
		panic(err)
	}
	s := memory.New(protocol.Descriptor{
		Protocol: fdsvrg.Name, Version: fdsvrg.Version, Params: params.Encode(),
		Members: []protocol.Member{{Name: "bank", Role: protocol.RoleLeader}, {Name: "shop", Role: protocol.RoleParty}},
	})
	j := new(judge)
	bank, err := fdsvrg.NewLeader(s.Setup("bank"), &column{x: []int64{1, 1}}, j)
	s.Add("bank", bank, err)
	shop, err := fdsvrg.NewWorker(s.Setup("shop"), &column{x: []int64{1, 1}})
	s.Add("shop", shop, err)
	fmt.Println(s.Run(), j.decided)
	// Output: <nil> [60 60]
}
