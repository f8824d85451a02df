package privacy_test

import (
	"crypto/rand"
	"fmt"
	"log"
	"math/big"

	"github.com/mercer-fl/mercer/privacy"
)

// Three hospitals count their patients with a rare finding. Each adds noise to its count; the noise of
// any two of them is enough, if the third should read the sum.
func Example() {
	g := privacy.Guarantee{Epsilon: 1, Delta: 1e-6}
	if err := g.Check(); err != nil {
		log.Fatal(err)
	}
	noise, err := privacy.NewNoise(g.Rho(), big.NewInt(1), 1, privacy.Summands{Honest: 2, All: 3})
	if err != nil {
		log.Fatal(err)
	}
	sum := int64(0)
	for _, patients := range []int64{400, 250, 350} {
		word := make([]int64, 1)
		if err := noise.Draw(word, rand.Reader); err != nil {
			log.Fatal(err)
		}
		sum += patients + word[0]
	}
	fmt.Printf("rho %.4f, noise of variance %v from each, within 100 of 1,000: %v\n", g.Rho(), noise.Variance, sum > 900 && sum < 1100)
	// Output: rho 0.0244, noise of variance 11 from each, within 100 of 1,000: true
}
