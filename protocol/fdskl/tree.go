package fdskl

import (
	"fmt"
	"slices"
)

// Topology is the shape of the tree along which sums go up.
type Topology string

// The topologies of a session.
const (
	Binary Topology = "binary" // each worker adds up the sums of at most two others; at most log2 q hops for q workers
	Star   Topology = "star"   // the active worker adds up the words of all others
	Chain  Topology = "chain"  // each worker receives the sum of at most one other worker; q-1 hops for q workers
)

func (t Topology) validate() error {
	switch t {
	case Binary, Star, Chain:
		return nil
	}
	return fmt.Errorf("fdskl: topology is %q; choose binary, star or chain", string(t))
}

// Tree holds for each worker w its parent Tree[w], which receives the worker's sum. Tree[w] is
// [Root] for the root, and [Absent] if w takes no part. The active worker has number 0 and is the
// root.
type Tree []int

// Values of a [Tree] that are not workers.
const (
	Root   = -1
	Absent = -2
)

// Tree returns the tree of this topology for q workers. Binary is a heap, in which worker w sends
// to worker (w-1)/2.
func (t Topology) Tree(q int) Tree {
	tree := make(Tree, q)
	for w := range tree {
		switch t {
		case Star:
			tree[w] = 0
		case Chain:
			tree[w] = w - 1
		default:
			tree[w] = (w - 1) / 2
		}
	}
	tree[0] = Root
	return tree
}

// maskTree returns the second tree of mode paper, along which only masks go up. It is a path from
// worker 1, which is a child of the root in every topology, through all other workers to the root.
// So every sum of masks that goes up this tree includes worker 1's mask. In the first tree, only
// the root receives a sum that includes worker 1's phases.
func maskTree(q int) Tree {
	tree := make(Tree, q)
	for w := range tree {
		tree[w] = (w + 1) % q
	}
	tree[0] = Root
	return tree
}

// children returns the workers that send to worker w, in ascending order.
func (t Tree) children(w int) []int {
	var list []int
	for c, parent := range t {
		if parent == w {
			list = append(list, c)
		}
	}
	return list
}

// subtree returns worker w and all workers whose sums reach worker w.
func (t Tree) subtree(w int) []int {
	list := []int{w}
	for i := 0; i < len(list); i++ {
		list = append(list, t.children(list[i])...)
	}
	return list
}

// validate returns an error unless t is a tree of q workers whose root is worker 0.
func (t Tree) validate(q int) error {
	if len(t) != q || q == 0 || t[0] != Root {
		return fmt.Errorf("fdskl: the tree has %d entries for %d workers; it must have one for each, and worker 0 as its root", len(t), q)
	}
	reached := t.subtree(0)
	for w, parent := range t {
		if parent != Absent && !slices.Contains(reached, w) {
			return fmt.Errorf("fdskl: worker %d does not reach the root of the tree", w)
		}
	}
	return nil
}
