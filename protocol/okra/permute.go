package okra

import (
	"math/bits"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

// layer permutes the coordinates of a row and then multiplies coordinate i by signs[i].
type layer struct {
	order permutation
	signs []int8
}

func newLayer(s *prg.Stream, width int) layer {
	l := layer{permutationOf(s.Perm32(width)), make([]int8, width)}
	s.Signs(l.signs)
	return l
}

// permutation is a fixed permutation of the coordinates of a row. apply permutes x in place;
// scratch is scratch space of the same length.
type permutation interface{ apply(x, scratch []float64) }

// order is a permutation as a list: order[i] is the source of coordinate i.
type order []uint32

func (o order) apply(x, scratch []float64) {
	copy(scratch, x)
	collect(x[:len(o)], scratch, o)
}

// route is a permutation for rows that do not fit in the cache. To pick single values from such a
// row would move a cache line for each value. Therefore a route first sorts each block's values by
// their target blocks, and then moves the values of each target block to their places. All reads
// and writes out of order are within one block.
type route struct {
	block     int        // number of values in a block, at most 2^16
	shipments []shipment // sorted by source block, then by target block
	from      []uint16   // place of each value in its source block; values are in the order of the shipments
	to        []uint16   // place of each value in its target block; values are in the order of the scratch space
	starts    []int      // start of each target block in the scratch space
}

// shipment is the range of the scratch space for the values that move from one source block to one
// target block.
type shipment struct{ at, end int }

const (
	cachedWidth = 1 << 15 // largest number of coordinates in a row that stays in the cache
	maxBlock    = 1 << 16
)

// permutationOf returns the fastest implementation of the permutation o for its length.
func permutationOf(o order) permutation {
	if len(o) <= cachedWidth {
		return o
	}
	return newRoute(o, min(maxBlock, max(1<<12, 1<<bits.Len(uint(len(o)/64)))))
}

func newRoute(o order, block int) *route {
	n := (len(o)-1)/block + 1
	r := &route{block: block, shipments: make([]shipment, n*n), from: make([]uint16, len(o)), to: make([]uint16, len(o)), starts: make([]int, n+1)}
	for i, from := range o {
		r.shipmentFor(int(from), i, n).end++
	}
	at := 0
	for target := range n {
		r.starts[target] = at
		for source := range n {
			s := &r.shipments[source*n+target]
			s.at, s.end, at = at, at, at+s.end
		}
	}
	r.starts[n] = at
	sources := make([]uint16, len(o)) // place of each value in its source block; values are in the order of the scratch space
	for i, from := range o {
		s := r.shipmentFor(int(from), i, n)
		sources[s.end], r.to[s.end] = uint16(int(from)%block), uint16(i%block)
		s.end++
	}
	next := r.from
	for _, s := range r.shipments {
		next = next[copy(next, sources[s.at:s.end]):]
	}
	return r
}

// shipmentFor returns the shipment that moves a coordinate from place source to place target.
func (r *route) shipmentFor(source, target, n int) *shipment {
	return &r.shipments[source/r.block*n+target/r.block]
}

// apply permutes x in place. It works on copies of blocks, so that x and scratch are read and
// written in an order that the processor can predict.
func (r *route) apply(x, scratch []float64) {
	n, next := len(r.starts)-1, r.from
	linalg.Scratch(r.block, func(copied []float64) {
		for source := range n {
			block := copied[:copy(copied, x[source*r.block:])]
			for _, s := range r.shipments[source*n : (source+1)*n] {
				collect(scratch[s.at:s.end], block, next)
				next = next[s.end-s.at:]
			}
		}
		for target := range n {
			start, end := r.starts[target], r.starts[target+1]
			deliver(copied, scratch[start:end], r.to[start:end])
			copy(x[target*r.block:], copied[:end-start])
		}
	})
}

// collect sets each dst[i] to block[places[i]].
func collect[I uint16 | uint32](dst, block []float64, places []I) {
	places = places[:len(dst)]
	for ; len(dst) >= 4; dst, places = dst[4:], places[4:] {
		a, b, c, d := places[0], places[1], places[2], places[3]
		dst[0], dst[1], dst[2], dst[3] = block[a], block[b], block[c], block[d]
	}
	for i, at := range places {
		dst[i] = block[at]
	}
}

// deliver sets each block[places[i]] to src[i].
func deliver[I uint16 | uint32](block, src []float64, places []I) {
	src = src[:len(places)]
	for ; len(places) >= 4; src, places = src[4:], places[4:] {
		a, b, c, d := places[0], places[1], places[2], places[3]
		block[a], block[b], block[c], block[d] = src[0], src[1], src[2], src[3]
	}
	for i, at := range places {
		block[at] = src[i]
	}
}
