package svm

import (
	"container/heap"

	"github.com/mercer-fl/mercer/linalg"
)

// likely appends to taken the rows that are not in the cache and whose
// coefficients violate the optimality conditions most, until there are most:
// these are the ones that soon become part of a working set.
func (s *solver[T]) likely(taken []int, most int) []int {
	skip := taken[0]
	var best violators
	for _, p := range s.parts {
		for t := p.lo; t < p.hi; t++ {
			if t == skip || s.rows.slot[t] >= 0 {
				continue
			}
			if v := s.violation(p, t); v > 0 {
				best.offer(violator{t, v}, most-1)
			}
		}
	}
	for _, v := range best {
		taken = append(taken, v.row)
	}
	return taken
}

// violation returns how far the gradient of t is on the wrong side of the
// other end of the gap.
func (s *solver[T]) violation(p part, t int) float64 {
	v := 0.0
	if s.place[t]&linalg.Grow != 0 {
		v = p.high - s.gradient[t]
	}
	if s.place[t]&linalg.Shrink != 0 {
		v = max(v, s.gradient[t]-p.low)
	}
	return v
}

// violators is a heap, the least on top.
type violators []violator

type violator struct {
	row int
	by  float64
}

// offer keeps the largest.
func (h *violators) offer(v violator, most int) {
	switch {
	case len(*h) < most:
		heap.Push(h, v)
	case most > 0 && v.by > (*h)[0].by:
		(*h)[0] = v
		heap.Fix(h, 0)
	}
}

func (h violators) Len() int           { return len(h) }
func (h violators) Less(a, b int) bool { return h[a].by < h[b].by }
func (h violators) Swap(a, b int)      { h[a], h[b] = h[b], h[a] }
func (h *violators) Push(v any)        { *h = append(*h, v.(violator)) }
func (h *violators) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
