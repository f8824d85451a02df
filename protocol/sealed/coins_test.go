package sealed

import (
	"slices"
	"testing"
)

// Coins are -1, 0, 0 and 1, each as often, for each sum other ones.
func TestCoins(t *testing.T) {
	c := coins{seed: [32]byte{3}, n: 1000}
	count, neighbours := map[int8]float64{}, 0.
	for j := range CheckSums {
		list := c.of(j)
		for i, v := range list {
			count[v]++
			neighbours += float64(v) * float64(list[max(i, 1)-1])
		}
		for other := range j {
			same := 0
			for i, v := range c.of(other) {
				if v == list[i] {
					same++
				}
			}
			if same < 300 || same > 450 { // 3/8 of them
				t.Errorf("sums %d and %d have %d equal coins", j, other, same)
			}
		}
	}
	total := float64(CheckSums * c.n)
	if c := neighbours / total; c < -.01 || c > .01 {
		t.Errorf("neighbours have a covariance of %.3f", c)
	}
	for v, share := range map[int8]float64{-1: .25, 0: .5, 1: .25} {
		if got := count[v] / total; got < share-.015 || got > share+.015 {
			t.Errorf("coin %d: %.3f of all, want %v", v, got, share)
		}
		delete(count, v)
	}
	if len(count) > 0 {
		t.Errorf("other coins: %v", count)
	}
	if other := (coins{seed: [32]byte{4}, n: 1000}); slices.Equal(other.of(0), c.of(0)) {
		t.Error("another seed gives the same coins")
	}
}

// The combination of all sums' coins is what it is by definition.
func TestCombinedCoins(t *testing.T) {
	c, to := coins{seed: [32]byte{3}, n: 70}, newChallenges([32]byte{5})
	var p pieces
	got := p.combine(c, to)
	p.finish(t)
	for i := range got {
		want := got[i]
		for j := range CheckSums {
			switch c.of(j)[i] {
			case 1:
				want = want.Sub(to.rho[j])
			case -1:
				want = want.Add(to.rho[j])
			}
		}
		if want != (to.lambda.Sub(to.lambda)) {
			t.Errorf("coefficient %d is off by %v", i, want)
		}
	}
}
