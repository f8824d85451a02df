package fdskl

import (
	"math/bits"
	"testing"
)

// A coalition of the active worker and up to q-2 passive ones learns the sum of
// the others' phases and no other combination of them, in every topology.
func TestCoalitionSeesTheSumOfTheRest(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, topology := range []Topology{Binary, Star, Chain} {
		for q := 2; q <= 7; q++ {
			for others := range 1 << (q - 1) {
				if bits.OnesCount(uint(others)) > q-2 {
					continue
				}
				members := members(q, others<<1|1)
				if n := exposedCount(coalitionView(topology.Tree(q), members), allowedTo(q, members)); n > 0 {
					t.Errorf("%s, %d workers: %v learn %d combinations beyond the sum of the rest", topology, q, members, n)
				}
				// Without the active worker not even that.
				passive := members[1:]
				if n := exposedCount(coalitionView(topology.Tree(q), passive), allowedTo(q, passive)); n > 0 {
					t.Errorf("%s, %d workers: %v, without the active one, learn %d combinations", topology, q, passive, n)
				}
			}
		}
	}
}

// The test would find a missing mask: if two workers share none, a party that adds them up at
// another place than the others learns their part of the sum.
func TestMissingMasksAreFound(t *testing.T) {
	const q = 4
	star := Star.Tree(q)
	view := coalitionView(star, []int{0})
	for _, o := range view {
		for m := range q {
			o.masks[pair(3, m, q)], o.masks[pair(m, 3, q)] = 0, 0
		}
	}
	if n := exposedCount(view, allowedTo(q, []int{0})); n != 1 {
		t.Errorf("the active worker learns %d combinations of a worker that does not mask, want 1", n)
	}
}

func members(q, set int) []int {
	var list []int
	for w := range q {
		if set>>w&1 == 1 {
			list = append(list, w)
		}
	}
	return list
}

// allowedTo is each member's own phase and, where the active worker is one of
// them, the sum of all.
func allowedTo(q int, coalition []int) [][]int {
	var list [][]int
	for _, w := range coalition {
		list = append(list, indicator(q, w))
		if w == 0 {
			list = append(list, indicator(q, numbers(0, q)...))
		}
	}
	return list
}

func pair(a, b, q int) int { return min(a, b)*q + max(a, b) }

// coalitionView returns the knowledge of the members: their phases, every mask that one of
// them shares, and the sums that their children send. pairMasks gives the signs of the
// masks.
func coalitionView(tree Tree, coalition []int) []observation {
	q := len(tree)
	var view []observation
	for _, w := range coalition {
		view = append(view, observation{indicator(q, w), make([]int, q*q)})
		for other := range q {
			view = append(view, observation{make([]int, q), indicator(q*q, pair(w, other, q))})
		}
		for _, c := range tree.children(w) {
			under := tree.subtree(c)
			view = append(view, observation{indicator(q, under...), signedMasks(under, q)})
		}
	}
	return view
}

// signedMasks adds up the masks of some workers.
func signedMasks(under []int, q int) []int {
	sum := make([]int, q*q)
	for _, l := range under {
		place := 0
		for _, m := range pairMasks([32]byte{}, l, make([][32]byte, q), [32]byte{}) {
			if place == l {
				place++
			}
			if m.subtract {
				sum[pair(l, place, q)]--
			} else {
				sum[pair(l, place, q)]++
			}
			place++
		}
	}
	return sum
}
