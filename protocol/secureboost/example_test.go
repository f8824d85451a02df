package secureboost_test

import (
	"crypto/sha256"
	"fmt"

	"github.com/mercer-fl/mercer/learn/boost"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
	"github.com/mercer-fl/mercer/protocol/secureboost"
)

// A bank knows who has paid, and a shop knows a column in two bins that tells. The shop
// reads the gradients here; with encryption paillier it would not.
func Example() {
	labels := []float64{0, 0, 1, 1, 0, 1}
	alignment := sha256.Sum256([]byte("which row is which"))
	params, err := secureboost.NewParams(secureboost.Spec{Encryption: secureboost.None, Rows: 6, Training: 6, Rounds: 5, Depth: 2, Alignment: alignment})
	if err != nil {
		panic(err)
	}
	booster, err := boost.New(boost.Params{Rounds: 5, Depth: 2, Rate: 0.3, Lambda: 1}, labels, len(labels))
	if err != nil {
		panic(err)
	}
	s := memory.New(protocol.Descriptor{
		Protocol: secureboost.Name, Version: secureboost.Version, Params: params.Encode(),
		Members: append(protocol.Members(protocol.RoleLeader, "bank"), protocol.Members(protocol.RoleParty, "shop")...),
	})
	bank, err := secureboost.NewGuest(s.Setup("bank"), secureboost.Input{Hash: sha256.Sum256([]byte("labels")), Alignment: alignment}, booster)
	s.Add("bank", bank, err)
	shop, err := secureboost.NewHost(s.Setup("shop"), secureboost.Input{
		Codes: [][]uint8{{0, 0, 1, 1, 0, 1}}, Bins: []int{2}, Hash: sha256.Sum256([]byte("columns")), Alignment: alignment,
	})
	s.Add("shop", shop, err)
	if err := s.Run(); err != nil {
		fmt.Println(err)
		return
	}
	for _, score := range booster.Scores() {
		fmt.Print(score > 0, " ")
	}
	fmt.Println(len(shop.Splits()))
	// Output: false false true true false true 5
}
