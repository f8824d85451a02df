package fdskl

import (
	"fmt"
	"slices"
)

// SafeTrees returns an error unless masked phases can safely go up tree t1 while their masks go up
// tree t2. The phases o and the masks r of all workers are unknowns; each message that worker w
// receives is a sum of some of them. No worker must be able to combine the messages that it
// receives with its own phases and masks so that all masks cancel and phases of other workers
// remain. Only the root is allowed to learn one such combination, the sum of all phases.
//
// Definition 2 of the paper, that no subtree of more than one leaf belongs to both trees, is not
// enough: with four workers it allows trees in which one worker reads another one's phase.
//
// Combinations are counted modulo 2^31-1, in place of real numbers. They are also counted modulo 2,
// because words are numbers modulo a power of two, where half of a combination can reveal
// something. With two workers nothing can hide the other worker's phase from the root, because the
// root subtracts its own phase from the sum.
func SafeTrees(t1, t2 Tree) error {
	q := len(t1)
	for _, t := range []Tree{t1, t2} {
		if err := t.validate(q); err != nil {
			return err
		}
	}
	for w := range q {
		if n := leakedCount(t1, t2, w); n > 0 {
			return fmt.Errorf("fdskl: worker %d would learn %d combinations of other workers' phases from these two trees; choose other trees", w, n)
		}
	}
	return nil
}

// leakedCount returns the number of independent combinations of phases that worker w learns but
// must not know.
func leakedCount(t1, t2 Tree, w int) int {
	view, allowed := viewOf(t1, t2, w), [][]int{indicator(len(t1), w)}
	if w == 0 {
		allowed = append(allowed, indicator(len(t1), t1.subtree(0)...))
	}
	return exposedCount(view, allowed)
}

// observation describes one received message by the coefficients of all phases and of all masks in
// it.
type observation struct{ phases, masks []int }

// viewOf returns the knowledge of worker w: its own phase and mask, and the messages of its
// children in both trees.
func viewOf(t1, t2 Tree, w int) []observation {
	q := len(t1)
	none := make([]int, q)
	view := []observation{{indicator(q, w), none}, {none, indicator(q, w)}}
	for _, c := range t1.children(w) {
		under := indicator(q, t1.subtree(c)...)
		view = append(view, observation{under, under})
	}
	for _, c := range t2.children(w) {
		view = append(view, observation{none, indicator(q, t2.subtree(c)...)})
	}
	return view
}

// indicator returns a vector of length n with 1 at the given places.
func indicator(n int, places ...int) []int {
	v := make([]int, n)
	for _, p := range places {
		v[p] = 1
	}
	return v
}

// exposedCount returns the number of independent combinations of phases that a view reveals beyond
// the allowed combinations. A combination is revealed if all masks cancel in it.
func exposedCount(view []observation, allowed [][]int) int {
	return max(exposedModulo(view, allowed, 2), exposedModulo(view, allowed, largePrime))
}

const largePrime = 1<<31 - 1

// exposedModulo returns the exposedCount of a view, computed from ranks modulo the prime p. Let A
// hold the coefficients of phases and B the coefficients of masks. The exposed combinations are a
// space of dimension rank [A B] - rank B; the allowed combinations join the view as known.
func exposedModulo(view []observation, allowed [][]int, p int64) int {
	var masks, both [][]int
	for _, o := range view {
		masks = append(masks, o.masks)
		both = append(both, slices.Concat(o.phases, o.masks))
	}
	for _, a := range allowed {
		both = append(both, slices.Concat(a, make([]int, len(view[0].masks))))
	}
	return rank(both, p) - rank(masks, p) - rank(allowed, p)
}

// rank returns the rank of a matrix modulo a prime p below 2^31, by Gaussian elimination.
func rank(rows [][]int, p int64) int {
	m := make([][]int64, len(rows))
	for i, row := range rows {
		for _, v := range row {
			m[i] = append(m[i], (int64(v)%p+p)%p)
		}
	}
	r := 0
	for c := 0; len(m) > 0 && c < len(m[0]) && r < len(m); c++ {
		if pivot(m[r:], c) {
			eliminate(m[r:], c, p)
			r++
		}
	}
	return r
}

// pivot moves the first row that is not zero in column c to the front. It returns false if no row
// qualifies.
func pivot(m [][]int64, c int) bool {
	for i := range m {
		if m[i][c] != 0 {
			m[0], m[i] = m[i], m[0]
			return true
		}
	}
	return false
}

// eliminate makes column c zero in all rows but the first, by row operations modulo p.
func eliminate(m [][]int64, c int, p int64) {
	for _, row := range m[1:] {
		a, b := row[c], m[0][c]
		for j := c; a != 0 && j < len(row); j++ {
			row[j] = ((row[j]*b-m[0][j]*a)%p + p) % p
		}
	}
}
