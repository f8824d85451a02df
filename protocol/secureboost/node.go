package secureboost

import (
	"errors"
	"fmt"
)

// node is a node of the tree that may still be split.
type node struct {
	place    int     // number in the tree: 1 for the root, 2k and 2k+1 for the children of node k
	rows     []int32 // ascending indices; training rows have the lowest
	training int     // number of training rows among rows
}

func root(p Params) node {
	n := node{place: 1, rows: make([]int32, p.spec.Rows), training: p.spec.Training}
	for i := range n.rows {
		n.rows[i] = int32(i)
	}
	return n
}

// divide returns the two children of the node. The bits hold a 1 for each row that goes left.
func (n node) divide(bits []byte) (left, right node) {
	left.place, right.place = 2*n.place, 2*n.place+1
	for i, r := range n.rows {
		side := &right
		if bits[i/8]>>(i%8)&1 == 1 {
			side = &left
		}
		side.rows = append(side.rows, r)
		if i < n.training {
			side.training++
		}
	}
	return left, right
}

// bitsOf returns a bitmap of the node's rows. A 1 marks a row that a split at the bin sends left.
func (n node) bitsOf(codes []uint8, bin int) []byte {
	bits := make([]byte, n.bytes())
	for i, r := range n.rows {
		if int(codes[r]) <= bin {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return bits
}

// bytes returns the number of bytes that hold one bit for each row of n.
func (n node) bytes() int { return (len(n.rows) + 7) / 8 }

var errBits = errors.New("bits are set for rows that are not in the node")

// cutBits reads the bits of node n from the start of b and returns the rest of b.
func (n node) cutBits(b []byte) (bits, rest []byte, err error) {
	size := n.bytes()
	if len(b) < size {
		return nil, nil, fmt.Errorf("%d bytes are too few for the bits of %d rows", len(b), len(n.rows))
	}
	if over := len(n.rows) % 8; over > 0 && b[size-1]>>over != 0 {
		return nil, nil, errBits
	}
	return b[:size], b[size:], nil
}

// nodesToSum returns the indices of the nodes of a level whose sums the hosts send. These are the
// root, or in each pair the child with fewer training rows (the left child if both have as many).
func nodesToSum(level []node) []int {
	if len(level) == 1 {
		return []int{0}
	}
	var list []int
	for k := 0; k < len(level); k += 2 {
		least := k
		if level[k].training > level[k+1].training {
			least = k + 1
		}
		list = append(list, least)
	}
	return list
}
