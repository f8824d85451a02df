package okra

import (
	"math"
	"math/bits"

	"github.com/mercer-fl/mercer/internal/prg"
)

// permutation moves the coordinates of x, and changes some signs. The room is
// as long as x and holds anything.
type permutation interface{ apply(x, room []float64) }

// layer is a permutation by its definition: element i is the source of
// coordinate i, with signBit for -1.
type layer []uint32

const (
	signBit    = 1 << 31
	sourceMask = signBit - 1
)

func newLayer(s *prg.Stream, width int) layer {
	l, signs := layer(s.Perm32(width)), make([]int8, width)
	s.Signs(signs)
	for i, sign := range signs {
		if sign < 0 {
			l[i] |= signBit
		}
	}
	return l
}

func (l layer) apply(x, room []float64) {
	copy(room, x)
	for i, s := range l {
		x[i] = flip(room[s&sourceMask], s)
	}
}

func flip(x float64, s uint32) float64 {
	return math.Float64frombits(math.Float64bits(x) ^ uint64(s&signBit)<<32)
}

// route is a layer for rows that do not fit the cache, where picking values one
// by one would move eight times the memory, a line for each. It goes by blocks
// of the row: first each block's values are sorted by the blocks that they go
// to, then each block puts the values that came into their places. All that is
// read or written out of order lies in one block.
type route struct {
	block     int        // values of a block, at most 2^15
	shipments []shipment // by source block, then by target block
	from      []uint16
	to        []uint16
	starts    []int // of each target block in the room
}

// shipment is the values that one block sends to another: their places in the room.
type shipment struct{ at, end int }

// routeSign marks -1 in to.
const routeSign = 1 << 15

// direct is the longest row that stays in the cache.
const direct = 1 << 15

// permutationOf returns the fastest way to do l.
func permutationOf(l layer) permutation {
	if len(l) <= direct {
		return l
	}
	return newRoute(l, min(routeSign, max(1<<12, 1<<bits.Len(uint(len(l)/64)))))
}

func newRoute(l layer, block int) *route {
	n := (len(l)-1)/block + 1
	r := &route{block: block, shipments: make([]shipment, n*n), from: make([]uint16, len(l)), to: make([]uint16, len(l)), starts: make([]int, n+1)}
	for i, s := range l {
		r.shipment(int(s&sourceMask), i, n).end++
	}
	at := 0
	for target := range n {
		r.starts[target] = at
		for source := range n {
			g := &r.shipments[source*n+target]
			g.at, g.end, at = at, at, at+g.end
		}
	}
	r.starts[n] = at
	sources := make([]uint16, len(l)) // by place in the room
	for i, s := range l {
		g := r.shipment(int(s&sourceMask), i, n)
		sources[g.end] = uint16(int(s&sourceMask) % block)
		r.to[g.end] = uint16(i%block) | uint16(s>>31)<<15
		g.end++
	}
	next := r.from
	for _, g := range r.shipments {
		next = next[copy(next, sources[g.at:g.end]):]
	}
	return r
}

// shipment returns that of a coordinate's source and target.
func (r *route) shipment(source, target, n int) *shipment {
	return &r.shipments[source/r.block*n+target/r.block]
}

func (r *route) apply(x, room []float64) {
	n, next := len(r.starts)-1, r.from
	for source := range n {
		block := x[source*r.block : min(len(x), (source+1)*r.block)]
		for _, g := range r.shipments[source*n : (source+1)*n] {
			out := room[g.at:g.end]
			for i, from := range next[:len(out)] {
				out[i] = block[from]
			}
			next = next[len(out):]
		}
	}
	for target := range n {
		block := x[target*r.block : min(len(x), (target+1)*r.block)]
		in := room[r.starts[target]:r.starts[target+1]]
		for i, to := range r.to[r.starts[target]:r.starts[target+1]] {
			block[to&(routeSign-1)] = flip(in[i], uint32(to)<<16)
		}
	}
}
