package fdskl

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Sums go up a heap, straight to the root, or along a chain, with any number of workers.
func TestTreesOfTheTopologies(t *testing.T) {
	for topology, parent := range map[Topology]func(worker int) int{
		Binary: func(worker int) int { return (worker - 1) / 2 },
		Star:   func(int) int { return 0 },
		Chain:  func(worker int) int { return worker - 1 },
	} {
		for workers := 1; workers <= MaxWorkers; workers++ {
			want := Tree{Root}
			for w := 1; w < workers; w++ {
				want = append(want, parent(w))
			}
			if got := topology.Tree(workers); !slices.Equal(got, want) {
				t.Errorf("%s of %d workers is %v, want %v", topology, workers, got, want)
			}
		}
	}
}

// The trees of mode paper leak nothing, in every topology, for q = 3 to 17.
func TestSafeTrees(t *testing.T) {
	for _, topology := range []Topology{Binary, Star, Chain} {
		for q := 3; q <= 17; q++ {
			if err := SafeTrees(topology.Tree(q), maskTree(q)); err != nil {
				t.Errorf("%s, %d workers: %v", topology, q, err)
			}
		}
	}
}

// Trees that Definition 2 of the paper allows, by which the active worker reads
// the second one's phase: T1 is 1 <- 0, 3 -> 2 -> 0 and T2 joins workers 1 and 2
// to the root, leaving out the third.
func TestTotallyDifferentIsNotEnough(t *testing.T) {
	t1, star := Tree{Root, 0, 0, 2}, Tree{Root, 0, 0, Absent}
	if err := SafeTrees(t1, star); err == nil || !strings.Contains(err.Error(), "worker 0 would learn 1 combination") {
		t.Errorf("trees that leak: %v", err)
	}
	if err := SafeTrees(t1, Tree{Root, 0, 1, Absent}); err != nil {
		t.Errorf("a path that begins at the other end: %v", err)
	}
	if err := SafeTrees(Binary.Tree(7), Binary.Tree(7)); err == nil {
		t.Error("two equal trees are called safe")
	}
	if err := SafeTrees(Tree{Root, 0, 1}, Tree{Root, 0, 1}); err == nil || !strings.Contains(err.Error(), "worker 1 would learn 1 combination") {
		t.Errorf("a passive worker that gets a child's phase and its mask: %v", err)
	}
	// Three masks, two in each sum: all sums together have each mask twice, which is none modulo 2.
	if n := exposedCount([]observation{{[]int{1, 0, 0}, []int{1, 1, 0}}, {[]int{0, 1, 0}, []int{1, 0, 1}}, {[]int{0, 0, 1}, []int{0, 1, 1}}}, nil); n != 1 {
		t.Errorf("%d combinations show modulo 2, want 1", n)
	}
}

// With two workers there is nothing to hide: the other's phase is the sum less
// the own one.
func TestTwoWorkers(t *testing.T) {
	if err := SafeTrees(Binary.Tree(2), maskTree(2)); err != nil {
		t.Error(err)
	}
}

func TestNoTrees(t *testing.T) {
	good := Binary.Tree(4)
	for name, bad := range map[string]Tree{
		"empty": {}, "short": {Root, 0, 0}, "a loop": {Root, 0, 3, 2}, "two roots": {Root, 0, Root, 0}, "another root": {1, Root, 0, 0}, "its own parent": {Root, 1, 0, 0},
	} {
		if SafeTrees(good, bad) == nil || SafeTrees(bad, good) == nil {
			t.Errorf("%s is taken for a tree", name)
		}
	}
}

// The rank modulo the large prime equals the rank by plain elimination in fractions,
// on random pairs of trees, safe and unsafe ones. SafeTrees may only be stricter.
func TestSafeTreesAgainstExactArithmetic(t *testing.T) {
	safe, unsafe := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.IntRange(3, 8).Draw(t, "q")
		t1, t2 := drawTree(t, q, "t1"), drawTree(t, q, "t2")
		all := true
		for w := range q {
			allowed := [][]int{indicator(q, w)}
			if w == 0 {
				allowed = append(allowed, indicator(q, numbers(0, q)...))
			}
			got, want := exposedModulo(viewOf(t1, t2, w), allowed, largePrime) == 0, exactlySafe(t1, t2, w)
			if got != want {
				t.Fatalf("worker %d of %v and %v: safe is %v, want %v", w, t1, t2, got, want)
			}
			all = all && want
		}
		if SafeTrees(t1, t2) == nil {
			safe++
			if !all {
				t.Fatalf("%v and %v leak, and are called safe", t1, t2)
			}
		}
		if !all {
			unsafe++
		}
	})
	if safe == 0 || unsafe == 0 {
		t.Errorf("%d safe and %d unsafe pairs were drawn", safe, unsafe)
	}
}

// drawTree is a random tree in which parents need not have smaller numbers.
func drawTree(t *rapid.T, q int, label string) Tree {
	order := rapid.Permutation(numbers(1, q)).Draw(t, label)
	order = append([]int{0}, order...)
	tree := make(Tree, q)
	for i, w := range order {
		tree[w] = Root
		if i > 0 {
			tree[w] = order[rapid.IntRange(0, i-1).Draw(t, fmt.Sprint(label, " parent ", i))]
		}
	}
	return tree
}

func numbers(lo, hi int) []int {
	var list []int
	for i := lo; i < hi; i++ {
		list = append(list, i)
	}
	return list
}

// exactlySafe computes a basis of all combinations of w's view without masks, in
// fractions, and looks whether each is one that w may know.
func exactlySafe(t1, t2 Tree, w int) bool {
	q := len(t1)
	var rows [][]*big.Rat
	for _, o := range viewOf(t1, t2, w) {
		var row []*big.Rat
		for _, v := range append(append([]int(nil), o.masks...), o.phases...) {
			row = append(row, big.NewRat(int64(v), 1))
		}
		rows = append(rows, row)
	}
	for _, row := range echelon(rows) {
		if !allZero(row[:q]) {
			continue
		}
		rest := row[q:]
		rest[w].SetInt64(0)
		if w == 0 { // the rest may be a multiple of the others' sum
			for _, v := range rest[2:] {
				if v.Cmp(rest[1]) != 0 {
					return false
				}
			}
		} else if !allZero(rest) {
			return false
		}
	}
	return true
}

func allZero(row []*big.Rat) bool {
	for _, v := range row {
		if v.Sign() != 0 {
			return false
		}
	}
	return true
}

// echelon brings rows to echelon form, columns from the left.
func echelon(rows [][]*big.Rat) [][]*big.Rat {
	done := 0
	for c := range rows[0] {
		for i := done; i < len(rows); i++ {
			if rows[i][c].Sign() == 0 {
				continue
			}
			rows[done], rows[i] = rows[i], rows[done]
			for _, row := range rows[done+1:] {
				factor := new(big.Rat).Quo(row[c], rows[done][c])
				for j := range row {
					row[j] = new(big.Rat).Sub(row[j], new(big.Rat).Mul(factor, rows[done][j]))
				}
			}
			done++
			break
		}
	}
	return rows
}
